"""Where a training stands after an epoch, as one file from which it goes on bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.training.report import EpochReport
from vitgeom.metric.training.settings import TrainingSettings
from vitgeom.tensor_file import packed, read_whole, unpacked, write_whole

_KIND = "training state"
_VERSION = 1


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything that the next epoch depends on.

    Attributes:
        learner: Class name.
        settings: Of the training.
        num_images: Training images.
        epoch: Last one that is finished.
        steps: Of the optimiser.
        weights: State of the module, buffers included.
        moments: Of the optimiser.
        best_weights: State of the module after the best epoch; empty while no epoch had a defined selection figure.
        history: One report per epoch.
    """

    learner: str
    settings: TrainingSettings
    num_images: int
    epoch: int
    steps: int
    weights: Mapping[str, Tensor]
    moments: Mapping[str, Tensor]
    best_weights: Mapping[str, Tensor]
    history: tuple[EpochReport, ...]

    @property
    def best(self) -> EpochReport | None:
        """Report of the best epoch."""
        return next((report for report in reversed(self.history) if report.best), None)

    @property
    def finished(self) -> str | None:
        """Why there is no further epoch: "epochs" or "patience"; None if there is one."""
        if self.epoch >= self.settings.epochs:
            return "epochs"
        last = self.best.epoch if self.best else 0
        return "patience" if self.epoch - last >= self.settings.patience else None

    def to_bytes(self) -> bytes:
        """Return the content of a file."""
        groups = {"weights": self.weights, "moments": self.moments, "best": self.best_weights}
        tensors = {f"{group}/{name}": one for group, named in groups.items() for name, one in named.items()}
        record = {
            "learner": self.learner,
            "settings": self.settings.to_json(),
            "num_images": self.num_images,
            "epoch": self.epoch,
            "steps": self.steps,
            "history": [report.to_json() for report in self.history],
        }
        return packed(tensors, record, kind=_KIND, version=_VERSION)

    @classmethod
    def from_bytes(cls, content: bytes, *, place: str = "the training state") -> TrainingState:
        """Rebuild from :meth:`to_bytes`.

        Args:
            content: Bytes of a file.
            place: Where they come from, for error messages.

        Raises:
            CorruptData: They are damaged, or something else.
            InvalidInput: They hold another kind of file, or one of another version.
        """
        tensors, record = unpacked(content, kind=_KIND, version=_VERSION, place=place)
        return cls(
            learner=record["learner"],
            settings=TrainingSettings.from_json(record["settings"]),
            num_images=record["num_images"],
            epoch=record["epoch"],
            steps=record["steps"],
            weights=_group(tensors, "weights"),
            moments=_group(tensors, "moments"),
            best_weights=_group(tensors, "best"),
            history=tuple(EpochReport.from_json(each) for each in record["history"]),
        )

    def save(self, file: Path | str) -> Path:
        """Write the state; the file appears whole or not at all.

        Args:
            file: Replaced if it is there.

        Raises:
            StoreError: It cannot be written.
        """
        return write_whole(self.to_bytes(), Path(file))

    @classmethod
    def load(cls, file: Path | str) -> TrainingState:
        """Read a state.

        Args:
            file: Written by :meth:`save`.

        Raises:
            StoreError: It is not there.
            CorruptData: It is damaged, or something else.
            InvalidInput: It holds another kind of file, or one of another version.
        """
        return cls.from_bytes(read_whole(Path(file), kind=_KIND), place=str(file))

    def check_fits(self, *, learner: str, settings: TrainingSettings, num_images: int) -> None:
        """Refuse to go on with another training than the one that was interrupted; the device alone may differ.

        Args:
            learner: Class name.
            settings: Of the training that is to go on.
            num_images: Its training images.

        Raises:
            InvalidInput: Which of them differs.
        """
        mine: dict[str, Any] = {**self.settings.to_json(), "learner": self.learner, "training images": self.num_images}  # fmt: skip
        theirs: dict[str, Any] = {**settings.to_json(), "learner": learner, "training images": num_images}
        other = [name for name in mine if name != "device" and mine[name] != theirs[name]]
        if other:
            said = "; ".join(f"{name} was {mine[name]!r}, is {theirs[name]!r}" for name in other)
            raise InvalidInput(
                f"state belongs to another training: {said}. Give what it was begun with, or start without a state."
            )


def _group(tensors: Mapping[str, Tensor], group: str) -> dict[str, Tensor]:
    start = f"{group}/"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
