"""Published heads detach what they feed back to themselves, to train more cheaply; a Jacobian must not leave that path out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class WholeDerivative(TorchFunctionMode):
    """Inside ``with WholeDerivative():`` the method ``detach`` hands back the tensor itself; values stay what they are."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call ``func``, unless it is ``Tensor.detach``."""
        if func is torch.Tensor.detach:
            return args[0]
        return func(*args, **(kwargs or {}))
