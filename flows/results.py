"""The files that a study leaves in its results folder: small, byte-identical for equal results, and the same under every orchestrator.

::

    features/<dataset>/<backbone>.json           manifest of the stored features, and what the dataset is
    features/<dataset>/<backbone>.directions.json    to which directions and tokens decoders react, if they were diagnosed
    features/<dataset>/<backbone>.metric.json    what models learnt of that, if they were asked to
    probes/<dataset>/<backbone>.safetensors      fitted probes
    probes/<dataset>/<backbone>.json             how they were fitted and chosen
    sweep/<dataset>/<backbone>.json              best settings of VFusion by validation, if swept
    sweep/<dataset>/<backbone>.trials.json       every trial of that sweep
    recoverability/<dataset>/<backbone>.json     what earlier layers recover of the last layer's errors
    fusion/<dataset>/<backbone>.json             how methods compare that fuse the layers, what each chose, which failed and why
    fusion/<dataset>/<backbone>.safetensors      their class indices on the test images, by method and seed
    fusion/<dataset>/<backbone>.shift.json       the same classifiers on shifted test sets, if they were asked about some
    horizontal/<dataset>.json                    the same table for the last layers of all backbones together
    horizontal/<dataset>.safetensors             their class indices on the test images
    report.html, figures/, metrics.csv, summary.json    written by tasks.render_report

The features themselves stay in the store; a manifest names their address in it and their digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save

from flows.cell import Cell
from flows.result_file import WAY_OUT, write_result
from tasks.opened import opened_dataset
from tasks.receipt import Receipt
from vitgeom.errors import InvalidInput
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.uri import Root

PROBE_FILES = {
    "probes.safetensors": "probes/{path}.safetensors",
    "probes.json": "probes/{path}.json",
    "recoverability.json": "recoverability/{path}.json",
}
SKIPPED, TOO_FEW = "skipped", "horizontal fusion needs at least 2 backbones"
FUSION_FILES = {
    "comparison.json": "fusion/{path}.json",
    "predictions.safetensors": "fusion/{path}.safetensors",
}
HORIZONTAL_FILES = {
    "comparison.json": "horizontal/{dataset}.json",
    "predictions.safetensors": "horizontal/{dataset}.safetensors",
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
        write_result(
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
            write_result(path, stored.read_bytes(name))

    def fusion(self, cell: Cell) -> dict[str, Path]:
        """Return the places of a cell's comparison files by the name that they have in the store."""
        return {name: self.folder / place.format(path=cell.path) for name, place in FUSION_FILES.items()}

    def write_fusion(self, cell: Cell, *, fused: Receipt) -> None:
        """Copy a cell's comparison out of the store; the fitted classifiers stay there."""
        stored = Root(fused.uri)
        for name, path in self.fusion(cell).items():
            write_result(path, stored.read_bytes(name))

    def read_fusion(self, cell: Cell) -> dict[str, Any]:
        """Return how methods compare on a cell.

        Raises:
            InvalidInput: The cell has no comparison yet.
        """
        return self._json(self.fusion(cell)["comparison.json"], cell, stage="fuse")

    def fusion_digest(self, cell: Cell) -> str:
        """Return the SHA-256 of a cell's comparison, by which figures under shift say whose they are."""
        return hashlib.sha256(self.fusion(cell)["comparison.json"].read_bytes()).hexdigest()

    def horizontal(self, dataset: str) -> dict[str, Path]:
        """Return the places of a dataset's comparison over several backbones by the name that they have in the store."""
        return {name: self.folder / place.format(dataset=dataset) for name, place in HORIZONTAL_FILES.items()}

    def write_horizontal(self, dataset: str, *, fused: Receipt) -> None:
        """Copy a dataset's comparison over several backbones out of the store."""
        stored = Root(fused.uri)
        for name, path in self.horizontal(dataset).items():
            write_result(path, stored.read_bytes(name))

    def skip_horizontal(self, dataset: str) -> None:
        """Write that a dataset has too few backbones for a comparison over several, and predictions of nothing."""
        told = {
            "comparison.json": (json.dumps({SKIPPED: TOO_FEW}, indent=1) + "\n").encode(),
            "predictions.safetensors": save({}),
        }
        for name, path in self.horizontal(dataset).items():
            write_result(path, told[name])

    def read_horizontal(self, dataset: str) -> dict[str, Any] | None:
        """Return how methods compare over several backbones; None for a dataset that has too few.

        Raises:
            InvalidInput: The dataset has no such comparison yet.
        """
        way_out = f"vitgeom stage horizontal --dataset {dataset} --out {shlex.quote(str(self.folder))}"
        content = _read(
            self.horizontal(dataset)["comparison.json"], dataset, way_out=way_out, stage="horizontal"
        )
        return None if SKIPPED in content else content

    def directions(self, cell: Cell) -> Path:
        """Return the place of what a cell's decoders react to."""
        return self.folder / "features" / f"{cell.path}.directions.json"

    def write_directions(self, cell: Cell, content: bytes) -> bool:
        """Write what a cell's decoders react to, and say whether other figures lay there."""
        return write_result(self.directions(cell), content)

    def read_directions(self, cell: Cell) -> dict[str, Any] | None:
        """Return what a cell's decoders react to; None where nobody asked.

        Raises:
            InvalidInput: The file is damaged.
        """
        place = self.directions(cell)
        return self._json(place, cell, stage="diagnose") if place.is_file() else None

    def metric(self, cell: Cell) -> Path:
        """Return the place of what was learnt of a cell's decoders."""
        return self.folder / "features" / f"{cell.path}.metric.json"

    def write_metric(self, cell: Cell, content: bytes) -> bool:
        """Write what was learnt of a cell's decoders, and say whether other figures lay there."""
        return write_result(self.metric(cell), content)

    def read_metric(self, cell: Cell) -> dict[str, Any] | None:
        """Return what was learnt of a cell's decoders; None where nobody asked.

        Raises:
            InvalidInput: The file is damaged.
        """
        return self._json(self.metric(cell), cell, stage="metric") if self.metric(cell).is_file() else None

    def shift(self, cell: Cell) -> Path:
        """Return the place of what a cell's classifiers do under shift."""
        return self.folder / "fusion" / f"{cell.path}.shift.json"

    def write_shift(self, cell: Cell, content: bytes) -> None:
        """Write what a cell's classifiers do under shift."""
        write_result(self.shift(cell), content)

    def read_shift(self, cell: Cell) -> dict[str, Any] | None:
        """Return what a cell's classifiers do under shift; None where nobody asked.

        Raises:
            InvalidInput: The file is damaged.
        """
        return self._json(self.shift(cell), cell, stage="shift") if self.shift(cell).is_file() else None

    def sweep(self, cell: Cell) -> dict[str, Path]:
        """Return the places of a cell's sweep files by the name that they have in the store."""
        return {name: self.folder / place.format(path=cell.path) for name, place in SWEEP_FILES.items()}

    def write_sweep(self, cell: Cell, *, swept: Receipt) -> None:
        """Copy a cell's sweep files out of the store."""
        stored = Root(swept.uri)
        for name, path in self.sweep(cell).items():
            write_result(path, stored.read_bytes(name))

    def read_recoverability(self, cell: Cell) -> dict[str, Any]:
        """Return what was found for a cell.

        Raises:
            InvalidInput: The cell has no probes yet.
        """
        return self._json(self.probes(cell)["recoverability.json"], cell, stage="probe")

    def _json(self, path: Path, cell: Cell, *, stage: str) -> dict[str, Any]:
        way_out = f"vitgeom stage {stage} {cell.arguments} --out {shlex.quote(str(self.folder))}"
        return _read(path, cell.name, way_out=way_out, stage=stage)


def _read(path: Path, name: str, *, way_out: str, stage: str) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise InvalidInput(
            f"{name} has no {str(path)!r} yet. Make it, with the same --profile and --set: {way_out}"
        ) from None
    except ValueError as error:
        raise InvalidInput(
            f"{str(path)!r} is damaged ({error}). Remove it and run stage {stage} again."
        ) from None


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
