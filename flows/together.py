"""Units of many cells in one call of the engine, which keeps every CPU busy; what is stored is not sent to it at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from flows import console
from flows.cell import Cell
from tasks.engine import Engine
from tasks.receipt import Receipt
from tasks.request import Request
from vitgeom.errors import VitgeomError

R = TypeVar("R", bound=Request)


@dataclass(frozen=True)
class CellWork(Generic[R]):
    """One step's work on cells.

    Attributes:
        verb: The step, as a line about one cell begins.
        what: What the units give, as a reader would say it.
        request: The request of a cell; an error if the cell has no features yet.
        stored: The receipt of a request that is done already, or None.
        rows: Rows of a cell.
        doing: What is done to the units, before ``the <what>``.
        done: What was done to one unit.
    """

    verb: str
    what: str
    request: Callable[[Cell], R]
    stored: Callable[[R], Receipt | None]
    rows: Callable[[Cell], int]
    doing: str = "fitting"
    done: str = "fitted"

    def missing(self, cells: Sequence[Cell]) -> dict[str, R]:
        """Return what is to be done by the name of its cell, most rows first: a long unit at the end leaves CPUs idle.

        A cell without features fails by itself later.
        """
        found: dict[str, tuple[int, R]] = {}
        for cell in cells:
            try:
                request = self.request(cell)
                if self.stored(request) is None:
                    found[cell.name] = self.rows(cell), request
            except VitgeomError:
                continue
        return {name: request for name, (_, request) in sorted(found.items(), key=lambda entry: -entry[1][0])}

    def map_together(self, missing: Mapping[str, R], *, engine: Engine) -> dict[str, Receipt]:
        """Do what is missing, all at once, say what is done as it is done, and return the receipts by the keys of their requests.

        A failure is left to the cell that it belongs to, which is then tried by itself.

        Args:
            missing: Requests by the name of their cell; at least one.
            engine: Runs them.
        """
        fitted: dict[str, Receipt] = {}
        names = {request.key: name for name, request in missing.items()}
        count = len(missing)

        def note(receipt: Receipt) -> None:
            fitted[receipt.key] = receipt
            console.say(f"{self._said(names[receipt.key], receipt)}  ({len(fitted)} of {count})")

        console.say(f"{self.doing} the {self.what} of {count} {'cell' if count == 1 else 'cells'} ...")
        requests = list(missing.values())
        try:
            engine.map(requests[0].task, requests, on_receipt=note, label=f"{self.what} of {count} cells")
        except VitgeomError as error:
            console.warn(
                f"not all of {count} cells could be {self.done} together, the rest is tried one by one: {error}"
            )
        return fitted

    def receipt(self, cell: Cell, *, engine: Engine, fitted: Mapping[str, Receipt]) -> Receipt:
        """Return a cell's receipt from this run or the store, or else do its work alone.

        Args:
            cell: Must have features.
            engine: Runs it.
            fitted: Receipts of :meth:`map_together`.
        """
        request = self.request(cell)
        receipt = fitted.get(request.key)
        if receipt is None:
            receipt = self.stored(request)
            receipt = receipt or engine.map(request.task, [request], label=f"{self.verb} {cell.name}")[0]
            console.say(self._said(cell.name, receipt))
        return receipt

    def _said(self, name: str, receipt: Receipt) -> str:
        return (
            f"{self.verb} {name}: {'cached' if receipt.cached else f'{self.done} in {receipt.seconds:.1f} s'}"
        )
