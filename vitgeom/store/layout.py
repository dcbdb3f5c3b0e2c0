"""The shape of one feature store: splits, widths and layers over the row ranges that single writers own. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.store.row_layout import RowLayout, at_least_one, checked_rows
from vitgeom.store.schema import TOKENS, ArraySpec, specs_for


@dataclass(frozen=True, kw_only=True)
class FeatureLayout(RowLayout):
    """What fixes every array's shape and chunks in a store of layer features.

    Attributes:
        num_layers: L.
        width: D.
        tokens: Which tokens are stored, in the order of the registry.
        token_layers: Layers, from 0 and rising, all of whose tokens are stored.
        num_tokens: N; 0 where no layer's tokens are stored.
    """

    num_layers: int
    width: int
    tokens: tuple[str, ...]
    token_layers: tuple[int, ...] = ()
    num_tokens: int = 0

    @classmethod
    def checked(
        cls,
        *,
        splits: Mapping[str, int],
        num_layers: int,
        width: int,
        storage_dtype: str,
        rows_per_range: int,
        sample_id_width: int,
        tokens: tuple[str, ...],
        token_layers: tuple[int, ...] = (),
        num_tokens: int = 0,
    ) -> FeatureLayout:
        """Return a layout after checking every number.

        Raises:
            InvalidInput: A number is below one, a split's name is unfit for a path, the dtype or tokens are not offered, or a layer is
                not there.
        """
        rows = checked_rows(
            splits=splits,
            storage_dtype=storage_dtype,
            rows_per_range=rows_per_range,
            sample_id_width=sample_id_width,
        )
        at_least_one("num_layers", num_layers)
        at_least_one("width", width)
        specs_for(tokens)
        if not tokens:
            raise InvalidInput(f"tokens is empty: choose from {', '.join(TOKENS)}.")
        _check_token_layers(token_layers, num_layers=num_layers, num_tokens=num_tokens)
        return cls(
            **rows,
            num_layers=int(num_layers),
            width=int(width),
            tokens=tuple(token for token in TOKENS if token in tokens),
            token_layers=tuple(int(layer) for layer in token_layers),
            num_tokens=int(num_tokens),
        )

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of every split."""
        return specs_for(self.tokens, all_tokens=bool(self.token_layers))

    def layers(self, spec: ArraySpec) -> list[int | None]:
        """Return the layers, from 0, in the order of an array's second axis; [None] for an array without layers."""
        if not spec.has_layers:
            return [None]
        return list(range(self.num_layers) if "L" in spec.dims else self.token_layers)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; nothing is said of token layers where there are none."""
        value = {**asdict(self), "splits": dict(self.splits), "tokens": list(self.tokens)}
        chosen = {"token_layers": list(value.pop("token_layers")), "num_tokens": value.pop("num_tokens")}
        return {**value, **chosen} if self.token_layers else value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FeatureLayout:
        """Return the layout that :meth:`to_json` wrote."""
        listed = {"tokens": tuple(value["tokens"]), "token_layers": tuple(value.get("token_layers", ()))}
        return cls.checked(**{**value, **listed})

    def _lengths(self) -> dict[str, int]:
        return {
            "L": self.num_layers,
            "L_sel": len(self.token_layers),
            "N": self.num_tokens,
            "D": self.width,
            "W": self.sample_id_width,
        }


def _check_token_layers(layers: tuple[int, ...], *, num_layers: int, num_tokens: int) -> None:
    for layer in layers:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < num_layers:
            raise InvalidInput(f"token_layers must be layers 0..{num_layers - 1}, got {layer!r}.")
    if list(layers) != sorted(set(layers)):
        raise InvalidInput(f"token_layers must rise from one to the next, got {list(layers)}.")
    if layers:
        at_least_one("num_tokens", num_tokens)
    elif num_tokens:
        raise InvalidInput(
            f"num_tokens={num_tokens!r} without token_layers: name the layers whose tokens are stored."
        )
