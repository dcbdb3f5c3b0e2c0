"""Test sets under distribution shift: corrupted on the fly, official arrays, folder trees. Nothing here can be fitted on."""

from vitgeom.data.shift.catalogue import SHIFTED, open_images, open_shifted
from vitgeom.data.shift.corrupted_images import corrupted, corrupted_ref
from vitgeom.data.shift.shifted_test import ShiftedTest

__all__ = ["SHIFTED", "ShiftedTest", "corrupted", "corrupted_ref", "open_images", "open_shifted"]
