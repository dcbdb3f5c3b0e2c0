"""How else one would find the top 20 directions of a Jacobian and the share that they hold."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator as ScipyOperator
from scipy.sparse.linalg import svds
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.benchmarks.direction_cases import RANK, DirectionCase
from vitgeom.decoders import BoundDecoder
from vitgeom.linop import CountedOperator
from vitgeom.spectra import diagnose

TOLERANCE = 1e-2


@dataclass(frozen=True)
class Answer:
    """What a method says, and the single products that it took.

    Attributes:
        kappa: kappa_cap(20).
        products: With J and J^T.
    """

    kappa: float
    products: int


Method = Callable[[DirectionCase, int], Answer]
"""Case and seed -> answer."""


def ours(case: DirectionCase, seed: int, *, recipe: str = "auto") -> Answer:
    """The whole diagnosis: directions, tokens, norm, ranks, intervals."""
    found = diagnose(
        case.operator(),
        rank=RANK,
        recipe=recipe,
        num_tokens=case.num_tokens,
        num_prefix=case.num_prefix,
        generator=torch.Generator().manual_seed(seed),
    )
    assert found.kappa is not None
    return Answer(found.kappa.value, found.products.total)


def full_svd(case: DirectionCase, seed: int) -> Answer:
    """The explicit Jacobian, row by row, and its decomposition."""
    matrix = case.explicit()
    sigma = torch.linalg.svd(matrix, full_matrices=False).S.double()
    return Answer(float((sigma[:RANK] ** 2).sum() / (sigma**2).sum()), len(matrix))


def lowrank_svd(case: DirectionCase, seed: int) -> Answer:
    """The explicit Jacobian and torch's subspace iteration on it (q = 30, niter = 2)."""
    matrix = case.explicit()
    torch.manual_seed(seed)
    sigma = torch.svd_lowrank(matrix, q=30, niter=2)[1].double()
    return Answer(float((sigma[:RANK] ** 2).sum() / (matrix.double() ** 2).sum()), len(matrix))


def arpack(case: DirectionCase, seed: int) -> Answer:
    """scipy's svds on the same products, one vector at a time; it has no estimate of the norm, so it is given the true one."""
    return _svds(case, CountedOperator(case.operator()), seed)


def curvature_library(case: DirectionCase, seed: int) -> Answer:
    """The same with the Jacobian operator of curvlinops, which differentiates by parameters: the features are made one."""
    return _svds(case, CountedOperator(_FeatureJacobian(case)), seed)


class _FeatureJacobian:
    """curvlinops' operator with features in the place of parameters; attention on the path that has forward derivatives."""

    def __init__(self, case: DirectionCase) -> None:
        from curvlinops import JacobianLinearOperator

        point = case.point
        assert point is not None, "a matrix is no decoder"
        module = _Decoding(point)
        self._operator = JacobianLinearOperator(
            module,
            [module.features],
            [(torch.zeros(1, 1), torch.zeros(1))],
            check_deterministic=False,
        )
        self.shape = (int(point(point.features).numel()), point.features.numel())
        self.dtype, self.device = point.features.dtype, point.features.device

    def matmat(self, v_NK: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return self._operator @ v_NK

    def rmatmat(self, u_MK: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return self._operator.adjoint() @ u_MK


class _Decoding(nn.Module):
    def __init__(self, point: BoundDecoder) -> None:
        super().__init__()
        self.point = point
        self.features = nn.Parameter(point.features.clone())

    def forward(self, _: Tensor) -> Tensor:
        return self.point(self.features).reshape(1, -1)


def _svds(case: DirectionCase, counted: CountedOperator, seed: int) -> Answer:
    kind = np.float32 if counted.dtype == torch.float32 else np.float64

    def through(product: Callable[[Tensor], Tensor]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda v: product(torch.from_numpy(np.array(v, kind).reshape(len(v), -1))).numpy()

    forwards, backwards = through(counted.matmat), through(counted.rmatmat)
    operator = ScipyOperator(
        counted.shape,
        matvec=forwards,
        rmatvec=backwards,
        matmat=forwards,
        rmatmat=backwards,
        dtype=kind,
    )
    start = np.random.default_rng(seed).standard_normal(min(counted.shape)).astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sigma = svds(operator, k=RANK, v0=start, tol=TOLERANCE)[1].astype(np.float64)
    return Answer(float((sigma**2).sum()) / case.norm, counted.products)


PEERS: dict[str, Method] = {
    "explicit J + torch.linalg.svd": full_svd,
    "explicit J + torch.svd_lowrank": lowrank_svd,
    f"scipy svds, k = {RANK}, tol {TOLERANCE:g}, norm given": arpack,
}


LIBRARY = "scipy svds on the Jacobian operator of curvlinops"


def peers_of(case: DirectionCase) -> dict[str, Method]:
    """Return the peers of a case: those that need a decoder, or a package that is not installed, where they can be had."""
    further = {LIBRARY: curvature_library} if case.point is not None and not missing_peers() else {}
    return {**PEERS, **further}


def missing_peers() -> str:
    """Say which further peer is not installed; empty where all are."""
    return "" if importlib.util.find_spec("curvlinops") else "curvlinops is not installed"
