"""One cell of the study: a dataset under a backbone, with the labels that a reader and the file system see."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from flows.params import Named, NamedBackbone
from vitgeom.backbones import EMBEDDED, BackboneRef
from vitgeom.data import DATASETS, DatasetRef
from vitgeom.errors import UnknownName

WEIGHTS_FOLDER = "VITGEOM_WEIGHTS"


@dataclass(frozen=True)
class Cell:
    """A dataset and a backbone, by reference and by label.

    Attributes:
        dataset: Label of the dataset: its name, or name and hash where it has options.
        backbone: Label of the backbone.
        dataset_ref: What to read.
        backbone_ref: What to run.
    """

    dataset: str
    backbone: str
    dataset_ref: DatasetRef
    backbone_ref: BackboneRef

    @property
    def name(self) -> str:
        """What a reader sees."""
        return f"{self.dataset} × {self.backbone}"

    @property
    def path(self) -> str:
        """Relative place of this cell's files."""
        return f"{self.dataset}/{self.backbone}"


def dataset_of(choice: Named) -> tuple[str, DatasetRef]:
    """Return label and reference of a dataset.

    Raises:
        UnknownName: No dataset has this name.
    """
    if choice.name not in DATASETS:
        hint = "For images of your own: vitgeom benchmark --data FOLDER."
        raise UnknownName("dataset", choice.name, DATASETS, hint=hint)
    ref = DatasetRef.from_options(choice.name, **choice.options)
    return ref.slug, ref


def backbone_of(choice: NamedBackbone) -> tuple[str, BackboneRef]:
    """Return label and reference of a backbone; its name or file is resolved now, so that a slip costs no work.

    Raises:
        UnknownName: No backbone has this name.
        InvalidInput: Its weights are neither here nor to be had, or the file cannot be used.
    """
    ref = BackboneRef.from_options(choice.name, **choice.options)
    local = _local_file(choice)
    if local is not None:
        options = {"architecture": choice.name.partition(".")[0], **choice.options}
        ref = BackboneRef.from_options(str(local), **options)
    if ref.name not in EMBEDDED:
        from vitgeom.backbones.sources import resolve  # brings timm, which takes seconds to import

        resolve(
            ref.name, architecture=ref.option("architecture"), pretrained=bool(ref.option("pretrained", True))
        )
    return (ref.slug if local is None else _path_safe(choice.name)), ref


def _local_file(choice: NamedBackbone) -> Path | None:
    folder = os.environ.get(WEIGHTS_FOLDER)
    if not folder or choice.file is None:
        return None
    file = Path(folder, choice.file).absolute()
    return file if file.is_file() else None


def _path_safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)
