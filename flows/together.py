"""Units of many cells in one call of the engine, which keeps every CPU busy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flows import console
from tasks.engine import Engine
from tasks.receipt import Receipt
from tasks.request import Request
from vitgeom.errors import VitgeomError


def map_together(
    missing: Mapping[str, Request],
    *,
    engine: Engine,
    what: str,
    said: Callable[[str, Receipt], str],
) -> dict[str, Receipt]:
    """Do what is missing, all at once, say what is done as it is done, and return the receipts by the keys of their requests.

    A failure is left to the cell that it belongs to, which is then tried by itself.

    Args:
        missing: Requests of one task by the name of their cell; at least one.
        engine: Runs them.
        what: What they give, as a reader would say it.
        said: The line about one finished cell.
    """
    fitted: dict[str, Receipt] = {}
    names = {request.key: name for name, request in missing.items()}
    count = len(missing)

    def note(receipt: Receipt) -> None:
        fitted[receipt.key] = receipt
        console.say(f"{said(names[receipt.key], receipt)}  ({len(fitted)} of {count})")

    console.say(f"fitting the {what} of {count} cells ...")
    requests = list(missing.values())
    try:
        engine.map(requests[0].task, requests, on_receipt=note, label=f"{what} of {count} cells")
    except VitgeomError as error:
        console.warn(
            f"not all of {count} cells could be fitted together, the rest is tried one by one: {error}"
        )
    return fitted
