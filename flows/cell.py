"""One cell of the study: a dataset under a backbone, with the labels that a reader and the file system see."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.params import Named, NamedBackbone
from vitgeom.backbones import EMBEDDED, BackboneRef
from vitgeom.data import DATASETS, DatasetRef
from vitgeom.errors import InvalidInput, UnknownName

WEIGHTS_FOLDER = "VITGEOM_WEIGHTS"


@dataclass(frozen=True)
class Cell:
    """A dataset and a backbone, by reference and by label.

    Attributes:
        dataset: Label of the dataset, under which its results are filed: its name, or name and hash where it has options.
        backbone: Label of the backbone.
        dataset_ref: What to read.
        backbone_ref: What to run.
        title: What a reader sees of the dataset, if not the label: the own name of an image folder.
    """

    dataset: str
    backbone: str
    dataset_ref: DatasetRef
    backbone_ref: BackboneRef
    title: str = ""

    @property
    def dataset_name(self) -> str:
        """What a reader sees of the dataset."""
        return self.title or self.dataset

    @property
    def name(self) -> str:
        """What a reader sees."""
        return f"{self.dataset_name} × {self.backbone}"

    @property
    def arguments(self) -> str:
        """How this cell alone is asked for on the command line, its backbone by its label."""
        options = dict(self.dataset_ref.options)
        own = (
            self.dataset_ref.name == "folder" and "index" in options
        )  # an image folder that --data has indexed
        images = f"--data {shlex.quote(str(options['root']))}" if own else f"--dataset {self.dataset}"
        return f"{images} --backbone {shlex.quote(self.backbone)}"

    @property
    def path(self) -> str:
        """Relative place of this cell's files."""
        return f"{self.dataset}/{self.backbone}"


def together(cells: Sequence[Cell]) -> Cell:
    """Return what stands for several backbones on one dataset in tables and messages; it has no files of its own.

    Args:
        cells: Of one dataset, at least one.
    """
    first = cells[0]
    return Cell(
        first.dataset,
        " + ".join(cell.backbone for cell in cells),
        first.dataset_ref,
        first.backbone_ref,
        first.title,
    )


def dataset_label(choice: Named) -> str:
    """Return the label under which a dataset's results are filed."""
    return DatasetRef.from_options(choice.name, **choice.options).slug


def backbone_label(choice: NamedBackbone) -> str:
    """Return the label under which a backbone's results are filed: the same wherever its weights file lies."""
    return BackboneRef.from_options(choice.name, **choice.options).slug


def dataset_of(choice: Named) -> DatasetRef:
    """Return the reference of a dataset.

    Raises:
        UnknownName: No dataset has this name.
    """
    if choice.name not in DATASETS:
        hint = "For images of your own: vitgeom benchmark --data FOLDER."
        raise UnknownName("dataset", choice.name, DATASETS, hint=hint)
    return DatasetRef.from_options(choice.name, **choice.options)


def backbone_of(choice: NamedBackbone) -> BackboneRef:
    """Return the reference of a backbone; its name or file is resolved now, so that a slip costs no work.

    Raises:
        UnknownName: No backbone has this name.
        InvalidInput: Its weights are neither here nor to be had, or the file cannot be used.
    """
    ref = _local(choice) or BackboneRef.from_options(choice.name, **choice.options)
    if ref.name not in EMBEDDED:
        _require_resolvable(ref, choice)
    return ref


def _local(choice: NamedBackbone) -> BackboneRef | None:
    """Return a reference to the weights file of a backbone, if ``VITGEOM_WEIGHTS`` has it."""
    folder = os.environ.get(WEIGHTS_FOLDER)
    if not folder or choice.file is None or not Path(folder, choice.file).is_file():
        return None
    options = {"architecture": choice.name.partition(".")[0], **choice.options}
    return BackboneRef.from_options(str(Path(folder, choice.file).absolute()), **options)


def _require_resolvable(ref: BackboneRef, choice: NamedBackbone) -> None:
    from vitgeom.backbones.sources import resolve  # brings timm, which takes seconds to import

    try:
        resolve(
            ref.name, architecture=ref.option("architecture"), pretrained=bool(ref.option("pretrained", True))
        )
    except UnknownName:
        raise
    except InvalidInput as error:
        hint = f" Or set {WEIGHTS_FOLDER} to a folder that holds {choice.file}." if choice.file else ""
        raise InvalidInput(f"{error}{hint}") from error
