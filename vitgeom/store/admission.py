"""What may enter the store: the right arrays, in the right shape, finite before and after the cast to the storage dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.store.row_layout import RowLayout
from vitgeom.store.sample_ids import encode_ids
from vitgeom.store.schema import ArraySpec

_SHOWN_ROWS = 5


def admit(
    arrays: Mapping[str, np.ndarray | Sequence[str]],
    *,
    layout: RowLayout,
    split: str,
    start: int,
    stop: int,
) -> dict[str, np.ndarray]:
    """Return one range's arrays in the dtypes of the disk.

    Args:
        arrays: One entry per array of the layout, rows first. Sample ids as texts or as encoded bytes.
        layout: Shapes and dtypes.
        split: For messages.
        start: First row of the range in its split.
        stop: Row after the last.

    Raises:
        InvalidInput: An array is missing, unknown, or of the wrong shape or kind.
        NumericalFailure: A feature is not finite, or leaves the storage dtype's range.
    """
    expected = [spec.name for spec in layout.specs]
    missing, unknown = sorted(set(expected) - set(arrays)), sorted(set(arrays) - set(expected))
    if missing or unknown:
        raise InvalidInput(
            f"arrays must be exactly {', '.join(expected)}; missing: {', '.join(missing) or 'none'}, unknown:"
            f" {', '.join(unknown) or 'none'}."
        )
    return {
        spec.name: _admit_one(
            arrays[spec.name], spec=spec, layout=layout, split=split, start=start, stop=stop
        )
        for spec in layout.specs
    }


def _admit_one(
    given: np.ndarray | Sequence[str],
    *,
    spec: ArraySpec,
    layout: RowLayout,
    split: str,
    start: int,
    stop: int,
) -> np.ndarray:
    if spec.name == "sample_id" and not (isinstance(given, np.ndarray) and given.dtype == np.uint8):
        given = encode_ids([str(text) for text in given], width=layout.sample_id_width)
    if not isinstance(given, np.ndarray):
        raise InvalidInput(f"array {spec.name!r} must be a NumPy array, got {type(given).__name__}.")
    shape = layout.shape(spec, stop - start)
    if given.shape != shape:
        raise InvalidInput(
            f"array {spec.name!r} has shape {given.shape}, expected {shape} ({', '.join(spec.dims)}) for rows {start}:{stop}"
            f" of split {split!r}."
        )
    dtype = spec.numpy_dtype(layout.storage_dtype)
    if spec.is_float:
        return _finite(given, dtype=dtype, spec=spec, layers=layout.layers(spec), split=split, start=start)
    if not np.can_cast(given.dtype, dtype, casting="safe") or given.dtype == np.bool_:
        raise InvalidInput(
            f"array {spec.name!r} has dtype {given.dtype}, which does not fit {dtype}: pass whole numbers."
        )
    return given.astype(dtype, copy=False)


def _finite(
    given: np.ndarray,
    *,
    dtype: np.dtype,
    spec: ArraySpec,
    layers: Sequence[int | None],
    split: str,
    start: int,
) -> np.ndarray:
    if given.dtype.kind != "f":
        raise InvalidInput(f"array {spec.name!r} has dtype {given.dtype}, expected floating point.")
    where = _first_bad(given, layers=layers, start=start)
    if where:
        raise NumericalFailure(
            f"array {spec.name!r} of split {split!r} holds NaN or infinity {where}: nothing was stored. Compute these rows in float32"
            " (precision=float32), and check the images."
        )
    with np.errstate(over="ignore"):
        stored = given.astype(dtype, copy=False)
    where = _first_bad(stored, layers=layers, start=start)
    if where:
        limit = float(np.finfo(dtype).max)
        way_out = (
            "Store as float32 (storage=float32)."
            if dtype.itemsize < 4
            else "Check the backbone: no usual activation is so large."
        )
        raise NumericalFailure(
            f"array {spec.name!r} of split {split!r} does not fit {dtype} (largest {limit:.5g}) {where}: nothing was stored. {way_out}"
        )
    return stored


def _first_bad(array: np.ndarray, *, layers: Sequence[int | None], start: int) -> str:
    """Name layer and first rows of non-finite values, or return ""; works layer by layer to stay small."""
    for place, layer in enumerate(layers):
        values = array if layer is None else array[:, place]
        good = np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if not good.all():
            rows = (np.flatnonzero(~good) + start).tolist()
            more = f" and {len(rows) - _SHOWN_ROWS} more" if len(rows) > _SHOWN_ROWS else ""
            prefix = "in " if layer is None else f"in layer {layer}, "
            return (
                f"{prefix}row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:_SHOWN_ROWS]))}{more}"
            )
    return ""
