"""Peak memory of fitting probes: does it depend on the number of rows?

2,000 and 200,000 training rows of [12, 384], 10 classes, come from a function that makes them block by block, so that they never exist
as a whole; each is fitted in a fresh process, two threads, at the same byte budget. Measured is the largest resident set of each
process, everything included.
"""

from __future__ import annotations

from tests.benchmarks.made_rows import MadeRows, command, memory_row
from tests.benchmarks.rows import Row

STRENGTHS = (1e-2,)


def fit(train: MadeRows, val: MadeRows) -> None:
    """Fit the probes of all layers."""
    from vitgeom.probes import fit_probes

    probes = fit_probes(train, train.labels(), X_val=val, y_val=val.labels(), l2=STRENGTHS)
    assert bool(probes.converged.all()), f"relative gradient norms {probes.grad_norm.tolist()}"


def measure() -> list[Row]:
    """Return the one row of this benchmark; it takes some minutes."""
    module = "tests.benchmarks.bench_fitting_memory"
    return [memory_row(module, what="probes", how=f"{len(STRENGTHS)} strength")]


if __name__ == "__main__":
    command(fit, measure)
