"""How a model is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any, Literal, get_args

from vitgeom.backbones.device import check_device
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.seeding import checked_seed
from vitgeom.whole_numbers import whole_number

Precision = Literal["float32", "bfloat16"]

_RULES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "learning_rate": ("> 0", lambda value: value > 0),
    "clip_norm": ("> 0", lambda value: value > 0),
    "weight_decay": (">= 0", lambda value: value >= 0),
    "beta": (">= 0", lambda value: value >= 0),
    "warm_up": ("in [0, 1)", lambda value: 0 <= value < 1),
}


@dataclass(frozen=True)
class TrainingSettings:
    """Every number that a training depends on, beside learner and examples.

    Attributes:
        epochs: Most passes over the training images.
        batch_size: Images of a step, of all workers together.
        learning_rate: Of AdamW, at its height.
        weight_decay: Share of a weight matrix, per learning rate, that each step takes away; biases and scales keep theirs.
        warm_up: Share of all steps in which the learning rate rises from 0; then it falls along half a cosine.
        clip_norm: Largest norm of the gradient of all weights; longer ones are shortened to it.
        patience: Epochs without a higher selection figure on the held-out images after which training ends.
        seed: Of the order of images and of what a loss draws.
        precision: "bfloat16" computes under autocast; weights, optimiser and small dense algebra stay in float32.
        device: As PyTorch names it.
        beta: Weight of the second term of the learner's loss. A learner that has one is built with the same number.
    """

    epochs: int = 40
    batch_size: int = 8
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    warm_up: float = 0.05
    clip_norm: float = 1.0
    patience: int = 10
    seed: int = 0
    precision: str = "float32"
    device: str = "cpu"
    beta: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with.

        Raises:
            InvalidInput: A number is out of range.
            UnknownName: There is no such precision.
        """
        for name in ("epochs", "batch_size", "patience"):
            whole_number(name, getattr(self, name), at_least=1)
        checked_seed(self.seed)
        for name, (rule, holds) in _RULES.items():
            value = getattr(self, name)
            if not _is_finite(value) or not holds(value):
                raise InvalidInput(f"{name} must be a finite number {rule}, got {value!r}.")
        if self.precision not in get_args(Precision):
            raise UnknownName("precision", str(self.precision), get_args(Precision))
        if not isinstance(self.device, str):
            raise InvalidInput(f"device must be a name such as 'cpu' or 'cuda:0', got {self.device!r}.")

    def check_machine(self) -> None:
        """Refuse a device that this process has not; asked where training happens, not where it is planned.

        Raises:
            InvalidInput: No such device, or a precision that it does not offer.
        """
        device = check_device(self.device)
        if self.precision == "bfloat16" and device.type != "cuda":
            raise InvalidInput(
                f"precision='bfloat16' needs a CUDA device, got device={self.device!r}: elsewhere it is slower and less exact. Use precision='float32'."
            )

    def to_json(self) -> dict[str, Any]:
        """Return all settings by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TrainingSettings:
        """Rebuild from :meth:`to_json`.

        Raises:
            UnknownName: A key that is no setting.
            InvalidInput: A value is out of range.
        """
        known = [field.name for field in fields(cls)]
        for key in data:
            if key not in known:
                raise UnknownName("training setting", key, known)
        return cls(**data)


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
