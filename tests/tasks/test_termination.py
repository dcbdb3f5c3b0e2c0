"""SIGTERM as an exception, only where nobody else wants it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from tasks.termination import sigterm_raises
from tests.support.checkout import ROOT


def test_sigterm_runs_the_cleanup() -> None:
    cleaned = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            cleaned.append(True)

    with pytest.raises(SystemExit, match="143"), sigterm_raises():
        work()
    assert cleaned == [True]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_others_is_left_alone() -> None:
    seen = []
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with sigterm_raises():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert seen == [signal.SIGTERM]


def test_nothing_is_set_outside_the_main_thread() -> None:
    found = []

    def look() -> None:
        with sigterm_raises():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]


NATIVE = """
import ctypes, os, signal, sys
sys.path.insert(0, sys.argv[1])
from tasks.termination import take_sigterm_back

signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
callback = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: os._exit(9))
ctypes.CDLL(None).signal(int(signal.SIGTERM), callback)
if sys.argv[2] == "back":
    take_sigterm_back()
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize(("what", "code"), [("leave", 9), ("back", 7)])
def test_a_native_handler_is_put_behind_pythons(what: str, code: int) -> None:
    command = [sys.executable, "-c", NATIVE, str(ROOT), what]
    assert subprocess.run(command, check=False).returncode == code
