"""Training examples: what a decoder reacts to at each image.   b = images of a batch, N = tokens, D = width, R = directions stored."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Int64
from torch import Tensor

from vitgeom.errors import InvalidInput


@runtime_checkable
class Examples(Protocol):
    """Images by number, in memory, in a store, or made when asked for.

    Arrays have the names of the store of targets and one row per image:

    ================== ============ ==========================================================================
    features           [b, N, D]    Tokens of one layer, prefix tokens first; finite.
    right_vectors      [b, N, D, R] v_j, strongest first; columns from ``num_found`` on are ignored.
    singular_values    [b, R]       sigma_j, descending.
    num_found          [b]          How many of the R directions there are; 0 for an image to which nothing reacts.
    importance         [b, N]       imp*_t >= 0.
    ================== ============ ==========================================================================

    A learner asks for what it needs; others may be there. The same rows give the same batch whenever asked.

    Attributes:
        num_images: Rows that can be asked for, 0 .. num_images - 1.
    """

    @property
    def num_images(self) -> int:
        """Rows that can be asked for."""
        ...

    def batch(self, rows: Int64[Tensor, " b"]) -> dict[str, Tensor]:
        """Return the arrays of these images, in this order.

        Args:
            rows: Numbers in 0 .. num_images - 1.
        """
        ...


def check_examples(examples: object, *, name: str) -> None:
    """Refuse what is no set of examples, or an empty one.

    Args:
        examples: What the caller gave.
        name: Of the argument.

    Raises:
        InvalidInput: It has not what :class:`Examples` has, or no image.
    """
    if not isinstance(examples, Examples):
        raise InvalidInput(
            f"{name} must have num_images and batch(rows), got {type(examples).__name__}. Wrap arrays in InMemoryExamples."
        )
    if examples.num_images < 1:
        raise InvalidInput(f"{name} must hold at least one image, got {examples.num_images}.")


def needed(batch: dict[str, Tensor], *names: str) -> tuple[Tensor, ...]:
    """Return arrays of a batch by name.

    Args:
        batch: From :meth:`Examples.batch`.
        *names: What a learner needs.

    Raises:
        InvalidInput: One is not there.
    """
    missing = [name for name in names if name not in batch]
    if missing:
        raise InvalidInput(
            f"batch lacks {', '.join(missing)}; it holds {', '.join(sorted(batch))}. Give examples that have them."
        )
    return tuple(batch[name] for name in names)
