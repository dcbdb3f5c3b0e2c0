"""Peak memory of an extraction: does it depend on the number of images?

2,000 and 50,000 noise images of 32 x 32 pixels go through a Vision Transformer with two blocks of width 48 in fresh processes, serially,
one thread. Measured is the largest resident set of each process, everything included; the ratio is of the medians.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.rows import Row, table

BAR = 1.1
FEW, MANY = 2_000, 50_000
RUNS = 3


def extract_noise(count: int, store: Path) -> int:
    """Extract ``count`` images in this process and return its peak in bytes."""
    from tasks.engine import SerialEngine
    from tasks.extract_dataset import extract
    from tasks.footprint import peak_bytes
    from tasks.request import ExtractSettings
    from vitgeom.backbones import BackboneRef, embedded
    from vitgeom.data import DatasetRef

    # The package's smallest architecture, cut down further: what is measured is the traffic of images, not the model.
    embedded.ARCHITECTURES["nano_supervised"].update({"img_size": 32, "embed_dim": 48, "depth": 2})
    sealed = extract(
        DatasetRef.from_options("noise", n=count, size=32),
        BackboneRef.from_options("nano_supervised", pretrained=False, image_size=32),
        store=str(store),
        settings=ExtractSettings(batch_size=64, rows_per_range=256),
        engine=SerialEngine(),
    )
    assert sealed.rows == count, f"{sealed.rows} of {count} images were extracted"
    return peak_bytes()


def peak_of_a_fresh_process(count: int) -> int:
    """Return the peak in bytes of a process that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                __name__ if __name__ != "__main__" else "tests.benchmarks.bench_extraction_memory",
                str(count),
                folder,
            ],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return int(done.stdout.split()[-1])


def measure() -> list[Row]:
    """Return the one row of this benchmark."""
    few = [peak_of_a_fresh_process(FEW) for _ in range(RUNS)]
    many = [peak_of_a_fresh_process(MANY) for _ in range(RUNS)]
    ratio = statistics.median(many) / statistics.median(few)
    return [
        Row(
            name=f"peak memory of extraction, {MANY:,} images against {FEW:,}",
            bar=f"<= {BAR}",
            peer=f"{statistics.median(few) / 2**20:.0f} MiB ({FEW:,})",
            ours=f"{statistics.median(many) / 2**20:.0f} MiB ({MANY:,})",
            ratio=ratio,
            passed=ratio <= BAR,
            runs=RUNS,
            note=f"serial, batches of 64, ranges of 256; {min(many) / 2**20:.0f}-{max(many) / 2**20:.0f} MiB over runs",
        )
    ]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(extract_noise(int(sys.argv[1]), Path(sys.argv[2])))
    else:
        print(table(measure()))
