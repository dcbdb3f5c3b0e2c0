"""Whether a report has to be drawn again: a small file beside it says what it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tasks.receipt import Receipt
from vitgeom import report
from vitgeom.errors import StoreError
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

STAMP = ".report.json"
PLACE = ("key", "uri")
"""What a receipt says of where the report lies; the file does not, so that a folder can be moved."""


def stamp_of(request: dict[str, Any], results: Sequence[Any]) -> str:
    """Return a digest of everything that a report depends on, the code that draws it included.

    Args:
        request: What is shown, without addresses.
        results: The content of all result files.
    """
    folder = Path(report.__file__).parent
    code = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("*.py"))]
    content = {"request": request, "results": [fingerprint(result) for result in results]}
    return fingerprint({**content, "code": code, "matplotlib": version("matplotlib")})


def write_stamp(out: Root, stamp: str, receipt: Receipt) -> None:
    """Note what the report that was just written was made from.

    Args:
        out: The folder of the report.
        stamp: From ``stamp_of``.
        receipt: Its ``detail["files"]`` holds the digest of every file.
    """
    kept = receipt.model_dump(mode="json", exclude=set(PLACE))
    out.write_json(STAMP, {"stamp": stamp, "receipt": kept})


def finished_report(out: Root, stamp: str, *, key: str, uri: str) -> Receipt | None:
    """Return the receipt of the same report if every one of its files is there and whole, else None.

    Args:
        out: The folder of the report.
        stamp: From ``stamp_of``.
        key: For the receipt.
        uri: For the receipt.
    """
    try:
        record = out.read_json(STAMP)
        receipt = Receipt.model_validate({**record["receipt"], "key": key, "uri": uri, "cached": True})
        whole = record["stamp"] == stamp and all(
            hashlib.sha256(out.get(name) or b"").hexdigest() == digest
            for name, digest in receipt.detail["files"].items()
        )
    except (StoreError, KeyError, TypeError, ValueError):
        return None
    return receipt if whole else None
