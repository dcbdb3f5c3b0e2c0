"""What is asked of a study, as small JSON that every flow, deployment and DVC stage can be given; and what that comes to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from flows.cell import Cell, backbone_label, backbone_of, dataset_label, dataset_of
from flows.departures import folder_name, other_names, other_parameters
from flows.params import BackboneChoice, DatasetChoice, Named, NamedBackbone, Profile
from flows.profiles import load_profile
from vitgeom.data.reference import distinct_titles
from vitgeom.errors import InvalidInput

STORE = Path(".vitgeom") / "store"
RESULT_FOLDERS = (
    "features",
    "probes",
    "recoverability",
    "fusion",
    "horizontal",
    "sweep",
    "figures",
)
T = TypeVar("T", bound=Named)


class Study(BaseModel):
    """A request for a study; everything left out comes from the profile.

    Attributes:
        profile: Name in the parameter file; its default profile when None.
        datasets: Only these: names of the profile's entries, other known names, or entries with options.
        backbones: Likewise.
        store: URI of the feature store; ``VITGEOM_STORE`` or ``.vitgeom/store`` when None.
        out: Folder for results; when None ``results/<profile>``, and one of its own where overrides change what is computed.
        overrides: ``key=value`` below the profile.
        params_file: The parameter file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str | None = None
    datasets: tuple[DatasetChoice, ...] | None = None
    backbones: tuple[BackboneChoice, ...] | None = None
    store: str | None = None
    out: str | None = None
    overrides: tuple[str, ...] = ()
    params_file: str = "params.yaml"

    def resolve(self) -> Resolved:
        """Read the parameters and name the cells.

        Raises:
            InvalidInput: A parameter, dataset or backbone is not allowed, or the results folder and the store lie in each other;
                nothing has been computed yet.
        """
        name, params = load_profile(Path(self.params_file), self.profile, overrides=self.overrides)
        datasets = _chosen(self.datasets, params.datasets, dataset_label)
        backbones = _chosen(self.backbones, params.backbones, backbone_label)
        departures = self._departures(params)
        store, out = store_uri(self.store), self.out or f"results/{folder_name(name, departures)}"
        _check_apart(store, out)
        return Resolved(
            profile=name,
            params=params,
            store=store,
            out=Path(out),
            cells=tuple(_cells(datasets, backbones)),
            departures=departures,
        )

    def plain(self) -> Profile | None:
        """Return the parameters of the profile as the file has them; None where it is not allowed without the overrides."""
        try:
            return load_profile(Path(self.params_file), self.profile)[1]
        except InvalidInput:
            return None

    def _departures(self, params: Profile) -> tuple[str, ...]:
        """Return what the overrides change of what is computed."""
        if not self.overrides:
            return ()
        plain = self.plain()
        named = other_names(
            plain,
            datasets=[dataset_label(choice) for choice in params.datasets],
            backbones=[backbone_label(choice) for choice in params.backbones],
        )
        return (*named, *other_parameters(plain, params))


@dataclass(frozen=True)
class Resolved:
    """A study whose parameters, places and cells are known and allowed.

    Attributes:
        profile: Name of the profile.
        params: Its parameters, with the overrides.
        store: URI of the feature store.
        out: Folder for results.
        cells: Every dataset under every backbone.
        departures: What overrides changed of what is computed, one ``key=value`` or name each.
    """

    profile: str
    params: Profile
    store: str
    out: Path
    cells: tuple[Cell, ...]
    departures: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What is studied: the image folders where there is nothing else, or else the profile."""
        names = list(dict.fromkeys(cell.dataset_name for cell in self.cells))
        own = all(cell.dataset_ref.name == "folder" for cell in self.cells)
        return ", ".join(names) if own and names else self.profile

    @property
    def place_note(self) -> str | None:
        """Say where the results of changed parameters are, None where nothing is changed."""
        if not self.departures:
            return None
        changes = ", ".join(self.departures)
        return f"{changes}: other than in profile {self.profile!r}; results are in {self.out}"


def store_uri(given: str | None = None) -> str:
    """Return the URI of the feature store: the given one, ``VITGEOM_STORE``, or ``.vitgeom/store`` in the current folder."""
    uri = given or os.environ.get("VITGEOM_STORE") or str(STORE)
    return uri if "://" in uri else str(Path(uri).absolute())


def _check_apart(store: str, out: str) -> None:
    """Refuse a results folder in the store, and a store in a folder that holds results: their files would mix.

    Raises:
        InvalidInput: One lies in the other.
    """
    stored, results = _local(store), _local(out)
    if stored is None or results is None:
        return
    if results.is_relative_to(stored):
        raise InvalidInput(
            f"results folder {str(results)!r} lies in the feature store {str(stored)!r}, where only features belong. Name a folder outside"
            " it with --out FOLDER, or another store with --store FOLDER."
        )
    if any(stored.is_relative_to(results / name) for name in RESULT_FOLDERS):
        raise InvalidInput(
            f"feature store {str(stored)!r} lies in results folder {str(results)!r} where results of that name belong. Name a store outside"
            " it with --store FOLDER, or another results folder with --out FOLDER."
        )


def _local(place: str) -> Path | None:
    """Return the real path of a place on this machine, None for any other."""
    scheme, mark, rest = place.partition("://")
    if mark and scheme not in ("file", "local"):
        return None
    return Path(rest if mark else place).resolve()


def _chosen(asked: Sequence[T] | None, entries: Sequence[T], label: Callable[[T], str]) -> Sequence[T]:
    """Return the asked entries; the bare name or label of one of the profile's entries means that entry, with its options."""
    if asked is None:
        return entries
    known = {label(entry): entry for entry in entries} | {entry.name: entry for entry in entries}
    return [
        known.get(entry.name, entry) if entry == type(entry)(name=entry.name) else entry for entry in asked
    ]


def _cells(datasets: Sequence[Named], backbones: Sequence[NamedBackbone]) -> Iterator[Cell]:
    images = [(dataset_label(choice), dataset_of(choice)) for choice in datasets]
    models = [(backbone_label(choice), backbone_of(choice)) for choice in backbones]
    titles = distinct_titles([ref for _, ref in images])
    seen: set[str] = set()
    for ((dataset, dataset_ref), title), (backbone, backbone_ref) in product(
        zip(images, titles, strict=True), models
    ):
        cell = Cell(dataset, backbone, dataset_ref, backbone_ref, title=title)
        if cell.path in seen:
            raise InvalidInput(f"{cell.name} is named twice. Name each dataset and each backbone once.")
        seen.add(cell.path)
        yield cell
