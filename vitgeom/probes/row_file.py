"""Rows of fixed width in a temporary file, for matrices that must not be in memory.   n = rows, b = rows of a block, D = width."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from types import TracebackType

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vitgeom.errors import ResourceShortage


class RowFile:
    """A matrix that is written block by block at its end and read by slices of rows, like a tensor.

    The file lies in the folder for temporary files (``TMPDIR``) and takes ``n D`` values. It is open and nameless, so the
    system removes it when this object is closed, collected, or its process dies in whatever way. Rows are read into
    ordinary memory and not mapped: pages of a map would count as resident. Where that folder is a file system in memory,
    the file is memory all the same: point TMPDIR to a disk.

    Attributes:
        dtype: Of the values, in the file as well.
        device: Where rows come back.
    """

    def __init__(self, *, width: int, dtype: torch.dtype, device: torch.device | None = None) -> None:
        """Open an empty file.

        Args:
            width: D.
            dtype: Any floating-point one.
            device: Where rows are to come back; the CPU if None.

        Raises:
            ResourceShortage: No temporary file can be made.
        """
        self._width, self.dtype = width, dtype
        self.device = device or torch.device("cpu")
        self._num_rows = 0
        try:
            self._file = tempfile.TemporaryFile(prefix="vitgeom-rows-", buffering=0)  # noqa: SIM115 (closed below)
        except OSError as error:
            raise self._shortage(error, rows=0) from error
        self._close = weakref.finalize(self, self._file.close)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, D)."""
        return self._num_rows, self._width

    def __len__(self) -> int:
        return self._num_rows

    def append(self, rows: Float[Tensor, "b D"]) -> None:
        """Write rows after the last.

        Args:
            rows: Of the file's width; cast to its dtype.

        Raises:
            ResourceShortage: The disk is full, or the file cannot be written for another reason.
        """
        assert rows.shape[1] == self._width, f"rows of width {rows.shape[1]} in a file of width {self._width}"
        left = _bytes_of(rows.detach().to("cpu", self.dtype).contiguous())
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise self._shortage(error, rows=len(rows)) from error
        self._num_rows += len(rows)

    def __getitem__(self, rows: slice) -> Float[Tensor, "b D"]:
        """Return a copy of consecutive rows.

        Args:
            rows: A slice without a step.
        """
        start, stop, step = rows.indices(self._num_rows)
        assert step == 1, f"rows must be consecutive, got step {step}"
        block = torch.empty(max(0, stop - start), self._width, dtype=self.dtype)
        self._read(_bytes_of(block), row=start)
        return block.to(self.device)

    def gather(self, index: Int64[Tensor, " b"]) -> Float[Tensor, "b D"]:
        """Return a copy of some rows in the order asked for; they are read in the order in which they lie.

        Args:
            index: Row numbers, from 0; any may come several times.
        """
        assert not len(index) or 0 <= int(index.min()) <= int(index.max()) < self._num_rows, (
            f"rows must lie in 0..{self._num_rows - 1}"
        )
        block = torch.empty(len(index), self._width, dtype=self.dtype)
        memory, size = _bytes_of(block), self._width * self.dtype.itemsize
        order = index.argsort()
        for place, row in zip(order.tolist(), index[order].tolist(), strict=True):
            self._read(memory[place * size : (place + 1) * size], row=row)
        return block.to(self.device)

    def _read(self, left: memoryview, *, row: int) -> None:
        """Fill memory from the first value of a row on."""
        place = row * self._width * self.dtype.itemsize
        while left:
            got = os.preadv(self._file.fileno(), [left], place)
            assert got > 0, f"the temporary file ends behind row {row}"
            left, place = left[got:], place + got

    def split(self, rows: int) -> Iterator[Float[Tensor, "b D"]]:
        """Yield consecutive blocks.

        Args:
            rows: Rows of a block; the last may be shorter.
        """
        for start in range(0, self._num_rows, rows):
            yield self[start : start + rows]

    def close(self) -> None:
        """Give the disk space back; nothing can be read any more."""
        self._close()

    def __enter__(self) -> RowFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _shortage(self, error: OSError, *, rows: int) -> ResourceShortage:
        row_bytes = self._width * self.dtype.itemsize
        return ResourceShortage(
            f"rows that do not fit byte_budget could not be put into a temporary file in {tempfile.gettempdir()} "
            f"({self._num_rows * row_bytes} bytes were written, {rows * row_bytes} more were to follow): {error}. Free "
            "space there, set the environment variable TMPDIR to a folder on a larger disk, or raise byte_budget so that "
            "a layer is solved in memory."
        )


def _bytes_of(block: Float[Tensor, "b D"]) -> memoryview:
    """Return the memory of a contiguous tensor on the CPU, any dtype, as bytes."""
    raw: np.ndarray = block.view(torch.uint8).numpy()
    return raw.reshape(-1).data if raw.size else memoryview(b"")


Rows = Float[Tensor, "n D"] | RowFile
"""Rows of one layer, in memory or in a file; both know ``len``, ``shape``, ``split`` and slices of rows."""
