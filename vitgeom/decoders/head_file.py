"""A trained head in a safetensors file that says what it is and which backbone it reads."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from vitgeom.decoders.camera import CameraConfig, CameraHead
from vitgeom.decoders.dpt import DptConfig, DptHead
from vitgeom.decoders.pointmap import PointMapConfig, PointMapHead
from vitgeom.decoders.upconv import UpconvConfig, UpconvHead
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.sorted_header import with_sorted_header

KINDS: dict[str, tuple[type[Any], type[nn.Module]]] = {
    "dpt": (DptConfig, DptHead),
    "pointmap": (PointMapConfig, PointMapHead),
    "camera": (CameraConfig, CameraHead),
    "upconv": (UpconvConfig, UpconvHead),
}
"""Kind of head -> its configuration and its module."""


@dataclass(frozen=True)
class HeadRecord:
    """What a head is, beside its weights.

    Attributes:
        name: Of the decoder.
        kind: A name in ``KINDS``.
        taps: Layers that it reads.
        normed: Whether taps pass through the backbone's final norm.
        backbone: Name of the backbone that it was trained on.
        weights_digest: Of that backbone's weights.
        provenance: Licence, command, recipe, figures and the like; JSON values only.
    """

    name: str
    kind: str
    taps: tuple[int, ...]
    normed: bool
    backbone: str
    weights_digest: str
    provenance: dict[str, Any] = field(default_factory=dict)


def write_head(head: nn.Module, file: Path, *, record: HeadRecord) -> None:
    """Store a head in half precision. The bytes depend on weights and record alone: no dates, no host.

    Args:
        head: Of a kind in ``KINDS``.
        file: Where to.
        record: What it is.

    Raises:
        InvalidInput: A weight is not finite in half precision.
    """
    state = {key: value.detach().to(torch.float16).contiguous() for key, value in head.state_dict().items()}
    broken = [key for key, tensor in state.items() if not torch.isfinite(tensor).all()]
    if broken:
        raise InvalidInput(
            f"weights of head {record.name!r} are not finite in half precision: {', '.join(broken)}. Train with a smaller step size."
        )
    config: Any = head.config
    metadata = {
        "head": json.dumps({**asdict(record), "provenance": {}}, sort_keys=True),
        "config": json.dumps(asdict(config), sort_keys=True),
        **{key: json.dumps(value, sort_keys=True) for key, value in record.provenance.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(with_sorted_header(safetensors.torch.save(state, metadata=metadata)))


def read_record(file: Path) -> HeadRecord:
    """Return what a head file says about itself.

    Args:
        file: Written by ``write_head``.

    Raises:
        InvalidInput: No such file, or it is no head file.
    """
    return _record(_metadata(file), file)


def read_head(file: Path) -> tuple[nn.Module, HeadRecord]:
    """Build the head of a file with its weights, in single precision.

    Args:
        file: Written by ``write_head``.

    Raises:
        InvalidInput: No such file, no head file, or weights that do not fit its own configuration.
        UnknownName: A kind of head that this version does not know.
    """
    metadata = _metadata(file)
    record = _record(metadata, file)
    if record.kind not in KINDS:
        raise UnknownName("kind of head", record.kind, KINDS, hint=f"It stands in {file.name!r}.")
    config_type, head_type = KINDS[record.kind]
    try:
        with torch.device("meta"):  # no weights are drawn only to be overwritten
            head = head_type(_configured(config_type, json.loads(metadata["config"])))
        head.load_state_dict(safetensors.torch.load_file(file), assign=True)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(
            f"head file {str(file)!r} does not hold the weights of the {record.kind!r} head that it describes: {error}. Fetch or train it again."
        ) from error
    return head.float(), record


def _configured(config_type: type[Any], values: dict[str, Any]) -> Any:
    """Build a configuration from JSON values, which know neither tuples nor configurations inside configurations."""
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    if "dense" in given:
        given["dense"] = _configured(DptConfig, given["dense"])
    return config_type(**given)


def _metadata(file: Path) -> dict[str, str]:
    if not file.is_file():
        raise InvalidInput(f"there is no head file {str(file)!r}. Give the path of a safetensors file.")
    try:
        with safe_open(file, framework="pt") as opened:
            metadata = opened.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise InvalidInput(
            f"head file {str(file)!r} cannot be read as safetensors: {error}. Fetch it again."
        ) from error
    if "head" not in metadata or "config" not in metadata:
        raise InvalidInput(
            f"file {str(file)!r} does not say what head it holds (metadata 'head' and 'config'). Write heads with write_head."
        )
    return dict(metadata)


def _record(metadata: dict[str, str], file: Path) -> HeadRecord:
    try:
        described = json.loads(metadata["head"])
        described["taps"] = tuple(described["taps"])
        described["provenance"] = {
            key: json.loads(value) for key, value in metadata.items() if key not in ("head", "config")
        }
        return HeadRecord(**described)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"head file {str(file)!r} describes its head in words that this version does not know ({error}). Fetch or train it again."
        ) from error
