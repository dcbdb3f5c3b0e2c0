"""Test sets under distribution shift: corrupted on the fly, official arrays, folder trees, sub-populations. Nothing here can be fitted on."""

from vitgeom.data.shift.catalogue import SHIFTED, open_images, open_shifted
from vitgeom.data.shift.corrupted_images import corrupted, corrupted_ref
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.data.shift.subpopulations import has_subpopulations, subpopulations_ref

__all__ = [
    "SHIFTED",
    "ShiftedTest",
    "corrupted",
    "corrupted_ref",
    "has_subpopulations",
    "open_images",
    "open_shifted",
    "subpopulations_ref",
]
