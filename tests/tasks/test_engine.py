"""The serial engine against the contract, and the choice of engines."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from tasks.engine import SerialEngine, open_engine
from tasks.failure import RetryPolicy
from tests.contracts.executor import EngineContract, toys
from tests.support.toy_tasks import TOYS
from vitgeom.errors import InvalidInput, UnknownName


class TestSerialEngine(EngineContract):
    @pytest.fixture
    def engine(self) -> SerialEngine:
        return SerialEngine(catalogue=TOYS, policy=RetryPolicy(retries=2, first_pause=0.001))


def test_serial_is_opened_and_closed(tmp_path: Path) -> None:
    with open_engine("serial", catalogue=TOYS) as engine:
        assert [receipt.digest for receipt in engine.map("toy", toys(tmp_path, 2))] == ["0", "1"]


def test_ray_is_not_started_without_work() -> None:
    with open_engine("ray", catalogue=TOYS) as engine:
        assert engine.map("toy", []) == []
    assert "ray" not in sys.modules or not sys.modules["ray"].is_initialized()


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown engine 'rey'. Did you mean 'ray'"), open_engine("rey"):  # type: ignore[arg-type]
        pass


def test_negative_retries_are_refused() -> None:
    with pytest.raises(InvalidInput, match="retries must be >= 0, got -1"), open_engine("serial", retries=-1):
        pass


def test_sigterm_inside_the_block_becomes_an_exception() -> None:
    with pytest.raises(SystemExit) as caught, open_engine("serial", catalogue=TOYS):
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_every_option_of_the_flows_reaches_the_ray_engine_and_nothing_starts() -> None:
    lines: list[str] = []
    with open_engine(
        "ray", address="local", num_cpus=1, max_in_flight=2, retries=1, say=lines.append
    ) as engine:
        assert type(engine).__name__ == "RayEngine"
    assert lines == [], "without work there is no Ray to start"
