"""Workers that train one model together; one alone is the usual case."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class WorkerGroup(Protocol):
    """What the loop needs of other workers; ``torch.distributed`` gives it in three lines.

    Attributes:
        rank: Of this worker, 0 .. world_size - 1.
        world_size: Workers in all.
    """

    @property
    def rank(self) -> int:
        """Number of this worker."""
        ...

    @property
    def world_size(self) -> int:
        """Workers in all."""
        ...

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all workers, in place, on its own device.

        Args:
            tensor: Of the same shape and dtype on every worker; all workers call in the same order.
        """
        ...


class Alone:
    """One worker."""

    rank = 0
    world_size = 1

    def all_reduce(self, tensor: Tensor) -> None:
        """Leave the tensor as it is.

        Args:
            tensor: Any.
        """
