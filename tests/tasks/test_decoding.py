"""Batches decoded ahead are the batches decoded in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tasks.decoding import image_batches
from vitgeom.data import Split
from vitgeom.errors import InvalidInput


def split_of(read: Callable[[int], Image.Image], count: int = 10) -> Split:
    numbers = np.zeros(count, dtype=np.int64)
    return Split(
        sample_ids=[f"image-{row}.png" for row in range(count)], labels=numbers, groups=numbers, read=read
    )


def grey(row: int) -> Image.Image:
    return Image.new("RGB", (4, 4), (row, row, row))


def to_tensor(image: Image.Image) -> Tensor:
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).float()


def test_batches_hold_the_rows_in_order() -> None:
    batches = list(
        image_batches(split_of(grey), preprocess=to_tensor, rows=[(0, 3), (3, 6), (6, 7)], name="train")
    )
    assert [tuple(batch.shape) for batch in batches] == [(3, 3, 4, 4), (3, 3, 4, 4), (1, 3, 4, 4)]
    assert [float(value) for batch in batches for value in batch[:, 0, 0, 0]] == [0, 1, 2, 3, 4, 5, 6]


def test_no_rows_give_no_batches() -> None:
    assert list(image_batches(split_of(grey), preprocess=to_tensor, rows=[], name="train")) == []


def test_at_most_one_batch_is_decoded_ahead() -> None:
    read: list[int] = []

    def remember(row: int) -> Image.Image:
        read.append(row)
        return grey(row)

    for number, _ in enumerate(
        image_batches(
            split_of(remember), preprocess=to_tensor, rows=[(r, r + 1) for r in range(10)], name="t"
        )
    ):
        time.sleep(0.02)
        assert max(read) <= number + 1


def test_decoding_ends_with_the_consumer() -> None:
    batches = image_batches(split_of(grey), preprocess=to_tensor, rows=[(0, 1), (1, 2), (2, 3)], name="train")
    next(batches)
    batches.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("decode")]


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("no such file"), Image.UnidentifiedImageError("no image"), SyntaxError("broken PNG")],
)
def test_a_file_that_went_bad_since_the_index_is_named(error: Exception) -> None:
    def fail(row: int) -> Image.Image:
        if row == 4:
            raise error
        return grey(row)

    with pytest.raises(
        InvalidInput,
        match=r"image 'image-4.png' \(row 4 of split 'val'\) could be read when .* Put the file back",
    ):
        list(image_batches(split_of(fail), preprocess=to_tensor, rows=[(0, 3), (3, 6)], name="val"))
