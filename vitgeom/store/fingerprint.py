"""Digests of descriptions and of arrays: same content, same digest, on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vitgeom.errors import InvalidInput


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, ASCII, finite numbers only.

    Args:
        value: Mappings with text keys, sequences, text, whole numbers, finite floats, booleans and None, nested at will.
            ``1`` and ``1.0`` are different values; a tuple and a list are the same.

    Raises:
        InvalidInput: A key is not text, a number is not finite, or a value is of another type.
    """
    return json.dumps(
        _plain(value, "value"), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def fingerprint(mapping: Any) -> str:
    """Return the SHA-256 (64 hex digits) of the canonical JSON of a description.

    Args:
        mapping: What :func:`canonical_json` accepts.

    Raises:
        InvalidInput: As for :func:`canonical_json`.
    """
    return hashlib.sha256(canonical_json(mapping).encode("ascii")).hexdigest()


def array_digest(array: np.ndarray) -> str:
    """Return the SHA-256 (64 hex digits) of an array's dtype, shape and values in C order, little-endian.

    Strides and byte order in memory do not matter. Cost: one pass; one copy when the array is not contiguous.

    Args:
        array: Of a fixed-size numeric dtype.

    Raises:
        InvalidInput: The dtype holds Python objects.
    """
    if array.dtype.hasobject:
        raise InvalidInput(
            f"array of dtype {array.dtype} has no digest: convert it to a numeric dtype first."
        )
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"{plain.dtype.str}{list(array.shape)}".encode("ascii"))
    digest.update(plain.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _plain(value: Any, where: str) -> Any:
    """Copy a value into JSON's own types, naming the place of anything that does not fit."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise InvalidInput(f"{where} is {value}: a description holds finite numbers only.")
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(
                    f"{where} has the key {key!r} of type {type(key).__name__}: keys must be text."
                )
        return {str(key): _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise InvalidInput(
        f"{where} is of type {type(value).__name__}: only text, numbers, booleans, None, lists and mappings have a"
        " fingerprint; convert it (for example an array with .tolist())."
    )
