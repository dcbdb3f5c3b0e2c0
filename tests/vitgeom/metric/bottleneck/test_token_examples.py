from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import pictures
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import TokenExamples
from vitgeom.metric.bottleneck.token_examples import BATCH
from vitgeom.metric.training import Examples


def test_any_rows_come_back_in_the_order_asked_for(joined):
    images = pictures(BATCH + 3)
    examples = TokenExamples(joined, images)
    rows = torch.tensor([BATCH + 2, 0, 5, 0])
    found = examples.batch(rows)
    assert isinstance(examples, Examples)
    assert examples.num_images == BATCH + 3
    wanted = joined.tokens(images[rows])
    torch.testing.assert_close(found["features"], wanted)
    torch.testing.assert_close(found["output"], joined.read(wanted).detach())
    assert set(found) == {"features", "output"}


def test_images_are_drawn_one_by_one_from_any_iterable(joined):
    images = pictures(3)
    taken = []

    def drawn():
        for image in images:
            taken.append(1)
            yield image

    assert TokenExamples(joined, drawn()).num_images == len(taken) == 3


def test_one_image_is_a_set_too(joined):
    found = TokenExamples(joined, pictures(1)).batch(torch.tensor([0]))
    assert found["features"].shape == (1, 7, 36)
    assert found["output"].shape == (1, 7)


def test_no_image_is_refused(joined):
    with pytest.raises(InvalidInput, match="images must hold at least one picture"):
        TokenExamples(joined, [])


def test_an_image_that_is_not_finite_is_named(joined):
    images = pictures(BATCH + 3)
    images[BATCH + 1, 0, 2, 2] = float("nan")
    with pytest.raises(InvalidInput, match=rf"pixels of image {BATCH + 1} are not finite"):
        TokenExamples(joined, images)
    names = [f"picture {i}" for i in range(len(images))]
    with pytest.raises(InvalidInput, match=rf"pixels of image 'picture {BATCH + 1}' are not finite"):
        TokenExamples(joined, images, sample_ids=names)


def test_tokens_that_are_not_finite_are_named(joined, monkeypatch):
    def broken(images):
        found = type(joined).tokens(joined, images)
        found[2, 0, 0] = float("inf")
        return found

    monkeypatch.setattr(joined, "tokens", broken)
    with pytest.raises(InvalidInput, match="features of image 2 are not finite at decoder 'smooth'"):
        TokenExamples(joined, pictures(4))
    monkeypatch.undo()


def test_images_of_another_size_are_refused(joined):
    with pytest.raises(InvalidInput, match="images are 32x32 pixels, but backbone 'small' was loaded for"):
        TokenExamples(joined, torch.zeros(2, 3, 32, 32))


def test_fewer_names_than_images_are_refused(joined):
    with pytest.raises(InvalidInput, match="sample_ids must name every image"):
        TokenExamples(joined, pictures(3), sample_ids=["a", "b"])
