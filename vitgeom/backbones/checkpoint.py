"""Weights from a local file into a model, with every mismatch named.

Formats: safetensors; PyTorch files read with ``weights_only=True`` (no code in the file is ever run), bare or nested under
``state_dict``, ``model`` and the like.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from vitgeom.backbones.pickles import load_pickle, unreadable
from vitgeom.errors import InvalidInput

SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt")
NESTED_UNDER = ("state_dict_ema", "model_ema", "state_dict", "model", "teacher")
WRAPPERS = ("_orig_mod.", "module.", "_orig_mod.")
CLASSIFIERS = ("head.", "head_dist.", "fc.", "classifier.")
SHOWN = 4


def looks_like_file(name: str) -> bool:
    """Tell a path from a model name.

    Args:
        name: What the caller gave.
    """
    return name.endswith(SUFFIXES) or "/" in name or "\\" in name


def read_state(path: Path) -> dict[str, Tensor]:
    """Read all tensors of a checkpoint file.

    Args:
        path: safetensors or PyTorch file.

    Returns:
        Tensors by name, on the CPU, without the prefixes of training wrappers.

    Raises:
        InvalidInput: No such file, not readable as weights, or it would need code of its own to be unpickled.
    """
    if not path.is_file():
        raise InvalidInput(
            f"there is no checkpoint file {str(path)!r}. Give the path of a {', '.join(SUFFIXES)} file."
        )
    content = _read_safetensors(path) if path.suffix == ".safetensors" else load_pickle(path)
    named = {str(name): value for name, value in _nested(content).items() if isinstance(value, Tensor)}
    state = {_unwrapped(name): value for name, value in named.items()}
    if not state:
        raise InvalidInput(
            f"checkpoint {str(path)!r} holds no tensors. Save a state dict: torch.save(model.state_dict(), path)."
        )
    return state


def read_architecture(path: Path) -> str | None:
    """Return the architecture that a file names in its metadata, or in timm's ``config.json`` beside it; else None.

    Args:
        path: The checkpoint file.

    Raises:
        InvalidInput: The file is damaged, or ``config.json`` is no JSON object that names it.
    """
    if path.suffix == ".safetensors" and path.is_file():
        try:
            with safe_open(path, framework="pt") as file:
                named = (file.metadata() or {}).get("architecture")
        except (SafetensorError, OSError) as error:
            raise unreadable(path, str(error)) from error
        if named:
            return str(named)
    beside = path.with_name("config.json")
    return _configured(beside) if beside.is_file() else None


def _configured(config: Path) -> str | None:
    """Return what timm's ``config.json`` calls the architecture, or None where it does not."""
    way_out = "Repair or remove it, or name the architecture: load_backbone(path, architecture=...)."
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"file {str(config)!r} beside the checkpoint cannot be read as JSON ({error}). {way_out}"
        ) from error
    named = content.get("architecture") if isinstance(content, dict) else content
    if not isinstance(content, dict) or not isinstance(named, str | None):
        raise InvalidInput(
            f"file {str(config)!r} beside the checkpoint must hold an object whose 'architecture' is a name, got {str(named)[:40]!r}. "
            f"{way_out}"
        )
    return named


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, RuntimeError, OSError, ValueError) as error:
        raise unreadable(path, str(error)) from error


def _nested(content: Any) -> Mapping[str, Any]:
    """Follow the keys under which training scripts keep the weights."""
    while isinstance(content, Mapping):
        inner = next((content[key] for key in NESTED_UNDER if isinstance(content.get(key), Mapping)), None)
        if inner is None:
            return content
        content = inner
    return {}


def _unwrapped(name: str) -> str:
    for prefix in WRAPPERS:
        name = name.removeprefix(prefix)
    return name


def native_size(state: Mapping[str, Tensor], model: nn.Module) -> tuple[int, int] | None:
    """Return the image size of a checkpoint's square position embedding, or None where it cannot be told.

    Args:
        state: Tensors by name.
        model: The model they are meant for.
    """
    vit = cast(Any, model)
    stored = state.get("pos_embed")
    if stored is None or getattr(vit, "pos_embed", None) is None or stored.ndim != 3:
        return None
    patches = stored.shape[1] - (0 if getattr(vit, "no_embed_class", False) else vit.num_prefix_tokens)
    side = math.isqrt(max(patches, 0))
    height, width = vit.patch_embed.feat_ratio(as_scalar=False)
    return (side * int(height), side * int(width)) if side and side * side == patches else None


def put_state(
    state: dict[str, Tensor],
    model: nn.Module,
    *,
    convert: Callable[[dict[str, Tensor], nn.Module], dict[str, Tensor]],
    source: str,
    architecture: str,
) -> None:
    """Load weights into a model in place; every tensor of the model must be there with its shape, real and finite.

    Args:
        state: Tensors by name; those of a classifier are dropped.
        model: Receives the weights.
        convert: Renames published names to the model's.
        source: The file, for messages.
        architecture: The model's name, for messages.

    Raises:
        InvalidInput: Another architecture (the first mismatching keys are named), whole numbers in place of real ones, or weights that are not
            finite.
    """
    try:
        converted = convert(dict(state), model)
    except (RuntimeError, ValueError, KeyError, AssertionError, IndexError) as error:
        raise InvalidInput(
            _misfit(source, architecture, [f"its tensors cannot be mapped ({error})"])
        ) from error
    wanted = model.state_dict()
    given = {
        name: tensor
        for name, tensor in converted.items()
        if name in wanted or not name.startswith(CLASSIFIERS)
    }
    shapes = [
        f"{name} is {list(given[name].shape)} there and {list(tensor.shape)} here"
        for name, tensor in wanted.items()
        if name in given and given[name].shape != tensor.shape
    ]
    missing = [f"{name} is missing" for name in wanted if name not in given]
    extra = [f"{name} is not part of the model" for name in given if name not in wanted]
    if shapes or missing or extra:
        raise InvalidInput(_misfit(source, architecture, [*shapes, *missing, *extra]))
    _refuse_whole_numbers(given, wanted, source=source)
    broken = [
        name
        for name, tensor in given.items()
        if tensor.is_floating_point() and not torch.isfinite(tensor).all()
    ]
    if broken:
        raise InvalidInput(
            f"checkpoint {source!r} has values that are not finite in {', '.join(broken[:SHOWN])}. Fetch or save it again."
        )
    model.load_state_dict(given)


def _refuse_whole_numbers(given: Mapping[str, Tensor], wanted: Mapping[str, Tensor], *, source: str) -> None:
    """Refuse quantised, boolean and complex tensors: cast to the model's type they would be other weights."""
    strange = [
        f"{name} is {given[name].dtype}"
        for name, tensor in wanted.items()
        if tensor.is_floating_point() and not given[name].is_floating_point()
    ]
    if strange:
        more = f" (and {len(strange) - SHOWN} more)" if len(strange) > SHOWN else ""
        raise InvalidInput(
            f"checkpoint {source!r} has no real weights where the model needs them: {'; '.join(strange[:SHOWN])}{more}. "
            f"Save it in float32, bfloat16 or float16, not quantised."
        )


def _misfit(source: str, architecture: str, problems: list[str]) -> str:
    more = f" (and {len(problems) - SHOWN} more)" if len(problems) > SHOWN else ""
    return (
        f"checkpoint {source!r} does not fit architecture={architecture!r}: {'; '.join(problems[:SHOWN])}{more}. "
        f"Name the architecture that the file was trained with."
    )
