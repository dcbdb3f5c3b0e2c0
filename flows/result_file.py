"""One file of the results folder is written whole or not at all, and only when it changes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from vitgeom.errors import StoreError

WAY_OUT = "Name another results folder with --out FOLDER, or make room for this one."


def write_result(path: Path, data: bytes) -> bool:
    """Write a file whole and say whether it replaced another one; equal content leaves the file and its time of change alone.

    Args:
        path: The file; folders above it are made.
        data: Its content.

    Raises:
        StoreError: The folder cannot be written, or is full.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        replaces = path.is_file()
        if replaces and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        problem = error.strerror or type(error).__name__
        raise StoreError(f"result file {str(path)!r} cannot be written: {problem}. {WAY_OUT}") from error
    return replaces
