"""The rows of one layer where the solver wants them: in memory if it fits, otherwise in a temporary file.

n = rows, m = further rows, b = rows of a block, D = width.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.layers import LayerSource, RowSource, read_layer
from vitgeom.probes.memory import chunk_rows, fits_in_memory, stream_chunk_bytes
from vitgeom.probes.row_access import read_rows, row_blocks
from vitgeom.probes.row_file import RowFile, Rows


@contextmanager
def staged_layer(
    source: LayerSource | RowSource,
    layer: int,
    *,
    name: str,
    rows: int,
    num_classes: int,
    byte_budget: int,
    device: torch.device | None = None,
) -> Iterator[Rows]:
    """Give one layer as a tensor, or as a file that is removed afterwards if it is too large for the budget.

    Only a source of rows is put into a file, which then holds ``n D`` values in their own dtype; each row is read from
    the source once. A source of whole layers is read as one tensor whatever its size.

    Args:
        source: Where the features are.
        layer: Which layer (0-based).
        name: Name of the argument, for error messages.
        rows: n, as the labels have it.
        num_classes: K of the probes to fit.
        byte_budget: Memory to aim for.
        device: Where to compute; the features' own device if None.

    Raises:
        InvalidInput: Wrong shape, not floating point, or a NaN or infinite value (row and layer named).
        ResourceShortage: The file cannot be written.
    """
    if isinstance(source, RowSource):
        if source.num_rows != rows:
            raise InvalidInput(
                f"{name} at layer {layer} must have shape [{rows}, D] to match its {rows} labels, got {source.num_rows} rows."
            )
        width = _width(source, layer)
        if rows and not fits_in_memory(
            num_rows=rows, width=width, num_classes=num_classes, byte_budget=byte_budget
        ):
            block_rows = chunk_rows(width=width, columns=0, chunk_bytes=stream_chunk_bytes(byte_budget))
            with _file_of(source, layer, name=name, block_rows=block_rows, device=device) as file:
                yield file
            return
    if isinstance(source, LayerSource):
        yield read_layer(source, layer, name=name, rows=rows, device=device)
    else:
        yield read_rows(source, layer, 0, rows, name=name, device=device)


@contextmanager
def stacked_rows(
    x: Rows, more: Float[Tensor, "m D"] | RowFile, *, keep: Bool[Tensor, " m"], block_rows: int
) -> Iterator[Rows]:
    """Give all rows of the first and the kept ones of the second, in a file of their own if either is in a file.

    Args:
        x: Rows.
        more: Further rows.
        keep: Which of these.
        block_rows: Rows in memory at a time where a file is written.
    """
    if isinstance(x, Tensor) and isinstance(more, Tensor):
        yield torch.cat([x, more[keep.to(more.device)]])
        return
    dtype = torch.promote_types(x.dtype, more.dtype)
    with RowFile(width=x.shape[1], dtype=dtype, device=x.device) as both:
        for block in x.split(block_rows):
            both.append(block)
        for start in range(0, len(more), block_rows):
            rows = slice(start, start + block_rows)
            both.append(more[rows][keep[rows].to(more.device)])
        yield both


def _file_of(
    source: RowSource, layer: int, *, name: str, block_rows: int, device: torch.device | None
) -> RowFile:
    """Copy one layer into a file."""
    file: RowFile | None = None
    for _, block in row_blocks(source, layer, name=name, block_rows=block_rows):
        if file is None:
            file = RowFile(width=block.shape[1], dtype=block.dtype, device=device or block.device)
        if block.shape[1] != file.shape[1]:
            raise InvalidInput(
                f"{name} must have the same width in all rows of layer {layer}, got {block.shape[1]} after {file.shape[1]}."
            )
        file.append(block)
    assert file is not None, "there is at least one block"
    return file


def _width(source: RowSource, layer: int) -> int:
    """Return D as the first row has it; what is wrong with it is for the reading to say."""
    shape = source.rows(layer, 0, min(1, source.num_rows)).shape
    return int(shape[-1]) if len(shape) > 0 else 0
