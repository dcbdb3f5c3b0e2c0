"""The whole study as a person runs it: first run, second run, ``dvc repro`` with nothing to do, and what the machinery costs.

Everything happens in a clone of the committed tree in a temporary folder, with the interpreter that runs this file. The last part gives the
same work to the bare steps on the serial engine and to Ray, MLflow and Prefect on top, so that the differences are what these cost.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.rows import Row

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
REPEATS = 3


def clone(folder: Path) -> Path:
    """Return a fresh checkout of what is committed."""
    target = folder / "checkout"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(target)], check=True)
    return target


def timed(command: list[str], *, cwd: Path, **environment: str) -> tuple[float, str]:
    """Run ``command`` to its end; return wall seconds and what it printed."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(cwd),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        **environment,
    }
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=cwd,
        env=variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    seconds = time.perf_counter() - start
    print(f"{seconds:.1f} s: {' '.join(command)}", file=sys.stderr, flush=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return seconds, done.stdout


def vitgeom(*arguments: str) -> list[str]:
    """Return the command line of the installed entry point, run from the clone."""
    return [sys.executable, "-m", "flows.cli", *arguments]


def run_times(cwd: Path) -> list[Row]:
    """First and repeated ``vitgeom benchmark``, then ``dvc repro`` after one that filled the outs."""
    first, _ = timed(vitgeom("benchmark", "--profile", "embedded"), cwd=cwd)
    again = [timed(vitgeom("benchmark", "--profile", "embedded"), cwd=cwd)[0] for _ in range(REPEATS)]
    reproduce, _ = timed([sys.executable, "-m", "dvc", "repro"], cwd=cwd)
    idle = [timed([sys.executable, "-m", "dvc", "repro"], cwd=cwd) for _ in range(REPEATS)]
    if not all("up to date" in text for _, text in idle):
        raise RuntimeError(f"dvc found work where there was none:\n{idle[-1][1]}")
    spare = [seconds for seconds, _ in idle]
    return [
        Row("`make benchmark`, first run after installation", "<= 300 s", "", f"{first:.0f} s", first, first <= 300, 1),
        Row("`make benchmark`, second run", "<= 20 s", "", f"{median(again):.1f} s", median(again), median(again) <= 20, REPEATS),
        Row(
            "`dvc repro`, nothing to do", "<= 10 s", "", f"{median(spare):.1f} s", median(spare), median(spare) <= 10, REPEATS,
            f"the first `dvc repro` after `make benchmark` took {reproduce:.0f} s and extracted nothing",
        ),
    ]  # fmt: skip


BARE = """
from flows.extract import extract
from flows.fuse import fuse
from flows.horizontal import horizontal
from flows.probe import probe
from flows.report import report
from flows.study import Study
study = Study(profile="embedded", datasets=[{{"name": "digits"}}], store={store!r}, out={out!r}, overrides=["engine.kind={engine}"])
for step in (extract, probe, fuse, horizontal, report):
    step.fn(study)
"""


def overhead(cwd: Path, scratch: Path) -> list[Row]:
    """Digits under both backbones, an empty store each time: the steps as plain calls, then with Ray, MLflow and Prefect on top."""
    digits = ["benchmark", "--profile", "embedded", "--dataset", "digits"]
    seconds = {}
    for label in ("serial", "Ray", "Ray + MLflow", "Ray + MLflow + Prefect (temporary server)"):
        place = scratch / f"overhead-{len(seconds)}"
        (place / "prefect").mkdir(parents=True)
        store, out = str(place / "store"), str(place / "out")
        bare = BARE.format(store=store, out=out, engine=label.lower())
        orchestrator = "prefect" if "Prefect" in label else "plain"
        command = [*digits, "--store", store, "--out", out, "--orchestrator", orchestrator]
        seconds[label], _ = timed(
            vitgeom(*command) if "MLflow" in label else [sys.executable, "-c", bare],
            cwd=cwd,
            MLFLOW_TRACKING_URI=f"sqlite:///{place}.db",
            PREFECT_HOME=str(place / "prefect"),
        )
    base = seconds.pop("serial")
    return [
        Row(
            f"digits under two backbones, empty store: {label}", "reported", f"{base:.0f} s (serial, one thread, no tracker)",
            f"{value:.0f} s", value / base, True, 1,
            "start-up of every part included" + (", Ray twice: once for each step" if label == "Ray" else ""),
        )
        for label, value in seconds.items()
    ]  # fmt: skip


STARTERS = {
    "a private Ray": "from tasks.cluster.connect import Connection\nConnection(address='local', num_cpus=None)",
    "a temporary Prefect server and one empty flow": (
        "import flows\nfrom prefect import flow\n@flow\ndef nothing():\n    return 0\nnothing()"
    ),
}


def start_up(cwd: Path) -> list[Row]:
    """What Ray and a temporary Prefect server cost before any work is done, imports included."""
    rows = []
    for label, code in STARTERS.items():
        program = f"import time\nt = time.perf_counter()\n{code}\nprint('seconds', time.perf_counter() - t, flush=True)"
        found = [
            re.search(r"seconds ([\d.]+)", timed([sys.executable, "-c", program], cwd=cwd)[1])
            for _ in range(REPEATS)
        ]
        value = median(float(match[1]) for match in found if match)
        rows.append(
            Row(
                f"start-up alone: {label}",
                "reported",
                "",
                f"{value:.1f} s",
                value,
                True,
                REPEATS,
                "imports included",
            )
        )
    return rows


def measure() -> list[Row]:
    """Run everything in one temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cwd = clone(folder)
        return [*start_up(cwd), *overhead(cwd, folder), *run_times(cwd)]


if __name__ == "__main__":
    from tests.benchmarks.rows import table

    print(table(measure()))
