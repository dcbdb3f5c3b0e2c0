"""What the training loop asks of a model with its loss."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Generator, Tensor, nn

from vitgeom.metric.training.examples import Examples


@runtime_checkable
class Learner(Protocol):
    """A module, what it is to learn, and how it is judged.

    A learner whose loss has a second, weighted term has its weight as attribute ``beta``; the loop refuses settings with another one.

    Attributes:
        module: Trained in place. Everything that must survive an interruption is a parameter or a buffer of it.
        figure: Name of the figure of :meth:`judge` that decides which epoch was best; higher is better.
    """

    figure: str

    @property
    def module(self) -> nn.Module:
        """What is trained."""
        ...

    def prepare(self, examples: Examples) -> None:
        """Fit buffers (means, scales) to the training images, on the CPU, before the first step; not called when training is resumed.

        Args:
            examples: All training images.
        """
        ...

    def loss(self, batch: dict[str, Tensor], *, generator: Generator) -> dict[str, Tensor]:
        """Return the terms of the loss as scalars; "total" is what is minimised.

        Every term is a mean over the images of the batch of something that depends on one image alone: then workers that share a batch find the same gradient as one alone.

        Args:
            batch: From :meth:`Examples.batch`, on the module's device, and ``rows`` [b], the images' numbers.
            generator: The only source of randomness; one and the same on all workers. What is drawn for an image comes from :func:`image_generators`.
        """
        ...

    def judge(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return figures per image, each [b]; NaN where a figure is undefined for an image.

        Args:
            batch: As for :meth:`loss`; the module is in evaluation mode and no graph is kept.
        """
        ...
