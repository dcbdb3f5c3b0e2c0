"""Whether a device is there, asked before anything is built for it."""

from __future__ import annotations

import os

import torch

from vitgeom.errors import InvalidInput


def check_device(device: object) -> torch.device:
    """Return the device if this process can compute on it; no memory is taken there, and timm is not imported.

    Only the machine that is to compute can answer this: a process that plans for workers elsewhere must not ask.

    Args:
        device: As PyTorch names it: "cpu", "cuda", "cuda:1", or a ``torch.device``.

    Raises:
        InvalidInput: It is no device, or this process has none of that kind or number; those that there are are named.
    """
    if not isinstance(device, str | torch.device):
        raise InvalidInput(f"device={device!r} must be the name of a device. {_way_out()}")
    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise InvalidInput(f"device={str(device)!r} is no device that PyTorch knows. {_way_out()}") from error
    if wanted.type == "cpu":
        return wanted
    if wanted.type != "cuda":
        return _check_other(wanted)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (wanted.index or 0) >= count:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hidden = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={visible!r})"
        found = f"{count} GPUs" if count else "no GPU"
        raise InvalidInput(
            f"device={str(device)!r} is not there: PyTorch finds {found}{hidden}. {_way_out()}"
        )
    return wanted


def _check_other(wanted: torch.device) -> torch.device:
    """Try a kind of device that is neither cpu nor cuda; "meta" tensors hold no values and are refused."""
    try:
        torch.zeros(1, device=wanted).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise InvalidInput(f"device={str(wanted)!r} cannot compute here. {_way_out()}") from error
    return wanted


def _way_out() -> str:
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    there = ["cpu", *(f"cuda:{number}" for number in range(count))]
    return f"Use one of those that there are: {', '.join(there)}."
