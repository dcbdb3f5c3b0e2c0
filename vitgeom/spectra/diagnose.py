"""What a decoder reacts to: one call from an operator to its diagnosis.   M = outputs, N = tokens, D = width."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Generator

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop import LinearOperator
from vitgeom.linop.agreement import check_operator
from vitgeom.seeding import check_generator
from vitgeom.spectra.assemble import assemble
from vitgeom.spectra.diagnosis import Diagnosis
from vitgeom.spectra.exact_recipe import exact_sketch
from vitgeom.spectra.krylov_recipe import krylov_sketch
from vitgeom.spectra.reference_recipe import reference_sketch
from vitgeom.spectra.regime import Thresholds
from vitgeom.spectra.sketch import Sketch
from vitgeom.spectra.token_layout import token_layout
from vitgeom.whole_numbers import whole_number

Recipe = Literal["auto", "exact", "krylov", "reference"]


def diagnose(
    operator: LinearOperator,
    *,
    rank: int = 20,
    recipe: str = "auto",
    budget: int = 200,
    num_tokens: int | None = None,
    num_prefix: int | None = None,
    thresholds: Thresholds | None = None,
    generator: Generator,
) -> Diagnosis:
    """Measure how many directions and tokens the output of a decoder depends on, and say what follows.

    Recipes: ``exact`` multiplies all of the smaller side, min(M, N D) products whatever the budget. ``krylov`` spends the budget on one block Krylov basis and
    deflated probes. ``reference`` is Hutchinson with power iteration, for comparison. ``auto`` is exact where min(M, N D) <= budget, else krylov.

    All figures hold at the one input where J was taken; J is the derivative there, so a decoder with kinks (ReLU) may differ next to it.

    Args:
        operator: J [M, N D], columns token by token.
        rank: r >= 1 directions. More than min(M, N D), or than J has, is no error: those that exist come back.
        recipe: One of the four.
        budget: Single products, J v and J^T u counted alike; not exceeded except by ``recipe="exact"``.
        num_tokens: N; None if the operator states it.
        num_prefix: CLS and register tokens at the start; None if the operator states it, else 0.
        thresholds: Of the regimes; None for the defaults.
        generator: The only source of randomness.

    Returns:
        The diagnosis. For a zero Jacobian kappa is None and the regime ``undefined``.

    Raises:
        InvalidInput: No operator, or no thresholds; rank or budget is no whole number >= 1, the budget is too small for the rank (the least is named), or tokens do not divide the columns.
        UnknownName: There is no such recipe.
        NumericalFailure: A product is not finite, or an invariant (kappa <= 1, orthonormal vectors) does not hold.
    """
    check_operator(operator, name="operator")
    if recipe not in get_args(Recipe):
        raise UnknownName("recipe", str(recipe), get_args(Recipe))
    if not isinstance(thresholds, Thresholds | None):
        raise InvalidInput(
            f"thresholds must be vitgeom.spectra.Thresholds or None, got {thresholds!r}. For others than the defaults: Thresholds(kappa=0.9)."
        )
    check_generator(generator)
    rank = whole_number("rank", rank, at_least=1, way_out="20 is usual")
    budget = whole_number("budget", budget, at_least=1, way_out="200 is usual")
    layout = token_layout(operator, num_tokens=num_tokens, num_prefix=num_prefix)
    possible = min(rank, *operator.shape)
    chosen = choose_recipe(operator.shape, recipe=recipe, budget=budget)
    sketch = _sketch(
        operator, chosen, rank=possible, budget=budget, num_tokens=layout.num_tokens, generator=generator
    )
    return assemble(sketch, layout, rank=rank, thresholds=thresholds or Thresholds())


def choose_recipe(shape: tuple[int, int], *, recipe: str, budget: int) -> str:
    """Return the recipe itself, or what ``auto`` stands for.

    Args:
        shape: (M, N D).
        recipe: As asked for.
        budget: Single products.
    """
    if recipe != "auto":
        return recipe
    return "exact" if min(shape) <= budget else "krylov"


def _sketch(
    operator: LinearOperator, recipe: str, *, rank: int, budget: int, num_tokens: int, generator: Generator
) -> Sketch:
    if recipe == "exact":
        return exact_sketch(operator, rank=rank, num_tokens=num_tokens)
    estimate = krylov_sketch if recipe == "krylov" else reference_sketch
    return estimate(operator, rank=rank, budget=budget, num_tokens=num_tokens, generator=generator)
