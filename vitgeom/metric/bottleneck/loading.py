"""A stored bottleneck for the head that it was trained for, and no other. Storing one is ``vitgeom.metric.save``."""

from __future__ import annotations

from pathlib import Path

from vitgeom.errors import InvalidInput
from vitgeom.metric import saving  # not its names: it imports this package for the class that it stores
from vitgeom.metric.bottleneck.fit_check import check_fits
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.metric.bottleneck.vae import BottleneckVAE


def load_bottleneck(path: Path | str, joined: JoinedTaps) -> BottleneckVAE:
    """Read a bottleneck, in evaluation mode on the CPU.

    Args:
        path: File, written by ``vitgeom.metric.save``.
        joined: The head on its taps.

    Raises:
        StoreError: There is no such file.
        CorruptData: It is damaged, or something else.
        InvalidInput: It holds another model, or a bottleneck for another backbone, head, taps or width.
    """
    vae = saving.load(path)
    if not isinstance(vae, BottleneckVAE):
        raise InvalidInput(
            f"{path} must hold a BottleneckVAE, got a {type(vae).__name__}. Give another file, or read it with vitgeom.metric.load."
        )
    check_fits(vae, joined)
    return vae
