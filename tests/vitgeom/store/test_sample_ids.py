from __future__ import annotations

import os

import numpy as np
import pytest

from vitgeom.errors import InvalidInput
from vitgeom.store.sample_ids import decode_ids, encode_ids, widest_id

NAMES = ["a", "flower/bild ä.png", "日本.jpg", "with spaces # and %", os.fsdecode(b"latin-\xe9.png")]


def test_names_come_back_whatever_their_letters() -> None:
    width = widest_id(NAMES)
    encoded = encode_ids(NAMES, width=width)
    assert encoded.dtype == np.uint8
    assert encoded.shape == (5, width)
    assert decode_ids(encoded) == NAMES


def test_the_bytes_are_utf8_padded_with_zeros() -> None:
    assert bytes(encode_ids(["ä"], width=4)[0]) == b"\xc3\xa4\x00\x00"
    assert bytes(encode_ids([os.fsdecode(b"\xe9")], width=1)[0]) == b"\xe9"


def test_no_names_are_no_rows() -> None:
    assert encode_ids([], width=3).shape == (0, 3)
    assert decode_ids(np.zeros((0, 3), dtype=np.uint8)) == []


def test_unfit_names_are_refused_with_their_row() -> None:
    with pytest.raises(
        InvalidInput, match=r"sample id 'abcd' \(row 1\) needs 4 bytes but sample_id_width is 3"
    ):
        encode_ids(["abc", "abcd"], width=3)
    with pytest.raises(InvalidInput, match=r"sample id '' \(row 0\) must be non-empty"):
        encode_ids([""], width=3)
    with pytest.raises(InvalidInput, match="free of the zero character"):
        widest_id(["a\0b"])
    with pytest.raises(InvalidInput, match="is no valid text"):
        widest_id(["\ud800"])
    with pytest.raises(InvalidInput, match="ids is empty"):
        widest_id([])
