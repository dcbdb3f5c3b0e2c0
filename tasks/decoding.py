"""Images of a range as batches, the next one decoded while the model works on this one.   B = batch, H W = pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import torch
from PIL import Image
from torch import Tensor

from vitgeom.data import Split
from vitgeom.errors import InvalidInput, VitgeomError


def image_batches(
    split: Split, *, preprocess: Callable[[Image.Image], Tensor], rows: Iterable[tuple[int, int]], name: str
) -> Iterator[Tensor]:
    """Yield [B, 3, H, W] float32 batches in order; two batches are in memory at most.

    One thread decodes ahead. It changes when work is done, not what is computed.

    Args:
        split: Where images come from.
        preprocess: Image -> [3, H, W].
        rows: Half-open row ranges, one per batch.
        name: Of the split, for messages.

    Raises:
        InvalidInput: An image that the index knew cannot be read now; the file is named.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode") as pool:
        current = None
        for first, last in rows:
            upcoming = pool.submit(_batch, split, preprocess, first, last, name)
            if current is not None:
                yield current.result()
            current = upcoming
        if current is not None:
            yield current.result()


def _batch(
    split: Split, preprocess: Callable[[Image.Image], Tensor], first: int, last: int, name: str
) -> Tensor:
    batch: Tensor | None = None
    for row in range(first, last):
        pixels = preprocess(_read(split, row, name))
        if batch is None:
            batch = torch.empty((last - first, *pixels.shape), dtype=torch.float32)
        batch[row - first] = pixels
    assert batch is not None, "a batch has at least one row"
    return batch


def _read(split: Split, row: int, name: str) -> Image.Image:
    try:
        return split.read(row)
    except VitgeomError:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidInput(
            f"image {split.sample_ids[row]!r} (row {row} of split {name!r}) could be read when the data set was indexed and cannot now: "
            f"{error}. Put the file back, or open the data set again, which indexes it afresh."
        ) from error
