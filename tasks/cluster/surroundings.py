"""What a Ray connection finds around it: environment variables and a token."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tasks import environment

WORKER_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""More than one computing process and spinning threads do not go together; a unit raises its own number from its request."""


def prepare_environment(*, private: bool) -> None:
    """Set what Ray reads from the environment; what the user has set about tokens stays.

    Args:
        private: True for a Ray of our own, which gets a token that exists nowhere else.
    """
    environment.apply()
    # Inside a Ray job the job's own variables stay, ours are added.
    os.environ.setdefault("RAY_OVERRIDE_JOB_RUNTIME_ENV", "1")
    if "RAY_AUTH_MODE" in os.environ:
        return
    if private:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        return
    has_token = any(name in os.environ for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    has_token = has_token or (Path.home() / ".ray" / "auth_token").exists()
    os.environ["RAY_AUTH_MODE"] = "token" if has_token else "disabled"


def reread_environment() -> None:
    """Let a Ray that was imported earlier take notice of the token: it read its configuration when it was loaded."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled: type checkers do not see inside
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def exported(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the block.

    Args:
        variables: Name -> value.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
