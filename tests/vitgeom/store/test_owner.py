from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vitgeom.store.owner import Owner


def test_the_label_names_the_process_and_is_read_back() -> None:
    owner = Owner.current()
    assert owner.pid == os.getpid()
    assert Owner.from_label(owner.label) == owner
    assert not owner.is_known_dead()


def test_a_process_that_ended_is_known_dead() -> None:
    child = subprocess.run(
        [sys.executable, "-c", "from vitgeom.store.owner import Owner; print(Owner.current().label)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    owner = Owner.from_label(child.stdout.strip())
    assert owner is not None
    assert owner.machine == Owner.current().machine
    assert owner.is_known_dead()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="start times are read from /proc")
def test_a_reused_process_id_is_not_mistaken_for_the_first_process() -> None:
    assert replace(Owner.current(), started=Owner.current().started + 1).is_known_dead()


def test_another_machine_cannot_be_judged() -> None:
    assert not Owner(machine="0" * 12, pid=2**22 - 1, started=1).is_known_dead()


@pytest.mark.parametrize(
    "label", ["", "abc", "0123456789ab-1", "0123456789ab-x-1", "0123456789AB-1-1", "0123456789ab-1-1-1"]
)
def test_other_texts_are_no_labels(label: str) -> None:
    assert Owner.from_label(label) is None
