"""Regimes are counted over the images of one split."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tasks.regimes import regimes_of
from tests.support.small_targets import make
from vitgeom.store.figures import read_figures
from vitgeom.store.targets import open_targets


def test_every_image_of_the_split_counts_once(tmp_path: Path) -> None:
    [receipt] = make(tmp_path, splits=("val", "test"), images={"val": 3, "test": 2}, checks=False).values()
    store = open_targets(tmp_path, receipt.detail["address"])
    for split, count in (("val", 3), ("test", 2)):
        found = regimes_of(str(tmp_path), receipt, split=split)
        assert sum(found.values()) == count
        names = [
            each["regime"]["name"]
            for start, _ in store.ranges(split)
            for each in read_figures(store, split, start)
        ]
        assert found == Counter(names)
