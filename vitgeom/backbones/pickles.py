"""PyTorch files without running code from them, and the true reason where one cannot be read so."""

from __future__ import annotations

import io
import pickle
import pickletools
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any, cast

import torch

from vitgeom.errors import InvalidInput

IMPORTS = frozenset({"GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"})
PROTOCOL = 2
_PICKLES = 4  # the old format of torch.save: magic number, version, system, content


def load_pickle(path: Path) -> Any:
    """Read a file that ``torch.save`` wrote, with ``weights_only=True``.

    Args:
        path: An existing file.

    Raises:
        InvalidInput: It would need code to be unpickled, or it cannot be read as a checkpoint; the message says which and why.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's remarks about a strange file: the error says it
            return torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # the unpickler raises nearly anything on strange bytes
        raise _refusal(path, error) from error


def unreadable(path: Path, reason: str) -> InvalidInput:
    """Return the error for a file that holds no readable weights.

    Args:
        path: The file.
        reason: Why, without a full stop.
    """
    said = reason if path.stat().st_size else "it is empty"
    return InvalidInput(f"file {str(path)!r} cannot be read as a checkpoint: {said}. Fetch or save it again.")


def _refusal(path: Path, error: Exception) -> InvalidInput:
    protocol, needs_code = _inspect(path)
    if "TorchScript" in str(error) or (isinstance(error, pickle.UnpicklingError) and needs_code):
        return InvalidInput(
            f"checkpoint {str(path)!r} holds more than tensors, and code from a file is never run. Save its state dict alone: "
            f"safetensors.torch.save_file(model.state_dict(), 'model.safetensors')."
        )
    if protocol > PROTOCOL:
        return unreadable(
            path,
            f"it is a pickle of protocol {protocol}, which is not read; torch.save(state_dict, path) writes what is",
        )
    if isinstance(error, RuntimeError | OSError):
        return unreadable(path, str(error).split(". ")[0].strip().rstrip("."))
    return unreadable(path, "its bytes are not what torch.save writes")


def _inspect(path: Path) -> tuple[int, bool]:
    """Return the highest protocol of the file's complete pickles (0: there are none), and whether they import anything; none is run."""
    protocol, imports = 0, False
    try:
        with _pickles_of(path) as stream:
            for _ in range(_PICKLES):
                found = {code.name: value for code, value, _ in pickletools.genops(cast(IO[bytes], stream))}
                protocol = max(protocol, int(str(found.get("PROTO", 0))))
                imports = imports or bool(IMPORTS & found.keys())
    except Exception:  # the end of the pickles, or none: that shows in as many ways as there are wrong bytes
        return protocol, imports
    return protocol, imports


def _pickles_of(path: Path) -> io.BufferedIOBase:
    """Open the pickle inside a zip archive of torch.save, or the file itself."""
    if not zipfile.is_zipfile(path):
        return path.open("rb")
    with zipfile.ZipFile(path) as archive:
        inside = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        return io.BytesIO(archive.read(inside))
