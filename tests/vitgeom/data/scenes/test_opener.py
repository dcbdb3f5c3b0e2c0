from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from vitgeom.data.scenes import CLASSES, open_scenes, render_scene, scene_stream
from vitgeom.errors import InvalidInput, UnknownName


def test_rows_are_the_scenes_of_their_stream():
    data = open_scenes(size=32, train=12, val=10, test=11, seed=3)
    for name, count in (("train", 12), ("val", 10), ("test", 11)):
        split = data.splits[name]
        assert len(split) == count
        for row in (0, count - 1):
            scene = render_scene(3, row, stream=name, size=32)
            np.testing.assert_array_equal(np.asarray(split.read(row)), scene.image)
            assert split.labels[row] == scene.label
        assert split.read(0).mode == "RGB"


def test_the_benchmark_has_enough_images_and_balanced_classes():
    data = open_scenes()
    assert sum(len(split) for split in data.splits.values()) >= 1500
    assert data.classes == CLASSES
    for split in data.splits.values():
        counts = np.bincount(split.labels, minlength=len(CLASSES))
        assert counts.max() - counts.min() <= 1
    assert data.chance == pytest.approx(0.1)


def test_no_image_is_in_two_streams():
    data = open_scenes(size=16, train=8, val=8, test=8)
    seen = [split.read(row).tobytes() for split in data.splits.values() for row in range(8)]
    seen += [scene.image.tobytes() for scene in scene_stream(0, 0, 8, size=16)]
    assert len(set(seen)) == 32


def test_a_stream_can_be_entered_anywhere():
    late = list(scene_stream(0, 100, 103, size=16))
    for scene, index in zip(late, range(100, 103), strict=True):
        np.testing.assert_array_equal(scene.image, render_scene(0, index, size=16).image)
    assert len(list(islice(scene_stream(0, 0, 10**9, size=16), 2))) == 2


def test_the_digest_names_the_content():
    base = open_scenes(size=16, train=5, val=5, test=5)
    assert base.digest == open_scenes(size=16, train=5, val=5, test=5).digest
    others = [
        open_scenes(size=18, train=5, val=5, test=5),
        open_scenes(size=16, train=6, val=5, test=5),
        open_scenes(size=16, train=5, val=5, test=5, seed=1),
        open_scenes(size=16, train=5, val=5, test=5, noise=5.0),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 5


def test_bad_options_are_refused():
    with pytest.raises(InvalidInput, match="option 'size' must be a whole number >= 16, got 4"):
        open_scenes(size=4)
    with pytest.raises(InvalidInput, match="option 'val' must be a whole number >= 1, got 0"):
        open_scenes(val=0)
    with pytest.raises(UnknownName, match="Did you mean 'noise'"):
        open_scenes(nois=1.0)
    with pytest.raises(IndexError, match="row 5 is not in this split of 5"):
        open_scenes(size=16, train=5, val=5, test=5).splits["val"].read(5)
