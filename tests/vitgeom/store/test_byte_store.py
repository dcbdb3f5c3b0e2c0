from __future__ import annotations

import pytest
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from vitgeom.errors import CorruptData
from vitgeom.store.byte_store import ByteStore, is_chunk_key
from vitgeom.store.uri import Root

PROTOTYPE = default_buffer_prototype()


def _bytes(store: ByteStore, key: str, byte_range: ByteRequest | None = None) -> bytes | None:
    buffer = sync(store.get(key, PROTOTYPE, byte_range))
    return None if buffer is None else buffer.to_bytes()


def test_objects_are_set_read_listed_and_deleted(memory_root: Root) -> None:
    store = ByteStore(memory_root)

    async def names() -> tuple[list[str], list[str], list[str]]:
        everything = [key async for key in store.list()]
        below = [key async for key in store.list_prefix("a")]
        direct = [name async for name in store.list_dir("a")]
        return everything, below, direct

    for key in ("a/c/0", "a/zarr.json", "zarr.json"):
        sync(store.set(key, PROTOTYPE.buffer.from_bytes(key.encode())))
    assert _bytes(store, "a/c/0") == b"a/c/0"
    assert sync(names()) == (
        ["a/c/0", "a/zarr.json", "zarr.json"],
        ["a/c/0", "a/zarr.json"],
        ["c", "zarr.json"],
    )
    assert sync(store.exists("a/zarr.json"))
    sync(store.delete("a/zarr.json"))
    assert not sync(store.exists("a/zarr.json"))
    assert store == ByteStore(memory_root)
    assert store != ByteStore(memory_root.join("a"))


@pytest.mark.parametrize(
    ("byte_range", "part"),
    [
        (None, b"0123456789"),
        (RangeByteRequest(2, 5), b"234"),
        (OffsetByteRequest(7), b"789"),
        (SuffixByteRequest(4), b"6789"),
        (SuffixByteRequest(0), b""),
        (SuffixByteRequest(99), b"0123456789"),
    ],
)
def test_parts_of_objects(memory_root: Root, byte_range: ByteRequest | None, part: bytes) -> None:
    memory_root.write_bytes("x", b"0123456789")
    store = ByteStore(memory_root)
    assert _bytes(store, "x", byte_range) == part
    several = sync(store.get_partial_values(PROTOTYPE, [("x", byte_range), ("zarr.json", None)]))
    assert several[0] is not None
    assert several[0].to_bytes() == part
    assert several[1] is None


def test_a_missing_chunk_is_damage_and_missing_metadata_is_none(memory_root: Root) -> None:
    store = ByteStore(memory_root)
    assert _bytes(store, "cls/zarr.json") is None
    with pytest.raises(CorruptData, match="cls/c/0/1/0 is missing although its rows were committed"):
        _bytes(store, "cls/c/0/1/0")


def test_chunk_keys_are_told_from_metadata() -> None:
    assert is_chunk_key("cls/c/0/0/0")
    assert is_chunk_key("c/0")
    assert not is_chunk_key("cls/zarr.json")
    assert not is_chunk_key("c/zarr.json")
