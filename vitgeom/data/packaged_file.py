"""Files that other packages carry inside their wheels, found without importing the package, which may take seconds."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from vitgeom.errors import InvalidInput


def packaged_file(package: str, *parts: str) -> Path:
    """Return the path of a file inside an installed package.

    Args:
        package: Import name of a top-level package.
        *parts: Folders below it, and the file's name.

    Raises:
        InvalidInput: The package is not installed, or its file is not there.
    """
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        path = Path(place).joinpath(*parts)
        if path.is_file():
            return path
    raise InvalidInput(
        f"{'/'.join(parts)!r} was not found in package {package!r} ({places or 'not installed'}). "
        "Install scikit-image >= 0.25 and scikit-learn >= 1.5 from their wheels."
    )
