"""What is known about a loaded backbone before any image is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from vitgeom.backbones.layout import TokenLayout
from vitgeom.errors import InvalidInput, UnknownName

TOKENS = ("cls", "mean")


@dataclass(frozen=True)
class BackboneSpec:
    """Identity, shape and preprocessing of one frozen backbone.

    Attributes:
        name: What was asked for: an embedded name, a timm name, or the file's stem.
        source: One line for reports: where the weights came from.
        architecture: Name of the architecture that the weights were put into.
        weights_digest: sha256 over the weights at their own grid, see ``vitgeom.backbones.digest``.
        num_blocks: L.
        width: D, length of a token.
        image_size: (height, width) in pixels of the images that ``capture`` takes.
        patch_size: (height, width) in pixels of one patch.
        layout: Token order and counts.
        preprocessing: How a picture becomes a tensor; JSON values only.
        pos_embed: How positions are told apart, and whether the embedding was resampled.
    """

    name: str
    source: str
    architecture: str
    weights_digest: str
    num_blocks: int
    width: int
    image_size: tuple[int, int]
    patch_size: tuple[int, int]
    layout: TokenLayout
    preprocessing: dict[str, Any]
    pos_embed: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Names of the layer features that this backbone can give."""
        return TOKENS if self.layout.num_cls else ("mean",)

    def check_tokens(self, names: Iterable[str]) -> None:
        """Refuse a layer feature that this backbone does not have.

        Args:
            names: Any of ``"cls"`` and ``"mean"``.

        Raises:
            UnknownName: A name is neither.
            InvalidInput: ``cls`` is asked of a model without class token.
        """
        for name in names:
            if name not in TOKENS:
                raise UnknownName("token feature", name, TOKENS)
            if name not in self.tokens:
                raise InvalidInput(
                    f"tokens={name!r} asks for the class token, but backbone {self.name!r} ({self.architecture}) has none. "
                    f"Use tokens='mean' (mean over the {self.layout.num_patches} patch tokens), or its own pooled `output`."
                )

    def check_token_layers(self, layers: Sequence[int]) -> None:
        """Refuse a choice of layers that this backbone does not have.

        Args:
            layers: From 0.

        Raises:
            InvalidInput: A layer is not there, or the layers do not rise from one to the next.
        """
        for layer in layers:
            if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < self.num_blocks:
                raise InvalidInput(
                    f"token_layers={list(layers)} names layer {layer!r}, but backbone {self.name!r} ({self.architecture}) has "
                    f"{self.num_blocks} blocks: choose from 0..{self.num_blocks - 1} (counted from 0)."
                )
        if list(layers) != sorted(set(layers)):
            raise InvalidInput(
                f"token_layers={list(layers)} must rise from one to the next: name each layer once, first to last."
            )

    def to_json(self) -> dict[str, Any]:
        """Return the whole spec as plain JSON values."""
        return {
            "name": self.name,
            "source": self.source,
            "architecture": self.architecture,
            "weights_digest": self.weights_digest,
            "num_blocks": self.num_blocks,
            "width": self.width,
            "image_size": list(self.image_size),
            "patch_size": list(self.patch_size),
            "layout": self.layout.to_json(),
            "preprocessing": self.preprocessing,
            "pos_embed": self.pos_embed,
        }
