"""Fitted classifiers as one file: arrays as safetensors, the rest as JSON in its header. Reading a file runs no code from it."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
from safetensors import SafetensorError, safe_open
from sklearn.exceptions import NotFittedError
from torch import Tensor

from vitgeom.errors import CorruptData, InvalidInput, StoreError, UnknownName
from vitgeom.fusion.estimator import LayerClassifier

FORMAT = 1
"""Raise it when the meaning or the layout of a file changes."""

FILE_NAME = "classifier.safetensors"
_FIELDS = ("checksum", "class", "classes", "format", "meta", "params", "widths")


def save(estimator: LayerClassifier, path: Path | str) -> Path:
    """Write a fitted classifier; the file appears whole or not at all.

    Args:
        estimator: Fitted.
        path: File to write, or a folder, in which it is called ``classifier.safetensors``.

    Returns:
        The file.

    Raises:
        NotFittedError: Not fitted yet.
        InvalidInput: A parameter has no JSON form.
        StoreError: The file cannot be written.
    """
    if not hasattr(estimator, "classes_"):
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet; call fit(X, y) first.")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in estimator.tensors().items()}
    record = {
        "format": FORMAT,
        "class": type(estimator).__name__,
        "params": estimator.get_params(deep=False),
        "classes": estimator.classes_.tolist(),
        "widths": list(estimator.widths_),
        "meta": dict(estimator.meta()),
    }
    record["checksum"] = _checksum(record, tensors)
    content = safetensors.torch.save(tensors, metadata={"vitgeom": _text(record)})
    return _written(content, _file(path))


def load(path: Path | str) -> LayerClassifier:
    """Read a fitted classifier.

    Args:
        path: File or folder, as given to :func:`save`.

    Raises:
        StoreError: There is no such file.
        CorruptData: It is no such file, or its content does not match its checksum.
        InvalidInput: It was written by another version, or holds other parts than its class has.
    """
    record, tensors = _read(_file(path))
    estimator = _class_named(record["class"])(**_parameters(record))
    classes = np.asarray(record["classes"])
    estimator.classes_ = classes.astype(np.int64) if classes.dtype.kind in "iu" else classes
    estimator.widths_ = tuple(record["widths"])
    estimator.n_features_in_ = sum(estimator.widths_)
    estimator._restore(tensors, record["meta"])
    return estimator


def _file(path: Path | str) -> Path:
    return Path(path) / FILE_NAME if Path(path).is_dir() else Path(path)


def _written(content: bytes, file: Path) -> Path:
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written ({error}); choose a folder that you may write to."
        ) from error
    finally:
        with suppress(OSError):  # gone already, or its folder never was
            partial.unlink()
    return file


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    if not file.is_file():
        raise StoreError(f"there is no classifier at {file}; write one with save(estimator, path).")
    try:
        with safe_open(file, framework="pt") as opened:
            record = json.loads((opened.metadata() or {})["vitgeom"])
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError) as error:
        raise CorruptData(
            f"{file} holds no classifier of vitgeom ({error!r}); write it again with save."
        ) from error
    if not isinstance(record, dict) or record.get("format") != FORMAT or set(record) != set(_FIELDS):
        found = record.get("format") if isinstance(record, dict) else None
        raise InvalidInput(
            f"{file} must have format {FORMAT}, got {found!r}; it was written by another version: fit and save again."
        )
    stated = record.pop("checksum")
    if _checksum(record, tensors) != stated:
        raise CorruptData(f"{file} does not match its checksum; it was changed after it was written.")
    return record, tensors


def _class_named(name: str) -> type[LayerClassifier]:
    from vitgeom.fusion.methods import CLASSES

    known = {one.__name__: one for one in CLASSES}
    if name not in known:
        raise UnknownName("classifier", name, known, hint="Was the file written by another version?")
    return known[name]


def _parameters(record: Mapping[str, Any]) -> dict[str, Any]:
    wanted = set(inspect.signature(_class_named(record["class"])).parameters)
    given: dict[str, Any] = record["params"]
    if set(given) != wanted:
        raise InvalidInput(
            f"params of {record['class']} must be {sorted(wanted)}, got {sorted(given)}; the file was written by another version."
        )
    return given


def _text(record: Mapping[str, Any]) -> str:
    try:
        return json.dumps(record, sort_keys=True, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"parameters must be numbers, strings and lists to be stored: {error}.") from error


def _plain(value: object) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} has no JSON form")


def _checksum(record: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    total = hashlib.sha256(_text(record).encode())
    for name in sorted(tensors):
        array = tensors[name].numpy()
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()
