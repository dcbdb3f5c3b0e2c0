"""Writers of small stores that are killed at random moments, as a program: ``python -m tests.support.killed_writer URI ROWS KILLS SEED``.

It is a program of its own because it forks, which a process with running threads must not. It measures how long an undisturbed writer
takes here, then kills writers within that time until enough of them were at work when it happened; a writer that came to its end is
followed by one of another store. After every kill it checks that what was committed is whole. It prints one JSON line: the stores.
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

from tests.support.feature_stores import WITH_TOKENS, fill, make_store
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
        store = make_store(uri, splits=splits_of(rows), **WITH_TOKENS)
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
    """Kill, check, repeat; then write every store to its end and report."""
    chance = random.Random(seed)
    started = time.monotonic()
    assert wait(in_child("write", f"{uri}-undisturbed", rows)) == 0
    duration = time.monotonic() - started
    hit, stores = 0, [f"{uri}-0"]
    while hit < kills:
        assert len(stores) <= 10 * kills, f"{hit} of {len(stores) * 2} kills hit a writer at work"
        writer = in_child("write", stores[-1], rows)
        time.sleep(chance.uniform(0.1, 0.9) * duration)
        os.kill(writer, signal.SIGKILL)
        status = wait(writer)
        assert status in (0, -signal.SIGKILL), f"the writer ended with {status} before it was killed"
        verified = wait(in_child("verify", stores[-1], rows))
        assert verified == 0, f"verification after a kill ended with {verified}"
        if status == 0:
            stores.append(f"{uri}-{len(stores)}")
        else:
            hit += 1
    for store in stores:
        assert wait(in_child("write", store, rows)) == 0
    print(json.dumps(stores), flush=True)


def run(uri: str, *, rows: int, kills: int, seed: int, environment: dict[str, str]) -> list[str]:
    """Run the program until so many writers at work were killed, and return the addresses of their stores."""
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
    return [str(store) for store in json.loads(done.stdout)]


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
