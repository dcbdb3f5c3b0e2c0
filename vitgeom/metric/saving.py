"""Learned metrics as files: weights as safetensors, the numbers a model was built with as JSON beside them. Reading a file runs no code from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.metric.bottleneck.vae import BottleneckVAE
from vitgeom.metric.importance_head import ImportanceHead
from vitgeom.metric.spn import SpectralPullbackNetwork
from vitgeom.tensor_file import packed, read_whole, unpacked, write_whole

FORMAT = 1
"""Raise it when the meaning or the layout of a file changes."""

MODELS: dict[str, Callable[..., nn.Module]] = {
    one.__name__: one for one in (SpectralPullbackNetwork, ImportanceHead, BottleneckVAE)
}
"""Class name -> class. A model that is to be stored has ``config``, the keyword arguments that build it, as JSON values; a new class is one more entry."""

_KIND = "learned metric"


def save(model: nn.Module, path: Path | str) -> Path:
    """Write a model; the file appears whole or not at all.

    Args:
        model: Of a class in ``MODELS``.
        path: File; replaced if it is there.

    Returns:
        The file.

    Raises:
        UnknownName: A class that is not in ``MODELS``.
        InvalidInput: A weight is not finite.
        StoreError: The file cannot be written.
    """
    return write_whole(packed_model(model), Path(path))


def packed_model(model: nn.Module) -> bytes:
    """Return what :func:`save` writes: equal models, equal bytes.

    Args:
        model: Of a class in ``MODELS``.

    Raises:
        UnknownName: A class that is not in ``MODELS``.
        InvalidInput: A weight is not finite.
    """
    _class_named(type(model).__name__)
    state = model.state_dict()
    broken = [name for name, tensor in state.items() if not bool(tensor.isfinite().all())]
    if broken:
        raise InvalidInput(
            f"weights of {type(model).__name__} must be finite, got others in {', '.join(broken)}. Train again with a lower learning rate."
        )
    record = {"class": type(model).__name__, "config": model.config}
    return packed(state, record, kind=_KIND, version=FORMAT)


def load(path: Path | str, **expected: Any) -> Any:
    """Read a model, in evaluation mode on the CPU.

    Args:
        path: File, written by :func:`save`.
        **expected: What the model must have been built with, such as ``dim=384, rank=20``; nothing is compared that is not named.

    Returns:
        A model of the class that was saved.

    Raises:
        StoreError: There is no such file.
        CorruptData: It is damaged, or something else.
        UnknownName: It holds a class that this version does not know, or ``expected`` names what this class does not have.
        InvalidInput: It was written by another version, was built with other numbers than expected, or its weights do not fit its own numbers.
    """
    return unpacked_model(read_whole(Path(path), kind=_KIND), place=str(path), **expected)


def unpacked_model(content: bytes, *, place: str, **expected: Any) -> Any:
    """Return the model that :func:`packed_model` packed, in evaluation mode on the CPU.

    Args:
        content: From :func:`packed_model`.
        place: Where the bytes come from, for error messages.
        **expected: As for :func:`load`.

    Raises:
        CorruptData: It is damaged, or something else.
        UnknownName: As for :func:`load`.
        InvalidInput: Likewise.
    """
    tensors, record = unpacked(content, kind=_KIND, version=FORMAT, place=place)
    config: dict[str, Any] = record["config"]
    built = _class_named(record["class"])
    _check(config, expected, name=record["class"], place=place)
    try:
        with torch.device("meta"):  # no weights are drawn only to be overwritten
            model = built(**config)
        model.load_state_dict(tensors, assign=True)
    except (TypeError, RuntimeError, InvalidInput) as error:
        raise InvalidInput(
            f"{place} does not hold the weights of the {record['class']} that it describes ({error}). It was written by another version: train and save again."
        ) from error
    return model.requires_grad_(True).eval()


def _class_named(name: str) -> Callable[..., nn.Module]:
    if name not in MODELS:
        raise UnknownName("model of a metric", name, MODELS, hint="Enter your own class in MODELS.")
    return MODELS[name]


def _check(config: dict[str, Any], expected: dict[str, Any], *, name: str, place: str) -> None:
    for key, value in expected.items():
        if key not in config:
            raise UnknownName(f"number of a {name}", key, config)
        if config[key] != value:
            raise InvalidInput(
                f"{place} must hold a {name} with {key}={value!r}, got one with {key}={config[key]!r}. Give the checkpoint of this backbone and rank, or train one."
            )
