"""What an engine knows of a task."""

from __future__ import annotations

import pytest

from tasks.task_spec import Ask, find_task
from tests.support.toy_tasks import TOYS, ToyRequest
from vitgeom.errors import UnknownName


def test_the_ask_follows_the_request() -> None:
    request = ToyRequest(folder="/f", number=1, cpus=2.0, gpus=1.0, memory_bytes=5)
    assert find_task(TOYS, "toy").ask(request) == Ask(cpus=2.0, gpus=1.0, memory=5)


def test_the_whole_catalogue_is_known_by_default() -> None:
    assert find_task(None, "extract_features").name == "extract_features"


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(UnknownName, match=r"unknown task 'extract'. Did you mean 'extract_features'"):
        find_task(None, "extract")
