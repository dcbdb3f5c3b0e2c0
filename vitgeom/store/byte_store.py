"""Zarr's view of a Root: every byte of every array passes here, under the Root's own errors, deadlines and atomic writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype

from vitgeom.errors import CorruptData
from vitgeom.store.uri import Root


class ByteStore(Store):
    """A Zarr store over a Root.

    Zarr reads a missing chunk as the fill value; here, where a chunk is read only after its rows were committed, it is damage.
    """

    supports_writes = True
    supports_deletes = True
    supports_listing = True

    def __init__(self, root: Root) -> None:
        super().__init__(read_only=False)
        self.root = root

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByteStore) and self.root == other.root

    def __repr__(self) -> str:
        return f"ByteStore({self.root.uri!r})"

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a part of it, or None for missing metadata."""
        data = await asyncio.to_thread(self.root.get, key)
        if data is None:
            if is_chunk_key(key):
                raise CorruptData(f"{self.root.uri}/{key} is missing although its rows were committed.")
            return None
        return prototype.buffer.from_bytes(_part(data, byte_range))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return several parts, one after the other."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Return True when there is such an object."""
        return await asyncio.to_thread(self.root.exists, key)

    async def set(self, key: str, value: Buffer) -> None:
        """Write an object whole."""
        await asyncio.to_thread(self.root.write_bytes, key, value.as_numpy_array().data)

    async def delete(self, key: str) -> None:
        """Remove an object."""
        await asyncio.to_thread(self.root.remove, key)

    async def list(self) -> AsyncIterator[str]:
        """Yield every key."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield every key below a prefix."""
        folder = prefix.strip("/")
        for name in await asyncio.to_thread(self.root.list, folder):
            key = f"{folder}/{name}" if folder else name
            if await self.exists(key):
                yield key
            else:
                async for below in self.list_prefix(key):
                    yield below

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a prefix."""
        for name in await asyncio.to_thread(self.root.list, prefix.strip("/")):
            yield name


def is_chunk_key(key: str) -> bool:
    """Return True for ``<array>/c/...``, False for metadata."""
    return "/c/" in f"/{key}" and not key.endswith("zarr.json")


def _part(data: bytes, byte_range: ByteRequest | None) -> bytes:
    if byte_range is None:
        return data
    if isinstance(byte_range, RangeByteRequest):
        return data[byte_range.start : byte_range.end]
    if isinstance(byte_range, OffsetByteRequest):
        return data[byte_range.offset :]
    if isinstance(byte_range, SuffixByteRequest):
        return data[-byte_range.suffix :] if byte_range.suffix else b""
    raise TypeError(f"unknown byte range {byte_range!r}")
