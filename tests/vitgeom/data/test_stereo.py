from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.stereo import BASELINE, FOCAL_LENGTH, PRINCIPAL_SHIFT, StereoPair, stereo_pair


@pytest.fixture(scope="module")
def pair() -> StereoPair:
    return stereo_pair()


def test_disparity_leads_from_the_left_to_the_right_image(pair):
    """Photometric check: the pixel that the disparity names looks alike; without it, or the other way, it does not."""
    rows, columns = np.nonzero(pair.measured & (np.arange(741) > 100) & (np.arange(741) < 640))
    shift = np.rint(pair.disparity[rows, columns]).astype(int)
    left = pair.left[rows, columns].astype(float)

    def difference(sign: int) -> float:
        return float(np.abs(left - pair.right[rows, columns + sign * shift]).mean())

    assert difference(-1) < 10
    assert difference(0) > 3 * difference(-1)
    assert difference(1) > 3 * difference(-1)


def test_depth_and_disparity_are_inverse_to_each_other(pair):
    known = pair.measured
    back = FOCAL_LENGTH * BASELINE / pair.depth[known] - PRINCIPAL_SHIFT
    np.testing.assert_allclose(back, pair.disparity[known], rtol=1e-9)
    assert 2.0 < pair.depth[known].min() < pair.depth[known].max() < 5.1  # metres: a motorcycle in a garage


def test_points_project_onto_their_own_pixel(pair):
    rows, columns = np.nonzero(pair.measured)
    on_image = pair.points_camera[rows, columns] @ pair.intrinsics.T
    np.testing.assert_allclose(on_image[:, 0] / on_image[:, 2], columns, atol=1e-8)
    np.testing.assert_allclose(on_image[:, 1] / on_image[:, 2], rows, atol=1e-8)


def test_where_nothing_was_measured_everything_is_nan(pair):
    assert 0.9 < pair.measured.mean() < 0.95
    assert np.isnan(pair.depth[~pair.measured]).all()
    assert np.isnan(pair.points_camera[~pair.measured]).all()
    assert np.isfinite(pair.points_camera[pair.measured]).all()
