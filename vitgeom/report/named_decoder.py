"""A decoder at a layer under an output metric: how readers and machines call it."""

from __future__ import annotations

from dataclasses import dataclass

TITLES = {
    "cls": "class token",
    "patch_mean": "patch mean",
    "tokens": "all tokens",
    "scenes_depth": "depth map",
    "scenes_points": "point map",
    "scenes_camera": "camera pose",
}
PLAIN = "euclidean"
METRICS = {"so3": "rotations as angles"}
"""What a reader calls an output metric."""


@dataclass(frozen=True)
class NamedDecoder:
    """One decoder at one layer.

    Attributes:
        name: Of the decoder.
        layer: Blocks that have run before the features.
        metric: How its output is measured.
    """

    name: str
    layer: int
    metric: str

    @property
    def title(self) -> str:
        """What a reader calls the decoder."""
        title = TITLES.get(self.name, self.name.replace("_", " "))
        return title if self.metric == PLAIN else f"{title}, {METRICS.get(self.metric, self.metric)}"

    @property
    def variant(self) -> str:
        """Decoder and metric for machines, whatever the layer."""
        return self.name if self.metric == PLAIN else f"{self.name}-{self.metric}"

    @property
    def label(self) -> str:
        """Decoder and layer for readers."""
        return f"{self.title} from layer {self.layer}"

    @property
    def key(self) -> str:
        """Decoder and layer for machines."""
        return f"{self.variant}-layer{self.layer}"
