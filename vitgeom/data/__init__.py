"""Sources of labelled images: built in, generated, or a folder of the user's own; and test sets under shift."""

from vitgeom.data.catalogue import DATASETS, open_dataset
from vitgeom.data.dataset import ImageDataset, LabelledImages, Quarantined, Split
from vitgeom.data.reference import DatasetRef
from vitgeom.data.shift import (
    SHIFTED,
    ShiftedTest,
    corrupted,
    corrupted_ref,
    has_subpopulations,
    open_images,
    open_shifted,
    subpopulations_ref,
)

__all__ = [
    "DATASETS",
    "SHIFTED",
    "DatasetRef",
    "ImageDataset",
    "LabelledImages",
    "Quarantined",
    "ShiftedTest",
    "Split",
    "corrupted",
    "corrupted_ref",
    "has_subpopulations",
    "open_dataset",
    "open_images",
    "open_shifted",
    "subpopulations_ref",
]
