"""A reference to a dataset: a name and options, small enough to travel in every request."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vitgeom.errors import InvalidInput

Scalar = str | int | float | bool | None

CLEAN = "of_"
"""Options of a test set under shift that begin so belong to the dataset that it is a shift of."""
_PATHS = ("root", f"{CLEAN}root")
_INDEXES = ("index", f"{CLEAN}index")
_SHOWN = ("of", "corruption", "severity")


@dataclass(frozen=True)
class DatasetRef:
    """Names a dataset without opening it: hashable, picklable, JSON-able.

    Attributes:
        name: A key of ``vitgeom.data.DATASETS``, or of ``vitgeom.data.SHIFTED`` for a test set under shift.
        options: Sorted (key, value) pairs, handed to the opener of that dataset as keyword arguments.
    """

    name: str
    options: tuple[tuple[str, Scalar], ...] = ()

    def __post_init__(self) -> None:
        keys = [key for key, _ in self.options]
        if len(set(keys)) < len(keys):
            raise InvalidInput(
                f"options of dataset {self.name!r} give a key twice: {', '.join(keys)}. Give each one once."
            )
        object.__setattr__(self, "options", tuple(sorted(self.options, key=lambda pair: pair[0])))

    @classmethod
    def from_options(cls, name: str, **options: Any) -> DatasetRef:
        """Build a reference from keyword options.

        A ``root`` is made absolute, because a worker may have another current directory.

        Args:
            name: A key of ``vitgeom.data.DATASETS`` or ``vitgeom.data.SHIFTED``.
            **options: Scalars or paths.

        Raises:
            InvalidInput: A value is neither a scalar nor a path.
        """
        return cls(name, tuple((key, _scalar(name, key, value)) for key, value in options.items()))

    def option(self, key: str, default: Scalar = None) -> Scalar:
        """Return one option, or ``default`` where it was not given."""
        return dict(self.options).get(key, default)

    def to_json(self) -> dict[str, Any]:
        """Return a mapping that ``from_json`` turns back into an equal reference."""
        return {"name": self.name, "options": dict(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DatasetRef:
        """Read what ``to_json`` wrote.

        Raises:
            InvalidInput: A key is missing or unknown, or a value is not a scalar.
        """
        if set(data) - {"name", "options"} or not isinstance(data.get("name"), str):
            raise InvalidInput(f"a dataset reference has the keys name and options, got {sorted(data)}.")
        return cls.from_options(data["name"], **dict(data.get("options") or {}))

    @property
    def title(self) -> str:
        """What a reader calls it: the own name of an image folder, the slug of any other dataset."""
        folder = os.path.basename(str(self.option("root") or "").rstrip("/\\"))
        return folder.encode(errors="replace").decode() or self.slug

    @property
    def slug(self) -> str:
        """A label that is safe as one path component, and that differs where the options differ.

        ``digits``; ``scenes-1f2e3d4c`` with options; ``folder-flowers-1f2e3d4c`` for an image folder;
        ``corrupted-digits-fog-3-1f2e3d4c`` for a test set under shift. The address of a stored index is left out: it does
        not change the content.
        """
        parts = [self.name, *(str(self.option(key)) for key in _SHOWN if self.option(key) is not None)]
        if root := self.option("root"):
            parts.append(os.path.basename(str(root).rstrip("/\\")))
        if relevant := [pair for pair in self.options if pair[0] not in _INDEXES]:
            parts.append(hashlib.sha256(json.dumps(relevant).encode()).hexdigest()[:8])
        return re.sub(r"[^A-Za-z0-9_.-]+", "_", "-".join(parts))[-80:].lstrip(".-")


def distinct_titles(refs: Sequence[DatasetRef]) -> list[str]:
    """Return what a reader sees of each dataset: its title, or its slug where others have the same title.

    Args:
        refs: The datasets that are shown together.
    """
    shared = Counter(ref.title for ref in dict.fromkeys(refs))
    return [ref.title if shared[ref.title] == 1 else ref.slug for ref in refs]


def _scalar(name: str, key: str, value: Any) -> Scalar:
    if key in _PATHS and isinstance(value, str | Path):
        return os.path.abspath(value)
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InvalidInput(
        f"option {key!r} of dataset {name!r} must be text, a number, true, false or null, got {type(value).__name__}."
    )
