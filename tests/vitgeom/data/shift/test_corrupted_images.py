from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from vitgeom.data import DatasetRef, ShiftedTest, corrupted, corrupted_ref, open_dataset, open_shifted
from vitgeom.data.corruptions import CORRUPTIONS, corrupt
from vitgeom.data.shift.corrupted_images import probe_card
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.seeding import derive_seed

NOISE = DatasetRef.from_options("noise", n=30, classes=3, size=24)


@pytest.fixture(scope="module")
def digits():
    return open_dataset(DatasetRef("digits"))


def test_rows_are_those_of_the_clean_test_damaged_by_name(digits):
    data = corrupted(digits, corruption="shot_noise", severity=2, seed=7)
    clean = digits.splits["test"]
    assert list(data.test.sample_ids) == list(clean.sample_ids)
    np.testing.assert_array_equal(data.test.labels, clean.labels)
    assert data.classes == digits.classes
    assert (data.clean_digest, data.corruption, data.severity) == (digits.digest, "shot_noise", 2)
    for row in (0, 3, len(clean) - 1):
        generator = np.random.default_rng(derive_seed(7, "corruption", "shot_noise", clean.sample_ids[row]))
        expected = corrupt(clean.read(row), corruption="shot_noise", severity=2, generator=generator)
        assert data.test.read(row).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_order_workers_and_opening_change_no_byte(name):
    """Read in order, shuffled, twice, from a second opening, and from several threads."""
    ref = corrupted_ref(NOISE, corruption=name, severity=4)
    first, second = open_shifted(ref).test, open_shifted(ref).test
    rows = list(range(len(first)))
    in_order = {row: first.read(row).tobytes() for row in rows}
    shuffled = random.Random(1).sample(rows, len(rows))
    assert {row: first.read(row).tobytes() for row in shuffled} == in_order
    with ThreadPoolExecutor(4) as pool:
        assert (
            dict(zip(shuffled, pool.map(lambda row: second.read(row).tobytes(), shuffled), strict=True))
            == in_order
        )


def test_the_clean_splits_stay_as_they_are(digits):
    before = {name: split.read(0).tobytes() for name, split in digits.splits.items()}
    data = corrupted(digits, corruption="contrast", severity=5)
    data.test.read(0)
    assert {name: split.read(0).tobytes() for name, split in digits.splits.items()} == before
    assert list(data.splits) == ["test"]
    assert data.test.read(0).tobytes() != before["test"]


def test_two_images_get_noise_of_their_own_and_severities_share_it():
    def noise(row, severity):
        split = corrupted(open_dataset(NOISE), corruption="gaussian_noise", severity=severity).test
        clean = open_dataset(NOISE).splits["test"].read(row)
        change = np.asarray(split.read(row), dtype=float) - np.asarray(clean, dtype=float)
        return change.ravel()

    assert abs(np.corrcoef(noise(0, 5), noise(1, 5))[0, 1]) < 5 / np.sqrt(24 * 24 * 3)
    assert np.corrcoef(noise(0, 5), noise(0, 4))[0, 1] > 0.8


def test_the_digest_names_the_content(digits, monkeypatch):
    def digest(data=digits, corruption="fog", severity=3, seed=0):
        return corrupted(data, corruption=corruption, severity=severity, seed=seed).digest

    first = digest()
    assert first == digest()
    others = [
        digest(data=open_dataset(DatasetRef.from_options("digits", size=32))),
        digest(corruption="contrast"),
        digest(severity=4),
        digest(seed=1),
    ]
    monkeypatch.setattr("vitgeom.data.shift.corrupted_images.VERSION", 0)
    others.append(digest())
    assert len({first, *others}) == 6


def test_a_library_that_gives_other_pixels_gives_another_digest(digits, monkeypatch):
    first = corrupted(digits, corruption="jpeg_compression", severity=3).digest

    def other(image, **options):
        result = corrupt(image, **options)
        pixels = np.array(result)
        pixels[-1, -1, 0] ^= 1
        return Image.fromarray(pixels)

    monkeypatch.setattr("vitgeom.data.shift.corrupted_images.corrupt", other)
    assert corrupted(digits, corruption="jpeg_compression", severity=3).digest != first


def test_a_reference_opens_the_same_test_set_as_the_function(digits):
    ref = corrupted_ref(DatasetRef.from_options("digits", size=32), corruption="fog", severity=2, seed=5)
    assert DatasetRef.from_json(ref.to_json()) == ref
    assert ref == DatasetRef.from_options(
        "corrupted", of="digits", of_size=32, corruption="fog", severity=2, seed=5
    )
    data = open_shifted(ref)
    assert isinstance(data, ShiftedTest)
    clean = open_dataset(DatasetRef.from_options("digits", size=32))
    assert data.digest == corrupted(clean, corruption="fog", severity=2, seed=5).digest
    assert "fog, severity 2 of 5 (seed 5)" in data.source
    assert "\n" not in data.source


def test_sub_populations_are_kept():
    clean = open_dataset(DatasetRef.from_options("spurious_scenes", size=16, train=4, val=4, test=8))
    data = corrupted(clean, corruption="fog", severity=1)
    assert data.subpopulations == clean.subpopulations
    np.testing.assert_array_equal(data.test.groups, clean.splits["test"].groups)


def test_the_card_shows_every_level():
    card = np.asarray(probe_card())
    assert len(np.unique(card[..., 1])) > 200
    assert set(np.unique(card[..., 2])) == {0, 255}


def test_what_is_unknown_is_refused_before_the_dataset_is_opened():
    with pytest.raises(UnknownName, match="Did you mean 'gaussian_noise'"):
        corrupted_ref(DatasetRef("digits"), corruption="gausian_noise", severity=3)
    with pytest.raises(UnknownName, match="Did you mean 'fog'"):
        open_shifted(DatasetRef.from_options("corrupted", of="nothing", corruption="fogg", severity=3))
    with pytest.raises(InvalidInput, match="severity must be one of 1, 2, 3, 4, 5"):
        open_shifted(DatasetRef.from_options("corrupted", of="digits", corruption="fog", severity=0))
    with pytest.raises(InvalidInput, match="option 'seed' must be a whole number >= 0"):
        corrupted(open_dataset(NOISE), corruption="fog", severity=1, seed=-1)
    with pytest.raises(InvalidInput, match="option 'severity' of shifted test set 'corrupted' is missing"):
        open_shifted(DatasetRef.from_options("corrupted", of="digits", corruption="fog"))
