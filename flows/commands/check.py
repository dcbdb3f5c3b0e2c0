"""``vitgeom verify`` and ``vitgeom repair``: re-read everything that is stored, and take out what is damaged."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flows.commands.study_arguments import add_store

if TYPE_CHECKING:
    from vitgeom.store.integrity import Damage
    from vitgeom.store.row_store import RowStore
    from vitgeom.store.uri import Root

ADVICE = " Run `vitgeom repair`"


@dataclass(frozen=True)
class _Check:
    """What is done to each store.

    Attributes:
        declaration: Looks at the declaration, without which a store cannot be opened.
        rows: Looks at the opened store.
        found: What is said of a damaged place.
        repairs: Whether places are removed, which no other driver may see happen.
    """

    declaration: Callable[[Root, str], Damage | None]
    rows: Callable[[RowStore], list[Damage]]
    found: str
    repairs: bool

    def told(self, count: int) -> str:
        """Return how many places were found."""
        return f"{_count(count, 'place')} {self.found}"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    verify = commands.add_parser(
        "verify", help="re-read all stored features and targets and compare them with their digests"
    )
    repair = commands.add_parser(
        "repair", help="remove damaged ranges, so that the next run computes only those again"
    )
    for command, action in ((verify, run_verify), (repair, run_repair)):
        add_store(command)
        command.set_defaults(run=action)


def run_verify(arguments: argparse.Namespace) -> int:
    """List all damage; exit code 1 if there is any, or a store that could not be checked."""
    from vitgeom.store.integrity import verify, verify_declaration

    damaged, unchecked = _each(arguments.store, _Check(verify_declaration, verify, "damaged", repairs=False))
    if damaged:
        print("Way out: vitgeom repair, then the same benchmark again; it computes only what was removed.")
    return 1 if damaged or unchecked else 0


def run_repair(arguments: argparse.Namespace) -> int:
    """Remove all damage, unless another driver is at work on it: exit code 1 if a store was left as it is."""
    from vitgeom.store.integrity import repair, repair_declaration

    removed, unchecked = _each(arguments.store, _Check(repair_declaration, repair, "removed", repairs=True))
    if removed:
        print("The same benchmark again computes only what was removed.")
    return 1 if unchecked else 0


def _each(store: str | None, check: _Check) -> tuple[int, int]:
    """Check every store and return the numbers of damaged places and of stores that could not be checked."""
    from flows.study import store_uri
    from vitgeom.errors import StoreError
    from vitgeom.store.survey import survey
    from vitgeom.store.uri import Root

    root = Root(store_uri(store))
    found = survey(root)
    total = unchecked = 0
    for address in found.stores:
        try:
            total += _one(root, address, check)
        except StoreError as error:
            print(f"error: {address}: {error}", file=sys.stderr)
            unchecked += 1
    if found.foreign:
        print(f"not a store, left alone: {', '.join(found.foreign)}")
    print(f"{_count(len(found.stores), 'store')} below {root.uri}, {check.told(total)}")
    return total, unchecked


def _one(root: Root, address: str, check: _Check) -> int:
    """Check one store, say what was found, and return the number of damaged places."""
    from vitgeom.store.lease import lease

    with lease(root, address) if check.repairs else nullcontext():
        damages, missing = _look(root, address, check)
    state = check.told(len(damages)) if damages else "good"
    gaps = f", {_count(missing, 'range')} not computed yet" if missing else ""
    print(f"{address}: {state}{gaps}")
    for line in _lines(damages, with_advice=not check.repairs):
        print(f"  {line}")
    return len(damages)


def _look(root: Root, address: str, check: _Check) -> tuple[list[Damage], int]:
    """Return the damage of one store and the number of ranges that are not there."""
    from vitgeom.store.any_store import open_store

    undeclared = check.declaration(root, address)
    if undeclared is not None:
        return [undeclared], 0
    opened = open_store(root, address)
    return check.rows(opened), len(opened.missing())


def _lines(damages: Sequence[Damage], *, with_advice: bool) -> list[str]:
    """Return one line per damaged place; advice to run the command that is running is left out."""
    problems = [damage.problem if with_advice else damage.problem.partition(ADVICE)[0] for damage in damages]
    return [f"{damage.chunk}: {problem}" for damage, problem in zip(damages, problems, strict=True)]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
