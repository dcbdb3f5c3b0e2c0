"""The metadata file of an image folder: a CSV table that gives class, split and sub-population of every image.

The first line names the columns; others than these are not read:

* ``path``, ``filename`` or ``img_filename``: the file, relative to the folder, with "/".
* ``label``, ``class`` or ``y``: the class, any text.
* ``split``: train, val or test, or their numbers 0, 1, 2. Without the column, splits are drawn.
* ``group``: the sub-population, any text; empty where there is none. Another column can be named, or several as ``"y+place"``: then each
  combination is a group. The published ``metadata.csv`` of Waterbirds is read with ``group="y+place"``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vitgeom.data.dataset import Quarantined
from vitgeom.data.decode import EXTENSIONS
from vitgeom.data.folder_scan import SPLIT_NAMES, Candidate, Scan
from vitgeom.errors import InvalidInput, UnknownName

_PATHS = ("path", "filename", "img_filename")
_LABELS = ("label", "class", "y")
_SPLITS = {**SPLIT_NAMES, "0": "train", "1": "val", "2": "test"}


@dataclass(frozen=True)
class FolderTable:
    """A metadata file, read.

    Attributes:
        scan: The files that it names; those that are not there are in its quarantine.
        subpopulations: Names of the groups, sorted.
        groups: Path -> name of its group; images without one are left out.
    """

    scan: Scan
    subpopulations: tuple[str, ...]
    groups: Mapping[str, str]

    def group_of(self, path: str) -> int:
        """Return the number of an image's group, or -1."""
        name = self.groups.get(path)
        return -1 if name is None else self.subpopulations.index(name)


def read_table(folder: Path, name: str, *, group: str = "group") -> FolderTable:
    """Read a metadata file and look for the files that it names.

    A file that is not there, or lies outside the folder, is quarantined; images in the folder that are not in the table are counted.

    Args:
        folder: The image folder.
        name: Of the CSV file, relative to it.
        group: The column of the group, or several with "+" between.

    Raises:
        UnknownName: The table has no column of that name.
        InvalidInput: The file cannot be read, or a line has no path, no class, an unknown split, or a path that was there before.
    """
    rows = _rows(folder / name)
    columns = list(rows[0])
    path_column, label_column = _first(columns, _PATHS, name), _first(columns, _LABELS, name)
    group_columns = group.split("+")
    for column in group_columns:
        if column not in columns:
            raise UnknownName(f"group column of {name!r}", column, columns, hint="Give option 'group'.")
    scan, groups, seen = Scan(), {}, set[str]()
    for line, row in enumerate(rows, start=2):
        path, label = row[path_column] or "", row[label_column] or ""
        if not path or not label or path in seen:
            problem = "lacks its path or class" if not path or not label else f"names {path!r} a second time"
            raise InvalidInput(f"line {line} of {name!r} {problem}. Give each image one line.")
        seen.add(path)
        if reason := _why_unusable(folder, path):
            scan.quarantine.append(Quarantined(path, reason))
            continue
        scan.candidates.append(Candidate(path, label, _split(row, line, name)))
        if value := _group(row, group_columns):
            groups[path] = value
    scan.candidates.sort(key=lambda candidate: candidate.path)
    if others := _count_others(folder, seen):
        scan.skipped[f"image that {name!r} does not name"] = others
    return FolderTable(scan, tuple(sorted(set(groups.values()))), groups)


def _rows(file: Path) -> list[dict[str, str]]:
    try:
        with open(file, encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(
            f"metadata file {str(file)!r} cannot be read ({error}). Give the name of a CSV file in the image folder."
        ) from error
    if not rows:
        raise InvalidInput(
            f"metadata file {str(file)!r} has no lines below its first. Give one line per image."
        )
    return rows


def _first(columns: Sequence[str], wanted: Sequence[str], name: str) -> str:
    found = [column for column in wanted if column in columns]
    if not found:
        raise InvalidInput(
            f"metadata file {name!r} has no column {' or '.join(wanted)}; it has {', '.join(map(str, columns))}. Name one so."
        )
    return found[0]


def _split(row: Mapping[str, str], line: int, name: str) -> str | None:
    if "split" not in row:
        return None
    given = (row["split"] or "").strip().lower()
    if given not in _SPLITS:
        raise InvalidInput(
            f"line {line} of {name!r} has the split {row['split']!r}. Use train, val or test, or 0, 1 or 2."
        )
    return _SPLITS[given]


def _group(row: Mapping[str, str], columns: Sequence[str]) -> str | None:
    """Return the name of the group, or None if part of it is empty."""
    values = [row[column] for column in columns]
    if not all(values):
        return None
    return (
        values[0]
        if len(columns) == 1
        else ", ".join(f"{c}={v}" for c, v in zip(columns, values, strict=True))
    )


def _why_unusable(folder: Path, path: str) -> str | None:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        return "the path leads out of the folder"
    if not os.path.isfile(folder / path):
        return "the file is not there"
    if not (folder / path).resolve().is_relative_to(folder.resolve()):
        return "link leads out of the folder"
    return None


def _count_others(folder: Path, named: set[str]) -> int:
    """Return how many images below the folder are not in the table."""
    others = 0
    for here, _, files in os.walk(folder):
        for name in files:
            path = Path(here, name).relative_to(folder).as_posix()
            others += os.path.splitext(name)[1].lower() in EXTENSIONS and path not in named
    return others
