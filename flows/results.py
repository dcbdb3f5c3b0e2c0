"""The files that a study leaves in its results folder: small, byte-identical for equal results, and the same under every orchestrator.

::

    features/<dataset>/<backbone>.json           manifest of the stored features, and what the dataset is
    probes/<dataset>/<backbone>.safetensors      fitted probes
    probes/<dataset>/<backbone>.json             how they were fitted and chosen
    sweep/<dataset>/<backbone>.json              best settings of VFusion by validation, if swept
    sweep/<dataset>/<backbone>.trials.json       every trial of that sweep
    recoverability/<dataset>/<backbone>.json     what earlier layers recover of the last layer's errors
    report.html, figures/, metrics.csv, summary.json    written by tasks.render_report

The features themselves stay in the store; a manifest names their address in it and their digest.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.cell import Cell
from tasks.opened import opened_dataset
from tasks.receipt import Receipt
from vitgeom.errors import InvalidInput, StoreError
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.uri import Root

WAY_OUT = "Name another results folder with --out FOLDER, or make room for this one."
PROBE_FILES = {
    "probes.safetensors": "probes/{path}.safetensors",
    "probes.json": "probes/{path}.json",
    "recoverability.json": "recoverability/{path}.json",
}
SWEEP_FILES = {"best.json": "sweep/{path}.json", "trials.json": "sweep/{path}.trials.json"}


@dataclass(frozen=True)
class Results:
    """The results folder of one study.

    Raises:
        InvalidInput: It is there and cannot be written, or cannot be made. Nothing is created to find out.
    """

    folder: Path

    def __post_init__(self) -> None:
        problem = _obstacle(self.folder.absolute())
        if problem:
            raise InvalidInput(f"results folder {str(self.folder)!r} cannot be written: {problem}. {WAY_OUT}")

    def features(self, cell: Cell) -> Path:
        """Return the place of a cell's manifest."""
        return self.folder / "features" / f"{cell.path}.json"

    def probes(self, cell: Cell) -> dict[str, Path]:
        """Return the places of a cell's probe files by the name that they have in the store."""
        return {name: self.folder / place.format(path=cell.path) for name, place in PROBE_FILES.items()}

    def write_features(self, cell: Cell, *, store: str, sealed: Receipt) -> None:
        """Write the manifest of a cell's features with what a report says about its dataset."""
        address = sealed.detail["address"]
        manifest = Root(store).join(address).read_json(MANIFEST)
        data = opened_dataset(cell.dataset_ref.to_json(), digest=manifest["description"]["dataset"])
        about = {
            "label": cell.dataset,
            "source": data.source,
            "classes": list(data.classes),
            "chance": data.chance,
            "quarantine": [[item.path, item.reason] for item in data.quarantine],
            "skipped": dict(data.skipped),
        }
        _write(
            self.features(cell),
            (json.dumps({**manifest, "dataset": about}, indent=1, sort_keys=True) + "\n").encode(),
        )

    def read_features(self, cell: Cell) -> tuple[Manifest, dict[str, Any]]:
        """Return a cell's manifest and what it says about the dataset.

        Raises:
            InvalidInput: The cell has no manifest yet.
            CorruptData: The manifest does not match its own digest.
        """
        content = self._json(self.features(cell), cell, stage="extract")
        return Manifest.from_json(content), content["dataset"]

    def write_probes(self, cell: Cell, *, fitted: Receipt) -> None:
        """Copy a cell's probe files out of the store."""
        stored = Root(fitted.uri)
        for name, path in self.probes(cell).items():
            _write(path, stored.read_bytes(name))

    def sweep(self, cell: Cell) -> dict[str, Path]:
        """Return the places of a cell's sweep files by the name that they have in the store."""
        return {name: self.folder / place.format(path=cell.path) for name, place in SWEEP_FILES.items()}

    def write_sweep(self, cell: Cell, *, swept: Receipt) -> None:
        """Copy a cell's sweep files out of the store."""
        stored = Root(swept.uri)
        for name, path in self.sweep(cell).items():
            _write(path, stored.read_bytes(name))

    def read_recoverability(self, cell: Cell) -> dict[str, Any]:
        """Return what was found for a cell.

        Raises:
            InvalidInput: The cell has no probes yet.
        """
        return self._json(self.probes(cell)["recoverability.json"], cell, stage="probe")

    def _json(self, path: Path, cell: Cell, *, stage: str) -> dict[str, Any]:
        try:
            return dict(json.loads(path.read_bytes()))
        except FileNotFoundError:
            way_out = f"vitgeom stage {stage} --dataset {cell.dataset} --backbone {cell.backbone}"
            raise InvalidInput(
                f"{cell.name} has no {str(path)!r} yet. Make it, with the same --profile: {way_out}"
            ) from None
        except ValueError as error:
            raise InvalidInput(
                f"{str(path)!r} is damaged ({error}). Remove it and run stage {stage} again."
            ) from None


def _write(path: Path, data: bytes) -> None:
    """Write a file whole; equal content leaves the file and its time of change alone.

    Raises:
        StoreError: The folder cannot be written, or is full.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        problem = error.strerror or type(error).__name__
        raise StoreError(f"result file {str(path)!r} cannot be written: {problem}. {WAY_OUT}") from error


def _obstacle(folder: Path) -> str:
    """Return why nothing can be written below a folder that need not be there yet, or ""."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place):
            break
    if not place.is_dir():
        return f"{str(place)!r} is not a folder"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{str(place)!r} is read-only for this user"
    return ""
