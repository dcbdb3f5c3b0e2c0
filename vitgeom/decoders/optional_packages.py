"""Packages that only some decoders need: imported when used, with a clear word where they are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from vitgeom.errors import InvalidInput


class MissingPackage(InvalidInput, ImportError):
    """A package that is not installed; the message says how to install it."""


def require(module: str, *, what: str, install: str) -> ModuleType:
    """Import a package, or say how to install it.

    Args:
        module: Name to import.
        what: What needs it, as the subject of the message.
        install: Command.

    Raises:
        MissingPackage: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(str(error.name)):
            raise
        raise MissingPackage(
            f"{what} needs the package {module.split('.')[0]!r}, which is not installed: {install}"
        ) from error
