"""Whether J V and J^T U belong to one matrix, and to the decoder: asked once, before anything is analysed.

Forward and reverse derivatives are computed by different rules. Where a decoder hides a path from one of them, <J v, u> and <v, J^T u>
differ; where it hides it from both, only evaluations show it.   N = tokens, D = width, M = outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.finite_difference import agrees, central_differences
from vitgeom.seeding import generator_for

ADJOINT_BOUND = {torch.float32: 1e-4, torch.float64: 1e-9}
DIFFERENCE_BOUND = 0.05
FORWARD_CAUSES = "a custom autograd.Function with a wrong jvp, or an operation that drops tangents"
REVERSE_CAUSES = "torch.no_grad, .data or a custom autograd.Function with a wrong backward inside the decoder"
BOTH_CAUSES = (
    ".detach(), a detour through numpy or whole numbers, or a straight-through rounding inside the decoder"
)
Products = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class AdjointCheck:
    """What the check found.

    Attributes:
        relative: Larger of |<Jv, u> - <v, J^T u>| / (|Jv| |u|) for u = Jv, and the same with both sides exchanged.
        is_zero: J v and J^T u vanish for random v and u: the output does not depend on the features.
        jvps: Single products with J that it took.
        vjps: Single products with J^T.
    """

    relative: float
    is_zero: bool
    jvps: int = 2
    vjps: int = 2


def check_adjoint(function: DecoderFunction, forward: Products, backward: Products) -> AdjointCheck:
    """Compare both kinds of products with each other and with evaluations.

    u = J v makes the comparison sensitive to any path that the reverse side lost, however many outputs there are, and v = J^T u to any that
    the forward side lost; both random would dilute the loss by sqrt(M). A path that both lost is seen if it carries more than 5 %.

    Args:
        function: The decoder at its features.
        forward: V [N D, K] -> J V [M, K].
        backward: U [M, K] -> J^T U [N D, K].

    Returns:
        The relative difference. Cost: two products of each kind and two to eight evaluations.

    Raises:
        InvalidInput: The two differ by more than 1e-4 (float32) or 1e-9 (float64), or evaluations contradict both.
        NumericalFailure: A product is not finite.
    """
    features, rows = function.features, function.output.numel()
    generator = generator_for(0, "adjoint check")
    v = _drawn(features.numel(), generator, like=features)
    random_u = _drawn(rows, generator, like=features)
    jv = _finite(forward(v), "J v")
    pulled = _finite(backward(torch.cat([_unit(jv), random_u], dim=1)), "J^T u")
    from_jv, from_random = pulled[:, :1], pulled[:, 1:]
    pushed = _finite(forward(_unit(from_random)), "J v")
    relative = max(
        _difference(float(jv.double().norm()), _dot(v, from_jv)),
        _difference(float(from_random.double().norm()), _dot(pushed, random_u)),
    )
    fits = _fits_evaluations(function, v, jv)
    if not relative <= ADJOINT_BOUND[features.dtype]:
        raise _one_side_lost(relative, forward_fits=fits, bound=ADJOINT_BOUND[features.dtype])
    if not fits:
        raise InvalidInput(
            "decoder hides a path from differentiation: J v and J^T u agree with each other, but differ by more than "
            f"{DIFFERENCE_BOUND:.0%} from what evaluations at F + h v show. Usual causes: {BOTH_CAUSES}. "
            "Remove it, or give check=False to analyse the derivative as PyTorch defines it."
        )
    return AdjointCheck(relative, is_zero=not (bool(jv.any()) or bool(from_random.any())))


def _fits_evaluations(function: DecoderFunction, v: Tensor, jv: Tensor) -> bool:
    """Say whether any step size confirms J v; a decoder that is nowhere finite around its features confirms nothing."""
    features = function.features
    with function.ready(), torch.no_grad():
        steps = central_differences(function, features, v.reshape(features.shape))
        return any(
            agrees(difference, jv[:, 0], noise=noise, bound=DIFFERENCE_BOUND) for difference, noise in steps
        )


def _one_side_lost(relative: float, *, forward_fits: bool, bound: float) -> InvalidInput:
    lost, causes = ("reverse", REVERSE_CAUSES) if forward_fits else ("forward", FORWARD_CAUSES)
    other = "forward" if forward_fits else "reverse"
    judged = (
        f"Evaluations at F + h v confirm the {other} derivative, so the {lost} one lost a path"
        if forward_fits
        else "Evaluations at F + h v contradict the forward derivative"
    )
    narrow = (
        " A difference this small can also come from narrow arithmetic inside (bfloat16, TF32)."
        if relative < 1e-2
        else ""
    )
    return InvalidInput(
        f"decoder is differentiated wrongly: <J v, u> and <v, J^T u> differ by {relative:.1e} (relative; bound {bound:.0e}). "
        f"{judged}. Usual causes: {causes}.{narrow} Remove it from the decoder."
    )


def _drawn(length: int, generator: torch.Generator, *, like: Tensor) -> Tensor:
    return torch.randn(length, 1, generator=generator, dtype=torch.float64).to(like.device, like.dtype)


def _unit(column: Tensor) -> Tensor:
    # Summed in float64: in float32 the norm of a column of a block is off by 1e-4 where a million entries are added up one after the other.
    norm = float(column.double().norm())
    return column / norm if norm else column


def _dot(first: Tensor, second: Tensor) -> float:
    return float((first.double() * second.double()).sum())


def _difference(wanted: float, found: float) -> float:
    """Return |wanted - found| / wanted; 0 if both vanish, infinite if only one does."""
    if wanted == found:
        return 0.0
    return abs(wanted - found) / wanted if wanted else float("inf")


def _finite(product: Tensor, what: str) -> Tensor:
    if bool(product.isfinite().all()):
        return product
    raise NumericalFailure(
        f"{what} is not finite at these features although the decoder's output is: some derivative does not exist there "
        "(square root or norm of an exact zero, division by zero). Add an epsilon inside the decoder, or use other features."
    )
