"""A real stereo pair with measured disparity: the motorcycle that scikit-image carries.

Source: D. Scharstein et al., High-resolution stereo datasets with subpixel-accurate ground truth, GCPR 2014 (Middlebury 2014), reduced
by 4. The calibration below belongs to the reduced images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from skimage.data import stereo_motorcycle

FOCAL_LENGTH = 994.978
PRINCIPAL_POINT = (311.193, 254.877)
PRINCIPAL_SHIFT = 31.086
BASELINE = 0.193001


@dataclass(frozen=True, eq=False)
class StereoPair:
    """Two rectified photographs and what was measured about the left one.

    Attributes:
        left: uint8 [500, 741, 3], RGB.
        right: uint8 [500, 741, 3], RGB; its camera stands ``BASELINE`` to the right.
        disparity: float64 [500, 741], pixels: left pixel (row i, column j) shows what the right image shows at (i, j - disparity).
            NaN where nothing was measured.
        depth: float64 [500, 741], metres along the optical axis of the left camera; NaN where nothing was measured.
        points_camera: float64 [500, 741, 3], metres in the left camera (x right, y down, z forward); NaN where not measured.
        intrinsics: float64 [3, 3], K of the left camera, pixels; pixel (row i, column j) is at (u, v) = (j, i).
    """

    left: np.ndarray
    right: np.ndarray
    disparity: np.ndarray
    depth: np.ndarray
    points_camera: np.ndarray
    intrinsics: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """Bool [500, 741]: disparity is known here."""
        return np.isfinite(self.disparity)


def stereo_pair() -> StereoPair:
    """Read the pair; depth is f B / (disparity + shift of the principal points)."""
    left, right, disparity = stereo_motorcycle()
    disparity = np.where(np.isfinite(disparity), disparity, np.nan).astype(np.float64)
    depth = FOCAL_LENGTH * BASELINE / (disparity + PRINCIPAL_SHIFT)
    rows, columns = np.indices(depth.shape)
    x = (columns - PRINCIPAL_POINT[0]) / FOCAL_LENGTH * depth
    y = (rows - PRINCIPAL_POINT[1]) / FOCAL_LENGTH * depth
    intrinsics = np.array(
        [[FOCAL_LENGTH, 0, PRINCIPAL_POINT[0]], [0, FOCAL_LENGTH, PRINCIPAL_POINT[1]], [0, 0, 1.0]]
    )
    return StereoPair(left, right, disparity, depth, np.stack([x, y, depth], axis=-1), intrinsics)
