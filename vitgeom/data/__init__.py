"""Sources of labelled images: built in, generated, or a folder of the user's own."""

from vitgeom.data.catalogue import DATASETS, open_dataset
from vitgeom.data.dataset import ImageDataset, Quarantined, Split
from vitgeom.data.reference import DatasetRef

__all__ = ["DATASETS", "DatasetRef", "ImageDataset", "Quarantined", "Split", "open_dataset"]
