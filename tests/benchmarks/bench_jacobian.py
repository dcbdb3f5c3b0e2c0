"""Products with the Jacobian of twelve Transformer blocks, in forward passes of the same blocks: automatic and written out.

Blocks of width 384 on 257 tokens (ViT-S/14 at 224 pixels, random weights), float32, eight columns at once, one thread, CPU time. The peer is one
forward pass of timm's blocks with fused attention, without derivatives; it and the product are measured in turn, order swapped every
round, and the ratio is the median over rounds of (product / columns) / forward pass.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from tests.benchmarks.rows import Row, table
from vitgeom.backbones import Backbone, load_backbone
from vitgeom.linop import BlocksJacobian, JacobianOperator, LinearOperator
from vitgeom.linop.live_bytes import LiveBytes

COLUMNS, ROUNDS = 8, 11
BARS = {
    ("automatic", "J v"): 2.4,
    ("automatic", "J^T u"): 1.5,
    ("written out", "J v"): 1.35,
    ("written out", "J^T u"): 1.3,
}


def clock(call: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def in_turn(peer: Callable[[], object], ours: Callable[[], object], rounds: int) -> list[tuple[float, float]]:
    """Measure both calls in every round, each first in half of them; a first round warms up and is dropped."""
    pairs = []
    for index in range(rounds + 1):
        if index % 2:
            theirs = clock(peer)
            pairs.append((theirs, clock(ours)))
        else:
            mine = clock(ours)
            pairs.append((clock(peer), mine))
    return pairs[1:]


def time_row(
    name: tuple[str, str],
    forward: Callable[[], object],
    product: Callable[[torch.Tensor], object],
    length: int,
) -> Row:
    """Measure one kind of product against the forward pass."""
    columns = torch.randn(length, COLUMNS, generator=torch.Generator().manual_seed(1))
    pairs = in_turn(forward, lambda: product(columns), ROUNDS)
    ratios = sorted(mine / COLUMNS / theirs for theirs, mine in pairs)
    ratio = statistics.median(ratios)
    spread = f"quartiles {ratios[len(ratios) // 4]:.2f}-{ratios[3 * len(ratios) // 4]:.2f}"
    return Row(
        name=f"{name[1]}, 12 blocks x 384, 257 tokens, {name[0]}",
        bar=f"<= {BARS[name]}",
        peer=f"{1e3 * statistics.median(theirs for theirs, _ in pairs):.0f} ms (forward pass)",
        ours=f"{1e3 * statistics.median(mine for _, mine in pairs) / COLUMNS:.0f} ms/product",
        ratio=ratio,
        passed=ratio <= BARS[name],
        runs=ROUNDS,
        note=f"CPU time, 1 thread, {COLUMNS} columns, in turn, {spread}",
    )


def peak_of(operator: LinearOperator) -> int:
    """Return the most bytes that one block of columns through J and back holds, its result left out."""
    rows, columns = operator.shape
    peaks = []
    for product, length, result in ((operator.matmat, columns, rows), (operator.rmatmat, rows, columns)):
        meter = LiveBytes()
        with meter:
            product(torch.ones(length, COLUMNS))
        peaks.append(meter.peak - 4 * (length + result) * COLUMNS)
    return max(peaks)


def memory_row(backbone: Backbone, features: torch.Tensor) -> Row:
    """Compare the memory of few outputs with that of many."""
    few, many = (
        peak_of(BlocksJacobian(backbone, features, start=0, readout=readout, check=False))
        for readout in ("patch_mean", "tokens")
    )
    return Row(
        name=f"memory of {COLUMNS} columns, written out, 98,688 outputs against 384",
        bar="<= 1.1",
        peer=f"{few / 2**20:.0f} MiB (384 outputs)",
        ours=f"{many / 2**20:.0f} MiB (98,688 outputs)",
        ratio=many / few,
        passed=many / few <= 1.1,
        runs=1,
        note="tensors alive at once beside operand and result, counted, not timed",
    )


def measure() -> list[Row]:
    """Measure both kinds of products, automatic and written out."""
    torch.set_num_threads(1)
    backbone = load_backbone("vit_small_patch14_dinov2", image_size=224, pretrained=False)
    features = torch.randn(257, 384, generator=torch.Generator().manual_seed(0))
    blocks = torch.nn.Sequential(*backbone.model.blocks)

    def forward() -> object:
        with torch.no_grad():
            return blocks(features[None])

    rows = []
    for name, operator in (
        ("automatic", JacobianOperator(lambda f: blocks(f[None]), features)),
        ("written out", BlocksJacobian(backbone, features, start=0, finish=False)),
    ):
        rows.append(time_row((name, "J v"), forward, operator.matmat, operator.shape[1]))
        rows.append(time_row((name, "J^T u"), forward, operator.rmatmat, operator.shape[0]))
    return [*rows, memory_row(backbone, features)]


if __name__ == "__main__":
    print(table(measure()))
