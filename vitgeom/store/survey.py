"""What lies below a root: the addresses of stores of features and of targets, and whatever else was put among them."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.store.declaration import DECLARATION
from vitgeom.store.uri import Root

# Folder of each kind of store, and how deep below it a store lies.
_KINDS = (("features", 3), ("targets", 4))
# Either one shows that rows were meant to lie here; a store that lost the first one is damaged, not foreign.
_SIGNS = {DECLARATION, "done"}


@dataclass(frozen=True)
class Survey:
    """What was found.

    Attributes:
        stores: Addresses of stores, whole or damaged.
        foreign: Paths of everything else: files and folders that are no store.
    """

    stores: tuple[str, ...]
    foreign: tuple[str, ...]


def survey(root: Root) -> Survey:
    """Return the stores below a root and what lies among them; nothing is opened.

    Args:
        root: Where stores live.

    Raises:
        StoreError: The place cannot be listed.
    """
    stores: list[str] = []
    foreign: list[str] = []

    def look(path: str, levels: int) -> None:
        names = root.list(path)
        if not levels:
            (stores if _SIGNS & set(names) else foreign).append(path)
        elif not names:
            foreign.append(path)
        else:
            for name in names:
                look(f"{path}/{name}", levels - 1)

    for kind, levels in _KINDS:
        for dataset in root.list(kind):
            look(f"{kind}/{dataset}", levels - 1)
    return Survey(tuple(stores), tuple(foreign))
