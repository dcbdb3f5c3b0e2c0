"""A driver process of a sweep: ``python -m tests.support.sweep_driver REQUEST_FILE serial|ray``; prints ``ready``, then the receipt as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from tasks.engine import open_engine
from tasks.sweep_engine import trials_on
from tasks.sweep_fusion import run
from tasks.sweep_request import SweepRequest


def main(request_file: str, kind: str) -> None:
    request = SweepRequest.model_validate_json(Path(request_file).read_text())
    options = {"num_cpus": 2} if kind == "ray" else {}
    with open_engine(kind, **options) as engine:  # type: ignore[arg-type]
        print("ready", flush=True)
        print(run(request, trials_on(engine)).model_dump_json(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
