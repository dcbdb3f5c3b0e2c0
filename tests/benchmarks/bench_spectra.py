"""The default recipe against the reference recipe at equal cost, on planted spectra, and what the usual partial decompositions make of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, svds
from scipy.sparse.linalg import LinearOperator as ScipyOperator
from torch import Tensor

from tests.benchmarks.rows import Row
from tests.support.planted_spectra import PlantedOperator, planted_spectra
from vitgeom.randnla import frobenius_squared, power_iteration, sphere
from vitgeom.spectra.krylov_recipe import krylov_sketch

ORDER, RANK, BUDGET, SHORT, DRAWS, PEER_DRAWS = 8000, 20, 200, 110, 20, 5
WORTH = 0.005
"""Below half a percent the reference is good enough; there the bar is only to be no worse."""
ROUNDING = 1e-7


@dataclass(frozen=True)
class Errors:
    """Root mean square over draws.

    Attributes:
        kappa: Relative error of kappa_cap(20).
        lost: Share of the top-20 energy that the 20 vectors miss.
    """

    kappa: float
    lost: float

    def __str__(self) -> str:
        """Both, as percentages."""
        return f"{100 * self.kappa:.2g} % / {100 * self.lost:.2g} %"


Method = Callable[[Tensor, torch.Generator], tuple[float, Tensor]]


def errors(squared: Tensor, method: Method, *, draws: int = DRAWS, rank: int = RANK) -> Errors:
    """Run a method that returns kappa_cap and right vectors, with fixed seeds."""
    top, total = float(squared[:rank].sum()), float(squared.sum())
    kappa, lost = [], []
    for draw in range(draws):
        said, right = method(squared, torch.Generator().manual_seed(draw))
        kappa.append(said / (top / total) - 1)
        lost.append(1 - float((squared[:, None] * right**2).sum()) / top)
    return Errors(
        *(float(torch.tensor(part, dtype=torch.float64).pow(2).mean().sqrt()) for part in (kappa, lost))
    )


def reference(squared: Tensor, generator: torch.Generator) -> tuple[float, Tensor]:
    """100 probes and a power iteration of 100 products, unclipped. On a diagonal operator signs would be exact, so probes are uniform on the
    sphere: the variance that signs have on uniformly rotated singular vectors."""
    operator = PlantedOperator(squared)
    power = power_iteration(operator, rank=RANK, steps=2, generator=generator)
    norm = frobenius_squared(operator, num_probes=100, draw=sphere, generator=generator)
    return float((power.lengths**2).sum()) / norm.value, power.right_NR


def krylov(budget: int) -> Method:
    """The default recipe at a budget."""

    def method(squared: Tensor, generator: torch.Generator) -> tuple[float, Tensor]:
        found = krylov_sketch(
            PlantedOperator(squared), rank=RANK, budget=budget, num_tokens=1, generator=generator
        )
        assert found.products.total <= budget
        return float((found.sigma_R**2).sum()) / found.norm.value, found.right_NR

    return method


def svd_lowrank(squared: Tensor, generator: torch.Generator) -> tuple[float, Tensor]:
    """torch's subspace iteration: 6 q products at q = 30, niter = 2; it has no estimate of the norm, so it is given the true one."""
    torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))
    index = torch.arange(len(squared)).expand(2, -1)
    matrix = torch.sparse_coo_tensor(index, squared.sqrt(), check_invariants=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, sigma, right = torch.svd_lowrank(matrix, q=30, niter=2)
    return float((sigma[:RANK] ** 2).sum() / squared.sum()), right[:, :RANK]


def arpack(squared: Tensor, *, seed: int, tolerance: float) -> tuple[float, int]:
    """Energy that scipy's svds loses, and the single products it took."""
    sigma, count = squared.sqrt().numpy(), [0]

    def product(v: np.ndarray) -> np.ndarray:
        count[0] += 1 if v.ndim == 1 else v.shape[1]
        return sigma * v if v.ndim == 1 else sigma[:, None] * v

    operator = ScipyOperator(
        (len(sigma), len(sigma)),
        matvec=product,
        rmatvec=product,
        matmat=product,
        rmatmat=product,
        dtype=np.float64,
    )
    start = np.random.default_rng(seed).standard_normal(len(sigma))
    try:
        _, _, right = svds(operator, k=RANK, v0=start, tol=tolerance, maxiter=50)
    except ArpackNoConvergence as stopped:
        return 1.0 - len(stopped.eigenvalues) / RANK, count[0]
    energy = float((sigma[None] ** 2 * right**2).sum())
    return 1 - energy / float(squared[:RANK].sum()), count[0]


def gain(theirs: Errors, ours: Errors) -> tuple[float, bool]:
    """Return the smaller of the ratios that the bar is about, and whether it is met: 10x where the reference is off by more than 0.5 %, no worse elsewhere."""
    ratios, met = [], True
    for there, here in ((theirs.kappa, ours.kappa), (theirs.lost, ours.lost)):
        if max(there, here) <= ROUNDING:
            continue
        ratio = there / max(here, 1e-15)
        met &= ratio >= (10 if there > WORTH else 1)
        ratios.append(ratio)
    return min(ratios, default=1.0), met


def measure() -> list[Row]:
    """Return the rows of the benchmark table; about ten minutes."""
    rows = []
    spectra = planted_spectra(ORDER)
    for name, squared in spectra.items():
        theirs = errors(squared, reference)
        for budget in (BUDGET, SHORT):
            ours = errors(squared, krylov(budget))
            ratio, met = gain(theirs, ours)
            equal = budget == BUDGET
            rows.append(
                Row(
                    name=f"kappa_cap({RANK}) / energy lost by the top {RANK}, sigma² = {name}, {budget} products",
                    bar=">= 10x where > 0.5 %, never < 1x" if equal else ">= 1x of 200",
                    peer=f"{theirs} (reference, 200)",
                    ours=str(ours),
                    ratio=ratio,
                    passed=met if equal else ratio >= 1,
                    runs=DRAWS,
                    note=f"n = {ORDER}; root mean squares; the smaller ratio of the two",
                )
            )
    return [*rows, _lowrank(spectra), _arpack(spectra)]


def _lowrank(spectra: dict[str, Tensor]) -> Row:
    chosen = spectra["exp(-j/60)"]
    theirs = errors(chosen, svd_lowrank, draws=PEER_DRAWS)
    ours = errors(chosen, krylov(BUDGET), draws=PEER_DRAWS)
    return Row(
        name=f"energy lost by the top {RANK}, sigma² = exp(-j/60)",
        bar="reported",
        peer=f"{100 * theirs.lost:.2g} % (torch.svd_lowrank, q = 30, niter = 2, 180 products)",
        ours=f"{100 * ours.lost:.2g} % (200 products, norm included)",
        ratio=theirs.lost / ours.lost,
        passed=True,
        runs=PEER_DRAWS,
        note="the peer takes matrices only and has no estimate of the norm",
    )


def _arpack(spectra: dict[str, Tensor]) -> Row:
    chosen = spectra["exp(-j/60)"]
    found = [arpack(chosen, seed=seed, tolerance=1e-2) for seed in range(PEER_DRAWS)]
    lost, products = (sum(part) / PEER_DRAWS for part in zip(*found, strict=True))
    ours = errors(chosen, krylov(BUDGET), draws=PEER_DRAWS)
    return Row(
        name=f"single products for the top {RANK}, sigma² = exp(-j/60)",
        bar="reported",
        peer=f"{products:.0f}, {100 * lost:.2g} % lost (scipy svds, tol 1e-2)",
        ours=f"{BUDGET}, {100 * ours.lost:.2g} % lost",
        ratio=products / BUDGET,
        passed=True,
        runs=PEER_DRAWS,
        note="the peer takes no budget: it runs to a tolerance, one vector at a time",
    )
