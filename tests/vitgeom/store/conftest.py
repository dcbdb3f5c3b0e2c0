"""An empty place of each kind."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from tests.support.s3_server import S3Server, s3_environment, s3_server
from vitgeom.store.uri import Root

__all__ = ["s3_environment", "s3_server"]


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing matters when the power fails, which no test here does; one test checks that it is asked for."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def local_root(tmp_path: Path) -> Root:
    """A folder whose name holds what paths may hold."""
    return Root(tmp_path / "a store with ä, # and %")


@pytest.fixture
def memory_root() -> Iterator[Root]:
    """A prefix in memory, emptied afterwards."""
    name = uuid.uuid4().hex
    yield Root(f"memory://{name}/prefix")
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def s3_root(s3_environment: S3Server) -> Root:
    """A prefix in a fresh bucket of the real S3 server."""
    return Root(f"{s3_environment.bucket(f'bucket-{uuid.uuid4().hex[:12]}')}/some/prefix")
