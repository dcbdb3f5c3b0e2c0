"""A study of the user's own images: index the folder once, say what cannot be used, and take it as the only dataset."""

from __future__ import annotations

from collections.abc import Callable

from flows import console
from flows.params import Named
from flows.study import Study, store_uri
from flows.subset import apart, apart_on_folder
from tasks import index_dataset
from tasks.index_dataset import IndexRequest
from tasks.receipt import Receipt
from vitgeom.data import DatasetRef

SHOWN = 5


def settled(
    study: Study, data: str | None, *, index: Callable[[IndexRequest], Receipt] = index_dataset.run
) -> Study:
    """Return a study whose images and results folder are known: those of an image folder, or of the datasets that it names.

    Args:
        study: What is asked for.
        data: Folder with images of the user's own; None for the study's own datasets.
        index: Finds or makes the index of the folder.

    Raises:
        InvalidInput: The study cannot be understood, or the folder cannot be used.
    """
    study.resolve()  # a slip in the parameters is told before anything is read
    return apart(study) if data is None else study_of_folder(study, data, index=index)


def study_of_folder(
    study: Study, folder: str, *, index: Callable[[IndexRequest], Receipt] = index_dataset.run
) -> Study:
    """Return the same study over the images of a folder, with its results in a folder of their own.

    Args:
        study: What is asked for otherwise; its datasets are replaced.
        folder: One sub-folder per class, with or without train, val and test.
        index: Finds or makes the index of the folder.

    Raises:
        InvalidInput: The folder is missing or holds no usable images.
    """
    receipt = index(IndexRequest(store=store_uri(study.store), root=folder))
    ref = DatasetRef.from_json(receipt.detail["dataset"])
    console.say(
        f"{folder}: {receipt.rows:,} images of {len(receipt.detail['classes']):,} classes"
        f"{' (indexed before)' if receipt.cached else ''}; {'; '.join(receipt.detail['notes'])}"
    )
    _say_what_was_left_out(receipt.detail["quarantine"], receipt.detail["skipped"])
    chosen = Named(name=ref.name, options=dict(ref.options))
    return apart_on_folder(study.model_copy(update={"datasets": (chosen,)}), ref.slug)


def _say_what_was_left_out(quarantine: list[list[str]], skipped: dict[str, int]) -> None:
    for kind, count in skipped.items():
        console.say(f"  skipped {count:,}: {kind}")
    if quarantine:
        files = "1 file" if len(quarantine) == 1 else f"{len(quarantine):,} files"
        console.warn(f"left out, because they cannot be used: {files}; the report lists them all")
    for path, reason in quarantine[:SHOWN]:
        console.say(f"  {path}: {reason}")
    if len(quarantine) > SHOWN:
        console.say(f"  ... and {len(quarantine) - SHOWN:,} more")
