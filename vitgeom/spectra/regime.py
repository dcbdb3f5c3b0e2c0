"""Which kind of problem a decoder poses, and how far it is from being another one (B7 of the methods)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal

from vitgeom.errors import InvalidInput

Name = Literal["structural", "token_local", "low_rank_delocalised", "high_rank", "undefined"]


@dataclass(frozen=True)
class Thresholds:
    """Where one regime ends and the next begins.

    Attributes:
        kappa: kappa_cap(r) from which r directions count as enough.
        variation: CV of token energy over patches from which some tokens count as far more important than others. A random r-dimensional subspace has
            about sqrt(2 / (D r)).
    """

    kappa: float = 0.8
    variation: float = 0.5

    def __post_init__(self) -> None:
        """Refuse thresholds that no value can fall on both sides of."""
        for name, value in (("kappa", self.kappa), ("variation", self.variation)):
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InvalidInput(f"{name} must be a number, got {value!r}.")
        if not 0 < self.kappa < 1:
            raise InvalidInput(f"kappa must lie strictly between 0 and 1, got {self.kappa}.")
        if not 0 < self.variation < float("inf"):
            raise InvalidInput(f"variation must be positive and finite, got {self.variation}.")


@dataclass(frozen=True)
class Regime:
    """The verdict with its margins.

    Attributes:
        name: ``structural``: M <= r, everything is captured by construction. ``token_local``: some tokens matter far more than others.
            ``low_rank_delocalised``: r directions spread over the tokens carry it. ``high_rank``: neither. ``undefined``: the Jacobian is zero.
        kappa_margin: kappa_cap(r) minus its threshold.
        variation_margin: CV minus its threshold.
        rank_ratio: r_0.90 (or its lower bound) over r; how far over budget the effective rank is.
        thresholds: Those that were applied.
    """

    name: Name
    kappa_margin: float | None
    variation_margin: float | None
    rank_ratio: float | None
    thresholds: Thresholds

    def to_json(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)


def regime(
    *,
    kappa: float | None,
    variation: float | None,
    rank_90: float | None,
    outputs: int,
    rank: int,
    thresholds: Thresholds,
) -> Regime:
    """Return the first of structural, token_local, low_rank_delocalised, high_rank that applies.

    Args:
        kappa: kappa_cap(r), None for a zero Jacobian.
        variation: CV of token energy over patches; None where there are none.
        rank_90: r_0.90 or its lower bound.
        outputs: M.
        rank: r as asked for.
        thresholds: Where the borders are.
    """
    return Regime(
        _name(kappa, variation, outputs <= rank, thresholds),
        None if kappa is None else kappa - thresholds.kappa,
        None if variation is None else variation - thresholds.variation,
        None if rank_90 is None else rank_90 / rank,
        thresholds,
    )


def _name(kappa: float | None, variation: float | None, structural: bool, thresholds: Thresholds) -> Name:
    if kappa is None:
        return "undefined"
    if structural:
        return "structural"
    if variation is not None and variation >= thresholds.variation:
        return "token_local"
    return "low_rank_delocalised" if kappa >= thresholds.kappa else "high_rank"
