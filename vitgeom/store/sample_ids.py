"""Sample ids as fixed-width bytes: UTF-8, padded with zeros, so that any name can be stored without variable-length strings.

File names that are not UTF-8 keep their bytes (Python's ``surrogateescape``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vitgeom.errors import InvalidInput


def encode_ids(ids: Sequence[str], *, width: int) -> np.ndarray:
    """Return ids as uint8 [n, width].

    Args:
        ids: Non-empty texts without the zero character.
        width: Bytes per id.

    Raises:
        InvalidInput: An id is empty, holds a zero character, is no valid text, or needs more bytes.
    """
    encoded = np.zeros((len(ids), width), dtype=np.uint8)
    for row, text in enumerate(ids):
        data = _bytes(text, row)
        if len(data) > width:
            raise InvalidInput(
                f"sample id {text!r} (row {row}) needs {len(data)} bytes but sample_id_width is {width}: create the store with"
                " sample_id_width=widest_id(ids)."
            )
        encoded[row, : len(data)] = np.frombuffer(data, dtype=np.uint8)
    return encoded


def decode_ids(encoded: np.ndarray) -> list[str]:
    """Return the texts of uint8 [n, width]."""
    return [bytes(row).rstrip(b"\0").decode("utf-8", "surrogateescape") for row in encoded]


def widest_id(ids: Sequence[str]) -> int:
    """Return the number of bytes that the longest id needs.

    Raises:
        InvalidInput: There are no ids, or one cannot be stored.
    """
    if len(ids) == 0:
        raise InvalidInput("ids is empty: there is no width to choose.")
    return max(len(_bytes(text, row)) for row, text in enumerate(ids))


def _bytes(text: str, row: int) -> bytes:
    if not text or "\0" in text:
        raise InvalidInput(
            f"sample id {text!r} (row {row}) must be non-empty and free of the zero character."
        )
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"sample id {text!r} (row {row}) is no valid text: {error.reason}. Rename the file."
        ) from error
