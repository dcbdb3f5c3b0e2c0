"""Tensors with a JSON record in one safetensors file that knows its own checksum. Reading one runs no code from it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.sorted_header import with_sorted_header

_KEY = "vitgeom"


def packed(tensors: Mapping[str, Tensor], record: Mapping[str, Any], *, kind: str, version: int) -> bytes:
    """Return the bytes of a file.

    Args:
        tensors: By name, on any device.
        record: JSON values that are to travel with them; not-a-number is none.
        kind: What it holds, as a reader would say it ("model", "training state").
        version: Of the layout; raise it when the meaning of a name changes.

    Raises:
        InvalidInput: The record has no JSON form.
    """
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    head = {"kind": kind, "version": version, "record": record}
    text = _text(head)
    metadata = {_KEY: text, "checksum": _checksum(text, plain)}
    return with_sorted_header(safetensors.torch.save(plain, metadata=metadata))


def unpacked(
    content: bytes, *, kind: str, version: int, place: str
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return tensors and record of a file's bytes.

    Args:
        content: From :func:`packed`.
        kind: What the reader expects.
        version: That the reader knows.
        place: Where the bytes come from, for error messages.

    Raises:
        CorruptData: It is no such file, or does not match its checksum.
        InvalidInput: It holds something else, or was written by another version.
    """
    try:
        metadata = _metadata(content)
        text, stated = metadata[_KEY], metadata["checksum"]
        tensors = safetensors.torch.load(content)
        head = json.loads(text)
        found = (head["kind"], head["version"])
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise CorruptData(
            f"{place} holds no {kind} of vitgeom, or is cut short ({error!r}); write it again."
        ) from error
    if _checksum(text, tensors) != stated:
        raise CorruptData(
            f"{place} does not match its checksum: it was changed after it was written. Write it again."
        )
    if found != (kind, version):
        raise InvalidInput(
            f"{place} must hold a {kind} of version {version}, got a {found[0]} of version {found[1]}. Give another file, or write it again with this version."
        )
    return tensors, head["record"]


def write_whole(content: bytes, file: Path) -> Path:
    """Write a file so that it appears whole or not at all, whatever interrupts.

    Args:
        content: All of it.
        file: Replaced if it is there; missing folders are made.

    Raises:
        StoreError: It cannot be written.
    """
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        partial.replace(file)
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written ({error}); choose a folder that you may write to."
        ) from error
    finally:
        with suppress(OSError):  # gone already, or its folder never was
            partial.unlink()
    return file


def read_whole(file: Path, *, kind: str) -> bytes:
    """Return a file's bytes.

    Args:
        file: Where it is.
        kind: What it should hold.

    Raises:
        StoreError: It is not there, or cannot be read.
    """
    if not file.is_file():
        raise StoreError(f"there is no {kind} at {file}; save one there first, or give another path.")
    try:
        return file.read_bytes()
    except OSError as error:
        raise StoreError(f"{file} cannot be read ({error}).") from error


def _metadata(content: bytes) -> dict[str, str]:
    """Return the strings in the header; the library gives them for files only."""
    length = int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    return dict(header["__metadata__"])


def _text(head: Mapping[str, Any]) -> str:
    try:
        return json.dumps(head, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"record must consist of numbers, strings, lists and dicts to be stored: {error}."
        ) from error


def _checksum(text: str, tensors: Mapping[str, Tensor]) -> str:
    total = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()
