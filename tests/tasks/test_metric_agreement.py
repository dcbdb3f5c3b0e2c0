from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tasks.metric_agreement import metric_agreements, rank_agreements
from tasks.target_request import DecoderRef
from tests.support.target_stores import describe, fill, make_store

PLAIN = DecoderRef(name="pose", layer=3)
ANGLES = DecoderRef(name="pose", layer=3, metric="so3")


def test_ranks_and_not_sizes_count() -> None:
    one = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    other = np.array([[10.0, 20.0, 30.0, 400.0], [4.0, 3.0, 2.0, 1.0]])
    assert rank_agreements(one, other) == pytest.approx([1.0, -1.0])


def test_an_image_whose_tokens_are_alike_has_no_rank() -> None:
    assert rank_agreements(np.ones((1, 4)), np.arange(4.0)[None]) == []


def test_a_decoder_is_compared_with_itself_under_the_plain_metric(tmp_path: Path) -> None:
    stores = [make_store(tmp_path, description=describe(recipe={"seed": seed})) for seed in (0, 1)]
    for store in stores:
        fill(store)
    [found] = metric_agreements(dict(zip((PLAIN, ANGLES), stores, strict=True)), num_bootstrap=50, seed=0)
    assert (found["decoder"], found["layer"], found["metric"]) == ("pose", 3, "so3")
    # Both stores hold the same numbers.
    assert found["rank_agreement"]["importance"]["mean"]["value"] == pytest.approx(1.0)
    assert found["rank_agreement"]["block_norms"]["images"] == 3


def test_without_the_plain_one_there_is_nothing_to_compare(tmp_path: Path) -> None:
    assert metric_agreements({ANGLES: make_store(tmp_path)}, num_bootstrap=50, seed=0) == []
