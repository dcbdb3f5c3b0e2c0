from __future__ import annotations

from typing import Any

import pytest

from vitgeom.errors import CorruptData
from vitgeom.store.commit import Marker
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.manifest import Manifest


def _marker(split: str, start: int, *, seconds: float = 1.0, digit: str = "a") -> Marker:
    return Marker(
        split=split, start=start, stop=start + 4, chunks={"cls": [digit * 64]}, seconds=seconds, notes={}
    )


def _manifest(**markers: dict[int, Marker]) -> Manifest:
    return Manifest.of(address="features/d/b/0123", description={"x": 1}, markers=markers)


def test_the_digests_follow_the_definition() -> None:
    first, second = _marker("train", 0), _marker("train", 4)
    manifest = _manifest(train={0: first, 4: second})
    splits = {"train": {"n": 8, "digest": fingerprint([first.digest, second.digest])}}
    assert manifest.splits == splits
    assert manifest.digest == fingerprint(
        {"address": "features/d/b/0123", "description": {"x": 1}, "splits": splits}
    )
    assert manifest.num_rows == 8


def test_order_and_time_do_not_matter_and_content_does() -> None:
    manifest = _manifest(train={0: _marker("train", 0), 4: _marker("train", 4)}, val={0: _marker("val", 0)})
    same = _manifest(
        val={0: _marker("val", 0, seconds=7.0)}, train={4: _marker("train", 4), 0: _marker("train", 0)}
    )
    other = _manifest(
        train={0: _marker("train", 0), 4: _marker("train", 4, digit="b")}, val={0: _marker("val", 0)}
    )
    assert manifest == same
    assert manifest.to_json() == same.to_json()
    assert manifest.digest != other.digest


def test_a_manifest_survives_json_and_holds_no_times() -> None:
    manifest = _manifest(train={0: _marker("train", 0)})
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert set(manifest.to_json()) == {"digest", "address", "description", "splits", "rows"}


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "0" * 64},
        {"rows": 5},
        {"address": "elsewhere"},
        {"description": {}},
        {"splits": {}},
        {"splits": None},
    ],
)
def test_a_changed_manifest_is_damage(change: dict[str, Any]) -> None:
    value = {**_manifest(train={0: _marker("train", 0)}).to_json(), **change}
    with pytest.raises(CorruptData, match=r"manifest of .* is damaged.*vitgeom repair"):
        Manifest.from_json(value)


@pytest.mark.parametrize("value", [None, [], {}, "text"])
def test_what_is_no_manifest_is_damage(value: object) -> None:
    with pytest.raises(CorruptData, match=r"manifest of \? is damaged"):
        Manifest.from_json(value)
