"""How a cell is called, by readers and on the command line."""

from __future__ import annotations

import shlex

from flows.cell import Cell, together
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef

BACKBONE = BackboneRef("nano_selfsup")


def test_images_of_ones_own_are_asked_for_by_their_folder() -> None:
    ref = DatasetRef.from_options("folder", root="/photos/my flowers", index="/store/index.json")
    cell = Cell(ref.slug, "nano_selfsup", ref, BACKBONE, title="my flowers")

    assert shlex.split(cell.arguments) == ["--data", "/photos/my flowers", "--backbone", "nano_selfsup"]
    assert cell.name == "my flowers × nano_selfsup"


def test_every_other_dataset_is_asked_for_by_its_label() -> None:
    for ref in (DatasetRef("digits"), DatasetRef.from_options("folder", root="/photos/in a profile")):
        cell = Cell(ref.slug, "nano_selfsup", ref, BACKBONE)
        assert cell.arguments == f"--dataset {ref.slug} --backbone nano_selfsup"


def test_several_backbones_are_called_by_all_their_names() -> None:
    cells = [
        Cell("digits", name, DatasetRef("digits"), BackboneRef(name))
        for name in ("nano_selfsup", "nano_supervised")
    ]
    assert together(cells).name == "digits × nano_selfsup + nano_supervised"
