"""How much memory a piece of code holds at most, in tensors it makes itself."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Follow every tensor that operations give inside the block, on any device.

    Attributes:
        peak: Largest sum of bytes held at once so far; scratch memory inside an operation is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._now = 0
        self._known: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            self._note(leaf, own=False)  # what was there before is not ours, and neither are views of it
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            self._note(leaf, own=True)
        return result

    def _note(self, leaf: object, *, own: bool) -> None:
        if not isinstance(leaf, Tensor) or leaf.untyped_storage()._cdata in self._known:
            return
        storage = leaf.untyped_storage()
        self._known[storage._cdata] = storage.nbytes() if own else 0
        self._now += self._known[storage._cdata]
        self.peak = max(self.peak, self._now)
        weakref.finalize(storage, self._drop, storage._cdata)

    def _drop(self, key: int) -> None:
        self._now -= self._known.pop(key, 0)
