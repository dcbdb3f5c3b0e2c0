"""The splits of an image folder: those of its own folders, and drawn ones where it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vitgeom.data.folder_scan import Candidate
from vitgeom.data.splits import FRACTIONS, stratified_split
from vitgeom.seeding import derive_seed

_CARVED = 0.2
_NAMES_SHOWN = 10


def assign_splits(
    images: Sequence[Candidate], hashes: Sequence[str], *, seed: int
) -> tuple[list[Candidate], tuple[str, ...]]:
    """Fill in the splits that the layout leaves open.

    Without split folders each class is shared out 60/20/20; a missing val or test is a fifth of every class of train. Files with the
    same bytes in one class count once and stay together.

    Args:
        images: Usable images; all of them have a split, or none has.
        hashes: One per image.
        seed: Decides what the folders do not.

    Returns:
        The images with a split each, and notes for the reader: how it was done, and what weakens a measurement on it.
    """
    placed = list(images)
    present = {item.split for item in images}
    singles: tuple[str, ...] = ()
    if None in present:
        singles = _share_out(placed, hashes, FRACTIONS, seed)
        notes = [f"split 60/20/20 within each class (seed {seed})"]
    else:
        notes = ["split by its folders"]
        if missing := [split for split in ("val", "test") if split not in present]:
            shares = {"train": 1 - _CARVED * len(missing), **dict.fromkeys(missing, _CARVED)}
            singles = _share_out(placed, hashes, shares, seed)
            names = " and no ".join(missing)
            notes.append(f"no usable {names} folder: taken from train, 20 % of each class (seed {seed})")
    if singles:
        notes.append(f"{len(singles):,} classes with a single image, kept in train: {few(singles)}")
    return placed, tuple(notes + _weaknesses(placed, hashes))


def _share_out(
    placed: list[Candidate], hashes: Sequence[str], shares: Mapping[str, float], seed: int
) -> tuple[str, ...]:
    """Replace the split "train" or None in ``placed``; return the classes with one image."""
    rows = [row for row, item in enumerate(placed) if item.split in (None, "train")]
    unique = list(dict.fromkeys((placed[row].class_name, hashes[row]) for row in rows))
    result = stratified_split(
        [name for name, _ in unique], seed=derive_seed(seed, "folder"), fractions=shares
    )
    split_of = {unique[int(number)]: split for split, numbers in result.rows.items() for number in numbers}
    for row in rows:
        placed[row] = replace(placed[row], split=split_of[placed[row].class_name, hashes[row]])
    return result.singletons


def _weaknesses(placed: Sequence[Candidate], hashes: Sequence[str]) -> list[str]:
    """Say which classes are never trained on, and how many images are on both sides."""
    notes = []
    trained = {item.class_name for item in placed if item.split == "train"}
    if unseen := sorted({item.class_name for item in placed} - trained):
        notes.append(f"{len(unseen):,} classes without training images: {few(unseen)}")
    in_train = {digest for item, digest in zip(placed, hashes, strict=True) if item.split == "train"}
    leaked = sum(
        item.split != "train" and digest in in_train for item, digest in zip(placed, hashes, strict=True)
    )
    if leaked:
        notes.append(f"{leaked:,} val or test files are copies of train files")
    return notes


def few(names: Sequence[str]) -> str:
    """Return the first names as one text, and whether there are more.

    Args:
        names: In the order to show them.
    """
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
