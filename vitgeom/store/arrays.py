"""Zarr arrays as the registry wants them: made, checked on opening, written and read in whole chunks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import zarr
from zarr.codecs import Crc32cCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import MemoryStore

from vitgeom.errors import CorruptData, StoreError
from vitgeom.store.byte_store import ByteStore
from vitgeom.store.row_layout import RowLayout
from vitgeom.store.schema import SCHEMA_VERSION, ArraySpec
from vitgeom.store.uri import Root

METADATA = "zarr.json"
# No compression: features hardly compress, and raw bytes plus checksum are the same under every library version.
_CODECS = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]


def group_metadata(*, split: str) -> bytes:
    """Return the metadata document of a split's group."""
    store = MemoryStore()
    zarr.create_group(store=store, attributes={"split": split, "schema": SCHEMA_VERSION})
    return _document(store, METADATA)


def array_metadata(*, spec: ArraySpec, layout: RowLayout, rows: int) -> bytes:
    """Return the metadata document of an array.

    Zarr composes it in memory; writing it as one object spares a dozen look-ups on an object store.

    Args:
        spec: What to describe.
        layout: Shapes and chunks.
        rows: Of the split.
    """
    store = MemoryStore()
    zarr.create_array(
        store=store,
        name=spec.name,
        shape=layout.shape(spec, rows),
        chunks=layout.chunks(spec),
        dtype=spec.numpy_dtype(layout.storage_dtype),
        fill_value=float("nan") if spec.is_float else 0,
        compressors=[Crc32cCodec()],
        dimension_names=list(spec.dims),
        attributes={"unit": spec.unit, "meaning": spec.meaning, "source": spec.source},
    )
    return _document(store, f"{spec.name}/{METADATA}")


def _document(store: MemoryStore, key: str) -> bytes:
    buffer = sync(store.get(key, prototype=default_buffer_prototype()))
    assert buffer is not None
    return buffer.to_bytes()


def open_array(root: Root, *, spec: ArraySpec, layout: RowLayout, rows: int) -> Any:
    """Return the Zarr array after comparing its metadata with the registry.

    All-fill chunks are written like any other, so that a chunk's absence always means that it was never written.

    Raises:
        CorruptData: The metadata is missing, unreadable or differs.
    """
    try:
        array = zarr.open_array(store=ByteStore(root), path=spec.name, mode="r+", zarr_format=3)
    except StoreError:
        raise
    except Exception as error:
        raise CorruptData(
            _metadata_message(root, spec, f"it cannot be opened ({type(error).__name__})")
        ) from error
    differing = _differences(array, spec=spec, layout=layout, rows=rows)
    if differing:
        raise CorruptData(_metadata_message(root, spec, "; ".join(differing)))
    return array.with_config({"write_empty_chunks": True})


def _differences(array: Any, *, spec: ArraySpec, layout: RowLayout, rows: int) -> list[str]:
    fill = float(array.fill_value)
    found = {
        "shape": tuple(array.shape),
        "chunks": tuple(array.chunks),
        "dtype": np.dtype(array.dtype),
        "dims": tuple(array.metadata.dimension_names or ()),
        "codecs": [codec.to_dict() for codec in array.metadata.codecs],
        "fill": "nan" if math.isnan(fill) else fill,
        "sharded": array.shards is not None,
    }
    dtype = spec.numpy_dtype(layout.storage_dtype)
    expected = {
        "shape": layout.shape(spec, rows),
        "chunks": layout.chunks(spec),
        "dtype": dtype,
        "dims": spec.dims,
        "codecs": _CODECS if dtype.itemsize > 1 else [{"name": "bytes"}, {"name": "crc32c"}],
        "fill": "nan" if spec.is_float else 0.0,
        "sharded": False,
    }
    return [
        f"{key} is {found[key]}, expected {expected[key]}" for key in expected if found[key] != expected[key]
    ]


def _metadata_message(root: Root, spec: ArraySpec, problem: str) -> str:
    return (
        f"metadata of array {spec.name!r} at {root.uri}/{spec.name}/{METADATA} is damaged: {problem}."
        " Run `vitgeom repair`, which rewrites it."
    )
