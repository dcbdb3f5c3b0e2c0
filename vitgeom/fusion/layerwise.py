"""Classifiers that first score each layer by a linear map of its own and then put the scores together.

b = rows of a block, S = chosen layers, D = width, K = classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from jaxtyping import Float32, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.linear_maps import LinearMaps
from vitgeom.probes.layers import RowSource


class LayerwiseClassifier(LayerClassifier):
    """Base: subclasses set ``maps_`` and what they name in ``_ARRAYS`` and ``_NUMBERS``, and say how scores combine."""

    maps_: LinearMaps
    _ARRAYS: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes that are tensors, beside the maps."""
    _NUMBERS: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes that are plain JSON."""

    def __init__(self, *, seed: int = 0) -> None:
        """Store parameters.

        Args:
            seed: Decides folds, and what is held out where no validation rows are given.
        """
        self.seed = seed

    def tensors(self) -> dict[str, Tensor]:
        """Return every fitted array by name: the part for safetensors."""
        return {**self.maps_.tensors(), **{name: getattr(self, name) for name in self._ARRAYS}}

    def meta(self) -> dict[str, Any]:
        """Return fitted numbers that are no arrays, as plain JSON."""
        return {"layers": list(self.maps_.layers), **{name: getattr(self, name) for name in self._NUMBERS}}

    def summary(self) -> Mapping[str, Any]:
        """Return what was chosen in fitting, as plain JSON; layers count from 0."""
        arrays = {
            name.rstrip("_"): getattr(self, name).tolist() for name in self._ARRAYS if self._is_short(name)
        }
        return {**arrays, **{name.rstrip("_"): value for name, value in self.meta().items()}}

    def num_parameters(self) -> int:
        """Return how many fitted weights and biases a prediction uses."""
        return self.maps_.num_parameters + self._own_parameters()

    def flops_per_row(self) -> int:
        """Return the operations of one prediction on top of the backbone."""
        return self.maps_.flops_per_row + self._own_flops()

    def _is_short(self, name: str) -> bool:
        array: Tensor = getattr(self, name)
        return array.ndim <= 1 and array.numel() <= max(1, len(self.maps_.layers))

    def _restore(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        wanted = {"layers", *self._NUMBERS}
        if set(meta) != wanted:
            raise InvalidInput(
                f"meta must hold exactly {sorted(wanted)} of a {type(self).__name__}, got {sorted(meta)}; was it written "
                "by another version?"
            )
        self.maps_ = LinearMaps.from_tensors(
            tensors, layers=meta["layers"], widths=self.widths_, num_classes=len(self.classes_)
        )
        names = {*self.maps_.tensors(), *self._ARRAYS}
        if set(tensors) != names:
            raise InvalidInput(
                f"tensors must hold exactly the parts of a {type(self).__name__}: missing {sorted(names - set(tensors))}, "
                f"unknown {sorted(set(tensors) - names)}; was it written by another version?"
            )
        for name in self._ARRAYS:
            setattr(self, name, tensors[name])
        for name in self._NUMBERS:
            setattr(self, name, meta[name])

    def _log_proba_blocks(self, rows: RowSource) -> Iterator[Float32[Tensor, "b K"]]:
        for _, z in self.maps_.blocks(rows):
            yield self._combine(self.maps_.scores(z), z).float()

    @abstractmethod
    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        """Return log probabilities from the scores of each layer and the standardised features behind them."""

    @abstractmethod
    def _own_parameters(self) -> int:
        """Parameters beside the maps."""

    @abstractmethod
    def _own_flops(self) -> int:
        """Operations per row beside the maps."""
