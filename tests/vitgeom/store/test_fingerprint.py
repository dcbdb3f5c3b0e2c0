from __future__ import annotations

import hashlib

import numpy as np
import pytest

from vitgeom.errors import InvalidInput
from vitgeom.store.fingerprint import array_digest, canonical_json, fingerprint


def test_the_fingerprint_is_the_sha256_of_the_sorted_text() -> None:
    text = '{"a":[1,2.5,null,true],"b":{"c":"\\u00e4"}}'
    assert canonical_json({"b": {"c": "ä"}, "a": (1, 2.5, None, True)}) == text
    assert (
        fingerprint({"b": {"c": "ä"}, "a": [1, 2.5, None, True]}) == hashlib.sha256(text.encode()).hexdigest()
    )


def test_order_of_keys_does_not_matter_and_order_of_items_does() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint([1, 2]) != fingerprint([2, 1])


def test_numbers_of_different_kinds_differ() -> None:
    assert len({fingerprint(value) for value in (1, 1.0, "1", True, [1], None, "")}) == 7


def test_numpy_floats_that_are_python_floats_are_taken_and_others_refused() -> None:
    assert fingerprint({"x": np.float64(0.1)}) == fingerprint({"x": 0.1})
    with pytest.raises(InvalidInput, match=r"value\['x'\] is of type float32"):
        fingerprint({"x": np.float32(0.1)})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": {1: 2}}, r"value\['a'\] has the key 1 of type int: keys must be text"),
        ({"a": [0.0, float("nan")]}, r"value\['a'\]\[1\] is nan"),
        ({"a": float("inf")}, "is inf: a description holds finite numbers only"),
        ({"a": b"bytes"}, "is of type bytes"),
        ({"a": {1, 2}}, "is of type set"),
        ({"a": np.zeros(2)}, r"is of type ndarray.*\.tolist"),
    ],
)
def test_what_has_no_fingerprint_is_refused_with_its_place(value: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        fingerprint(value)


def test_array_digests_see_values_dtype_and_shape_only() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    same: list[np.ndarray] = [
        array.copy(order="F"),
        np.repeat(array, 2, axis=0)[::2],
        array.astype(">f4"),
        array[:, ::-1][:, ::-1],
    ]
    assert {array_digest(other) for other in same} == {array_digest(array)}
    others: list[np.ndarray] = [
        array.reshape(6, 4),
        array.view(np.int32),
        array.astype(np.float64),
        array + 1,
        array[:3],
        array.T,
    ]
    assert len({array_digest(other) for other in [array, *others]}) == 7


def test_array_digest_against_the_definition() -> None:
    array = np.array([[1, -2]], dtype=np.int64)
    data = b"<i8[1, 2]" + (1).to_bytes(8, "little") + (-2).to_bytes(8, "little", signed=True)
    assert array_digest(array) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_empty_and_scalar_arrays_have_digests(shape: tuple[int, ...]) -> None:
    assert len(array_digest(np.zeros(shape, dtype=np.float16))) == 64


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(InvalidInput, match="has no digest"):
        array_digest(np.array([None, {}], dtype=object))
