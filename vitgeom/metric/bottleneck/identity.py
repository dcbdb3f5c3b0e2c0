"""Which backbone and which head a bottleneck was trained for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vitgeom.backbones.digest import weights_digest
from vitgeom.errors import InvalidInput
from vitgeom.linop.frozen_modules import watched
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps


@dataclass(frozen=True)
class BottleneckIdentity:
    """What a bottleneck's tokens are and what reads them.

    Attributes:
        backbone: Name.
        backbone_digest: Of its weights.
        taps: Layers side by side, in order.
        head: Name of the decoder.
        head_digest: Of the weights of everything that takes part in reading the taps, final norm included.
    """

    backbone: str
    backbone_digest: str
    taps: tuple[int, ...]
    head: str
    head_digest: str

    @classmethod
    def of(cls, joined: JoinedTaps) -> BottleneckIdentity:
        """Return the identity of a head on its taps. Cost: one evaluation of the head.

        Args:
            joined: The head.
        """
        spec = joined.backbone.spec
        return cls(
            spec.name, spec.weights_digest, joined.decoder.taps, joined.name, weights_digest(_weights(joined))
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything by name."""
        return {**asdict(self), "taps": list(self.taps)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> BottleneckIdentity:
        """Rebuild from :meth:`to_json`."""
        return cls(**{**data, "taps": tuple(data["taps"])})

    def check_is(self, joined: JoinedTaps) -> None:
        """Refuse another backbone, other taps or another head. Names may differ: weights decide.

        Args:
            joined: What the bottleneck is to be used with.

        Raises:
            InvalidInput: What differs, and what it was trained for.
        """
        other = BottleneckIdentity.of(joined)
        if other.backbone_digest != self.backbone_digest:
            self._refuse(
                f"backbone {other.backbone!r} with weights {other.backbone_digest[:12]}", "that backbone"
            )
        if other.taps != self.taps:
            self._refuse(f"taps {list(other.taps)}", "those taps")
        if other.head_digest != self.head_digest:
            self._refuse(f"head {other.head!r} with weights {other.head_digest[:12]}", "that head")

    def _refuse(self, found: str, wanted: str) -> None:
        raise InvalidInput(
            f"bottleneck was trained for head {self.head!r} ({self.head_digest[:12]}) on taps {list(self.taps)} of backbone "
            f"{self.backbone!r} ({self.backbone_digest[:12]}), got {found}. Give {wanted}, or train a bottleneck for this one."
        )


@torch.no_grad()
def _weights(joined: JoinedTaps) -> dict[str, Tensor]:
    """Return the weights and buffers of all modules that one reading calls, numbered in the order in which they are called."""
    count, width = joined.features_shape
    trunk = joined.decoder.trunk
    modules: list[nn.Module] = []
    with watched(joined.decoder.read, into=modules):
        joined.read(torch.zeros(1, count, width, dtype=trunk.dtype, device=trunk.device))
    return {
        f"{number:04d}.{name}": tensor
        for number, module in enumerate(modules)
        for name, tensor in (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
    }
