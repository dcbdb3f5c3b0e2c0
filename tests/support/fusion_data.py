"""One small data set with its evidence, shared by the tests of all fused methods so that probes are fitted once."""

from __future__ import annotations

from functools import lru_cache

from torch import Tensor

from tests.support.layered_features import layered_features
from vitgeom.fusion import Evidence, gather_evidence

TRAIN, VAL, TEST = slice(0, 200), slice(200, 320), slice(320, 620)
NUM_LAYERS, WIDTH, NUM_CLASSES = 3, 8, 4


@lru_cache(maxsize=1)
def features() -> tuple[Tensor, Tensor]:
    """All rows and labels."""
    return layered_features(620, NUM_LAYERS, WIDTH, NUM_CLASSES, strength=0.8)


def part(rows: slice) -> tuple[Tensor, Tensor]:
    """Rows and labels of one split."""
    x, y = features()
    return x[rows], y[rows]


@lru_cache(maxsize=1)
def evidence() -> Evidence:
    """Of training and validation rows."""
    return gather_evidence(*part(TRAIN), *part(VAL))
