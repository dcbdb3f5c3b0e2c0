"""A set of targets that takes seconds: noise images under a small Vision Transformer with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.engine import Engine, SerialEngine
from tasks.receipt import Receipt
from tasks.target_request import DecoderRef, TargetSettings
from tasks.target_set import make_target_set
from tests.support.small_extraction import BACKBONE, noise

CLS = DecoderRef(name="cls", layer=10)
MEAN = DecoderRef(name="patch_mean", layer=11)


def settings(**options: Any) -> TargetSettings:
    return TargetSettings(**{"images": 5, "rank": 3, "rows_per_range": 2, **options})


def make(
    folder: Path, *decoders: DecoderRef, engine: Engine | None = None, **options: Any
) -> dict[DecoderRef, Receipt]:
    """Make the targets of some decoders, the class token at layer 10 by default."""
    return make_target_set(
        noise(),
        BACKBONE,
        decoders or (CLS,),
        store=str(folder),
        settings=settings(**options),
        engine=engine or SerialEngine(),
        emit=lambda line: None,
        label="noise",
    )
