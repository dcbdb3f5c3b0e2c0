"""Which parameters of VFusion can be used, and with how many latents."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import torch

from vitgeom.errors import InvalidInput, UnknownName

MOST_DEFAULT_LATENTS = 512
LEAST_DEFAULT_LATENTS = 32


def checked_settings(estimator: Any) -> None:
    """Refuse parameters that cannot be used, before anything is computed.

    Args:
        estimator: Its attributes are the parameters, as scikit-learn keeps them.

    Raises:
        InvalidInput: A parameter of the wrong type or out of range; it is named with its rule.
    """
    for name, least in (("hidden_dim", 0), ("max_epochs", 0), ("patience", 1), ("components", 1)):
        _whole(getattr(estimator, name), name=name, least=least)
    for name in ("latent_dim", "batch_size"):
        if getattr(estimator, name) is not None:
            _whole(getattr(estimator, name), name=name, least=1)
    for name, low, high in (
        ("orth_weight", 0.0, float("inf")),
        ("l2", 0.0, float("inf")),
        ("learning_rate", 1e-12, float("inf")),
        ("dropout", 0.0, 1.0),
    ):
        value = getattr(estimator, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not low <= float(value) < high:
            raise InvalidInput(f"{name} must be a number in [{low:g}, {high:g}), got {value!r}.")
    scaling = estimator.layer_scaling
    if isinstance(scaling, str) and scaling not in ("quality", "none"):
        raise UnknownName(
            "layer_scaling", scaling, ("quality", "none"), hint="A number is taken as the temperature itself."
        )
    if not isinstance(scaling, str | Real) or isinstance(scaling, bool):
        raise InvalidInput(f'layer_scaling must be "quality", "none" or a number >= 0, got {scaling!r}.')


def _whole(value: object, *, name: str, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InvalidInput(f"{name} must be an integer >= {least}, got {value!r}.")


def latent_count(latent_dim: int | None, *, num_classes: int, rank: int, num_rows: int) -> int:
    """Return how many latents there are to be.

    Args:
        latent_dim: As asked for; None for K - 1 within bounds, as far as the inputs reach.
        num_classes: K.
        rank: Independent directions of the encoder's inputs over the training rows.
        num_rows: n.

    Raises:
        InvalidInput: More latents were asked for than can be uncorrelated.
    """
    if latent_dim is None:
        return min(max(LEAST_DEFAULT_LATENTS, min(num_classes - 1, MOST_DEFAULT_LATENTS)), rank)
    if latent_dim > rank:
        raise InvalidInput(
            f"latent_dim must be at most {rank}, the independent directions of these {num_rows} training rows, got {latent_dim}; "
            "more latents could not be uncorrelated. Leave latent_dim out, or give more rows."
        )
    return latent_dim


def checked_device(device: str) -> torch.device:
    """Return a device that this process can compute on.

    Args:
        device: As PyTorch names it.

    Raises:
        InvalidInput: It is not there.
    """
    try:
        wanted = torch.device(device)
        torch.zeros(1, device=wanted).item()
    except (RuntimeError, AssertionError, ImportError, TypeError) as error:
        raise InvalidInput(
            f"device={device!r} cannot compute here ({str(error).splitlines()[0]}). Use 'cpu'."
        ) from error
    return wanted
