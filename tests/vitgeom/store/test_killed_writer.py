"""Writers that die in the middle of their work leave a store that the next one finishes, byte for byte."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.support import killed_writer
from tests.support.feature_stores import WITH_TOKENS, fill, make_store, snapshot
from tests.support.s3_server import S3Server
from vitgeom.store.integrity import verify


def _finished(root: Path | str, *, rows: int) -> dict[str, bytes]:
    store = make_store(str(root), splits=killed_writer.splits_of(rows), **WITH_TOKENS)
    fill(store)
    store.seal()
    assert verify(store) == []
    return snapshot(store.root)


def test_ten_kills_on_a_disk_change_no_byte(tmp_path: Path) -> None:
    expected = _finished(tmp_path / "expected", rows=38)
    for killed in killed_writer.run(str(tmp_path / "killed"), rows=38, kills=10, seed=1, environment={}):
        assert _finished(killed, rows=38) == expected


@pytest.mark.services
def test_three_kills_on_s3_change_no_byte(s3_environment: S3Server, tmp_path: Path) -> None:
    expected = _finished(tmp_path / "expected", rows=14)
    address = s3_environment.bucket(f"killed-{uuid.uuid4().hex[:8]}") + "/x"
    environment = s3_environment.environment()
    for killed in killed_writer.run(address, rows=14, kills=3, seed=2, environment=environment):
        assert _finished(killed, rows=14) == expected
