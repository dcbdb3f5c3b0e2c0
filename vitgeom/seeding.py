"""Random streams derived by name from one seed, so that order and worker count change no result."""

from __future__ import annotations

import hashlib
from numbers import Integral

import torch

from vitgeom.errors import InvalidInput


def derive_seed(seed: int, *names: str | int) -> int:
    """Return a 63-bit seed that depends on ``seed`` and on every name, in order.

    Args:
        seed: The one seed of a run.
        *names: What the stream is for, from coarse to fine, for example ``"bootstrap", "digits", 3``.
    """
    text = "\x1f".join([str(seed), *(f"{type(name).__name__}:{name}" for name in names)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator_for(seed: int, *names: str | int) -> torch.Generator:
    """Return a CPU ``torch.Generator`` of its own for the named purpose.

    Args:
        seed: The one seed of a run.
        *names: What the stream is for, from coarse to fine.
    """
    generator = torch.Generator()
    generator.manual_seed(derive_seed(seed, *names))
    return generator


def check_generator(generator: object) -> None:
    """Refuse a missing source of randomness, for which torch would quietly use its global one.

    Args:
        generator: What the caller gave.

    Raises:
        InvalidInput: It is no ``torch.Generator``.
    """
    if not isinstance(generator, torch.Generator):
        raise InvalidInput(
            f"generator must be a torch.Generator, got {generator!r}: results must be reproducible; "
            "pass torch.Generator().manual_seed(0)."
        )


def checked_seed(seed: object) -> int:
    """Return a seed as a plain integer; any whole number is one, negative ones too.

    Args:
        seed: What a caller gave.

    Raises:
        InvalidInput: It is no whole number: ``None`` would promise randomness, and 1.5 would be a seed of its own.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise InvalidInput(f"seed must be a whole number, got {seed!r}; 0 is usual.")
    return int(seed)
