"""Tokens and outputs of many images, computed once and kept in files.   n = images, N = tokens, W = numbers per token."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.probes.row_file import RowFile

BATCH = 32


class TokenExamples:
    """What a bottleneck learns from: ``features`` [n, N, W] and the head's ``output`` [n, ...] at them.

    Both lie in nameless temporary files (``TMPDIR``), n (N W + M) numbers in all; a batch is read when asked for. For sets that fit into
    memory ``InMemoryExamples`` does the same.

    Args:
        joined: The head on its taps.
        images: Preprocessed pixels [3, H, W] each; read once, a few at a time.
        sample_ids: Names, for messages; None for numbers.

    Attributes:
        num_images: n.

    Raises:
        InvalidInput: No image, an image of another size, or one whose pixels, tokens or output are not finite (it is named).
        ResourceShortage: The disk is full.
    """

    def __init__(
        self,
        joined: JoinedTaps,
        images: Iterable[Float[Tensor, "3 h w"]],
        *,
        sample_ids: Sequence[str] | None = None,
    ) -> None:
        self._joined, self._names = joined, sample_ids
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._files: dict[str, RowFile] = {}
        self.num_images = 0
        for block in _blocks(images):
            self._check(block, what="pixels")
            tokens = joined.tokens(block)
            self._append("features", tokens)
            with torch.no_grad():
                self._append("output", joined.read(tokens))
            self.num_images += len(block)
        if sample_ids is not None and len(sample_ids) != self.num_images:
            raise InvalidInput(
                f"sample_ids must name every image, got {len(sample_ids)} names for {self.num_images} images."
            )
        if not self.num_images:
            raise InvalidInput("images must hold at least one picture, got none.")

    def batch(self, rows: Int64[Tensor, " b"]) -> dict[str, Tensor]:
        """Return the arrays of these images.

        Args:
            rows: Numbers in 0 .. num_images - 1.
        """
        return {
            name: file.gather(rows).unflatten(1, self._shapes[name]) for name, file in self._files.items()
        }

    def _append(self, name: str, array: Tensor) -> None:
        self._check(array, what=name)
        if name not in self._files:
            self._shapes[name] = tuple(array.shape[1:])
            self._files[name] = RowFile(width=math.prod(array.shape[1:]), dtype=array.dtype)
        self._files[name].append(array.flatten(1))

    def _check(self, array: Tensor, *, what: str) -> None:
        good = array.flatten(1).isfinite().all(dim=1)
        if not bool(good.all()):
            row = self.num_images + int((~good).nonzero()[0])
            named = self._names is not None and row < len(self._names)
            image = repr(self._names[row]) if self._names is not None and named else row
            raise InvalidInput(
                f"{what} of image {image} are not finite at decoder {self._joined.name!r}. Leave it out, or repair it."
            )


def _blocks(images: Iterable[Tensor]) -> Iterator[Tensor]:
    rest = iter(images)
    while block := list(islice(rest, BATCH)):
        yield torch.stack(block)
