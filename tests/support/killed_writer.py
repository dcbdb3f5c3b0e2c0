"""Writers of a small store that are killed at random moments, as a program: ``python -m tests.support.killed_writer URI ROWS KILLS SEED``.

It is a program of its own because it forks, which a process with running threads must not. After every kill it checks that what was
committed is whole, and prints one JSON line: how many kills hit a writer at work.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.feature_stores import fill, make_store
from vitgeom.store.features import open_features
from vitgeom.store.integrity import verify


def splits_of(rows: int) -> dict[str, int]:
    """Splits with that many rows in the larger one."""
    return {"train": rows, "val": 3}


def in_child(action: str, uri: str, rows: int) -> int:
    """Fork; the child creates the store and writes, or verifies; its pid is returned."""
    pid = os.fork()
    if pid:
        return pid
    try:
        store = make_store(uri, splits=splits_of(rows))
        if action == "verify":
            os._exit(0 if verify(open_features(uri, store.address_path)) == [] else 3)
        fill(store)
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(4)


def wait(pid: int) -> int:
    """Exit status of a child; negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(uri: str, rows: int, kills: int, seed: int) -> None:
    """Kill, check, repeat; then write to the end and report."""
    chance = random.Random(seed)
    hit = 0
    for _ in range(kills):
        writer = in_child("write", uri, rows)
        time.sleep(chance.uniform(0.05, 0.4))
        os.kill(writer, signal.SIGKILL)
        hit += wait(writer) == -signal.SIGKILL
        status = wait(in_child("verify", uri, rows))
        assert status == 0, f"verification after a kill ended with {status}"
    assert wait(in_child("write", uri, rows)) == 0
    print(json.dumps({"hit": hit}), flush=True)


def run(uri: str, *, rows: int, kills: int, seed: int, environment: dict[str, str]) -> int:
    """Run the program and return how many kills hit a writer at work."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_writer", uri, str(rows), str(kills), str(seed)],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return int(json.loads(done.stdout)["hit"])


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
