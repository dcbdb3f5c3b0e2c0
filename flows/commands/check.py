"""``vitgeom verify`` and ``vitgeom repair``: re-read everything that is stored, and take out what is damaged."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from flows.commands.study_arguments import add_store

if TYPE_CHECKING:
    from vitgeom.store.features import FeatureStore
    from vitgeom.store.uri import Root


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    verify = commands.add_parser(
        "verify", help="re-read all stored features and compare them with their digests"
    )
    repair = commands.add_parser(
        "repair", help="remove damaged ranges, so that the next run computes only those again"
    )
    for command, action in ((verify, run_verify), (repair, run_repair)):
        add_store(command)
        command.set_defaults(run=action)


def run_verify(arguments: argparse.Namespace) -> int:
    """List all damage; exit code 1 if there is any."""
    from vitgeom.store.integrity import verify

    damaged = _each(arguments.store, verify, found="damaged")
    if damaged:
        print("Way out: vitgeom repair, then the same benchmark again; it computes only what was removed.")
    return 1 if damaged else 0


def run_repair(arguments: argparse.Namespace) -> int:
    """Remove all damage, unless another driver is at work on it."""
    from vitgeom.store.integrity import repair

    removed = _each(arguments.store, repair, found="removed", alone=True)
    if removed:
        print("The same benchmark again computes only what was removed.")
    return 0


def _each(
    store: str | None, action: Callable[[FeatureStore], list], *, found: str, alone: bool = False
) -> int:
    from flows.study import store_uri
    from vitgeom.store.features import open_features
    from vitgeom.store.lease import lease
    from vitgeom.store.uri import Root

    root = Root(store_uri(store))
    addresses = list(_addresses(root))
    total = 0
    for address in addresses:
        features = open_features(root, address)
        with lease(root, address) if alone else nullcontext():
            damages = action(features)
        missing = len(features.missing())
        state = f"{len(damages)} places {found}" if damages else "good"
        print(f"{address}: {state}{f', {missing} ranges not computed yet' if missing else ''}")
        for damage in damages:
            print(f"  {damage.chunk}: {damage.problem}")
        total += len(damages)
    stores = "1 feature store" if len(addresses) == 1 else f"{len(addresses)} feature stores"
    print(f"{stores} below {root.uri}, {total} places {found}")
    return total


def _addresses(root: Root) -> Iterator[str]:
    for dataset in root.list("features"):
        for backbone in root.list(f"features/{dataset}"):
            for fingerprint in root.list(f"features/{dataset}/{backbone}"):
                yield f"features/{dataset}/{backbone}/{fingerprint}"
