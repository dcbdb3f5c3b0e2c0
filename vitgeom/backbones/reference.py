"""A small description of a backbone that travels in requests and parameters."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vitgeom.errors import UnknownName

OPTIONS = ("architecture", "image_size", "pretrained", "seed")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class BackboneRef:
    """Name or path of a backbone and the options of ``load_backbone`` that change what it computes.

    Attributes:
        name: Embedded name, timm name or path of a checkpoint file.
        options: Sorted (option, value) pairs; only those given.
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for option, _ in self.options:
            if option not in OPTIONS:
                raise UnknownName("backbone option", option, OPTIONS)
        frozen = sorted((option, _frozen(value)) for option, value in self.options if value is not None)
        object.__setattr__(self, "options", tuple(frozen))

    @classmethod
    def from_options(cls, name: str, **options: Any) -> BackboneRef:
        """Build a reference; options that are None are left out.

        Args:
            name: As for ``load_backbone``.
            **options: Any of architecture, image_size, pretrained, seed.

        Raises:
            UnknownName: An option that ``load_backbone`` does not have.
        """
        return cls(name, tuple(options.items()))

    def option(self, key: str, default: Any = None) -> Any:
        """Return one option, or ``default`` where it was not given.

        Args:
            key: Name of the option.
            default: Value for an option that was not given.
        """
        return dict(self.options).get(key, default)

    def at_size(self, image_size: int | None) -> BackboneRef:
        """Return the same backbone for another image size; itself for None.

        Args:
            image_size: Side of the pictures in pixels.
        """
        if image_size is None:
            return self
        return BackboneRef.from_options(self.name, **{**dict(self.options), "image_size": image_size})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; ``from_json`` restores an equal reference."""
        listed = {key: list(value) if isinstance(value, tuple) else value for key, value in self.options}
        return {"name": self.name, "options": listed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BackboneRef:
        """Restore what ``to_json`` gave.

        Args:
            data: ``{"name": ..., "options": {...}}``.
        """
        return cls.from_options(data["name"], **data.get("options", {}))

    @property
    def slug(self) -> str:
        """A label that is safe in paths: the readable name, and a hash wherever the name alone would be ambiguous."""
        stem = Path(self.name).stem if "/" in self.name else self.name
        readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.")[:60] or "backbone"
        if readable == self.name and not self.options:
            return readable
        text = json.dumps(self.to_json(), sort_keys=True)
        return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
