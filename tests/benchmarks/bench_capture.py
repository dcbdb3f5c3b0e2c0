"""One-pass capture of all layers against the bare forward pass of timm: time and peak memory.

Time: the same batch, one thread, the two calls in turn (order swapped every round); the ratio is the median over rounds of
ours / timm. Memory: each call in fresh processes; growth of the resident set's high-water mark over the moment before the call,
with model, batch and kernels already loaded; the ratio is of the medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from tests.benchmarks.rows import Row, table
from vitgeom.backbones import Backbone, load_backbone

TIME_BAR, MEMORY_BAR = 1.03, 1.10
FILE = "dinov2_vits14_518.fp16.safetensors"
CASES = {"nano_selfsup": (64, 64, 101), "dinov2_vits14": (8, 224, 31)}  # batch, pixels of a side, rounds
MEMORY_RUNS = 3


def weights_folder() -> Path | None:
    """Return the folder with real weights, if VITGEOM_WEIGHTS names one."""
    folder = Path(os.environ.get("VITGEOM_WEIGHTS", ""))
    return folder if (folder / FILE).is_file() else None


def open_case(name: str) -> tuple[Backbone, torch.Tensor]:
    """Return the backbone and the batch of a case."""
    batch, side, _ = CASES[name]
    if name == "dinov2_vits14":
        folder = weights_folder()
        assert folder is not None
        backbone = load_backbone(folder / FILE, architecture="vit_small_patch14_dinov2", image_size=side)
    else:
        backbone = load_backbone(name, image_size=side)
    return backbone, torch.randn(batch, 3, side, side, generator=torch.Generator().manual_seed(0))


def calls(backbone: Backbone, images: torch.Tensor) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return the peer's call and ours."""

    def bare() -> object:
        with torch.no_grad():
            return backbone.model.forward_features(images)

    return bare, lambda: backbone.capture(images)


def clock(call: Callable[[], object]) -> float:
    """Return the CPU seconds of one call (one thread: equal to wall time on a quiet machine, and robust on a busy one)."""
    start = time.process_time()
    call()
    return time.process_time() - start


def time_row(name: str) -> Row:
    """Measure the two calls in turn."""
    backbone, images = open_case(name)
    peer, ours = calls(backbone, images)
    rounds = CASES[name][2]
    pairs = []
    for index in range(rounds + 1):
        if index % 2:
            theirs = clock(peer)
            mine = clock(ours)
        else:
            mine = clock(ours)
            theirs = clock(peer)
        pairs.append((theirs, mine))
    pairs = pairs[1:]  # the first round warms up
    ratios = sorted(mine / theirs for theirs, mine in pairs)
    ratio = statistics.median(ratios)
    count = len(images)
    spread = f"quartiles {ratios[len(ratios) // 4]:.3f}-{ratios[3 * len(ratios) // 4]:.3f}"
    return Row(
        name=f"capture of all layers, time, {name}, batch {count}",
        bar=f"<= {TIME_BAR}",
        peer=f"{1e3 * statistics.median(theirs for theirs, _ in pairs) / count:.2f} ms/image (timm forward_features)",
        ours=f"{1e3 * statistics.median(mine for _, mine in pairs) / count:.2f} ms/image",
        ratio=ratio,
        passed=ratio <= TIME_BAR,
        runs=rounds,
        note=f"CPU time, 1 thread, calls in turn, {spread}",
    )


def resident(field: str) -> int:
    """Return a figure of /proc/self/status in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def reset_peak() -> None:
    """Start the high-water mark of this process anew."""
    Path("/proc/self/clear_refs").write_text("5")


def growth(name: str, which: str) -> int:
    """Return by how many bytes one call raises the high-water mark; to be run in a process of its own."""
    torch.set_num_threads(1)
    backbone, images = open_case(name)
    peer, _ = calls(backbone, images[:1])
    peer()  # kernels and their workspaces are loaded before the mark is reset
    call = calls(backbone, images)[which == "ours"]
    reset_peak()
    before = resident("VmRSS")
    kept = call()
    peak = resident("VmHWM") - before
    del kept
    return peak


def growth_in_process(name: str, which: str) -> int:
    """Run ``growth`` in a fresh interpreter whose allocator returns large blocks at once."""
    code = f"from tests.benchmarks.bench_capture import growth; print('@', growth({name!r}, {which!r}))"
    environment = {
        **os.environ,
        "MALLOC_MMAP_THRESHOLD_": "65536",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return int(done.stdout.rsplit("@", 1)[1])


def memory_row(name: str) -> Row:
    """Measure the growth of either call in fresh processes."""
    theirs, mine = (
        statistics.median(growth_in_process(name, which) for _ in range(MEMORY_RUNS))
        for which in ("peer", "ours")
    )
    ratio = mine / theirs
    return Row(
        name=f"capture of all layers, peak memory, {name}, batch {CASES[name][0]}",
        bar=f"<= {MEMORY_BAR:.2f}",
        peer=f"{theirs / 2**20:.1f} MiB over the model (timm forward_features)",
        ours=f"{mine / 2**20:.1f} MiB",
        ratio=ratio,
        passed=ratio <= MEMORY_BAR,
        runs=MEMORY_RUNS,
        note="growth of the peak resident set in fresh processes, 1 thread",
    )


def measure() -> list[Row]:
    """Measure the embedded backbone, and the real one if VITGEOM_WEIGHTS names its folder."""
    torch.set_num_threads(1)
    names = [name for name in CASES if name != "dinov2_vits14" or weights_folder() is not None]
    return [row(name) for name in names for row in (time_row, memory_row)]


if __name__ == "__main__":
    print(table(measure()))
