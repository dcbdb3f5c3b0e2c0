"""Run every benchmark in a process of its own and write the table into README.md.

``python -m tests.benchmarks [name ...]`` runs all ``bench_*.py`` or the named ones. The rows of the others are kept from their last run on this
machine (``results.json``); a line below the table names those that did not run here yet.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.rows import Row, table

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
README = FOLDER.parents[1] / "README.md"
START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def names() -> list[str]:
    """Return the benchmark modules beside this file, without their prefix."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def run(name: str) -> list[Row]:
    """Measure one benchmark in a fresh interpreter."""
    code = (
        f"import json, dataclasses; from tests.benchmarks import bench_{name} as b; rows = b.measure(); "
        "print('\\n@rows' + json.dumps([dataclasses.asdict(r) for r in rows]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=README.parent, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"benchmark {name} failed with exit code {done.returncode}:\n{done.stdout}")
    payload = done.stdout.rsplit("@rows", 1)[1]
    return [Row(**row) for row in json.loads(payload)]


def conditions() -> str:
    """Say in one line what machine the figures come from."""
    import torch

    return f"{os.cpu_count()} CPU cores ({platform.machine()}), Python {platform.python_version()}, torch {torch.__version__.split('+')[0]}."


def rewrite(rows: list[Row], *, missing: list[str]) -> None:
    """Replace what stands between the markers in README.md."""
    text = README.read_text()
    if START not in text or END not in text:
        raise SystemExit(f"README.md has no {START} ... {END} block to write the table into")
    head, rest = text.split(START, 1)
    _, tail = rest.split(END, 1)
    left_out = f"\n\nNot measured on this machine yet: {', '.join(missing)}." if missing else ""
    README.write_text(f"{head}{START}\n{conditions()}\n\n{table(rows)}{left_out}\n{END}{tail}")


def main(chosen: list[str]) -> None:
    """Run the chosen benchmarks, print their tables and put the whole one into README.md."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in chosen or names():
        print(f"measuring {name} ...", flush=True)
        rows = run(name)
        known[name] = [asdict(row) for row in rows]
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")
        print(table(rows), flush=True)
    rewrite(
        [Row(**row) for name in names() for row in known.get(name, [])],
        missing=[name for name in names() if name not in known],
    )


if __name__ == "__main__":
    main(sys.argv[1:])
