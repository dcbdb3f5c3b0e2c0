from __future__ import annotations

import torch

from vitgeom.linop.live_bytes import LiveBytes

KIB = 1024


def test_the_most_that_is_held_at_once_is_found() -> None:
    meter = LiveBytes()
    with meter:
        first = torch.zeros(KIB, dtype=torch.uint8)
        first = first + 1  # both live for a moment
        first = first + 1
        view = first[:10]
    assert meter.peak == 2 * KIB
    assert view.numel() == 10


def test_what_is_held_on_to_adds_up() -> None:
    meter = LiveBytes()
    with meter:
        kept = [torch.zeros(KIB, dtype=torch.uint8) for _ in range(5)]
    assert meter.peak == len(kept) * KIB


def test_changing_in_place_costs_nothing() -> None:
    given = torch.zeros(KIB, dtype=torch.uint8)
    meter = LiveBytes()
    with meter:
        held = torch.zeros(KIB, dtype=torch.uint8)
        held.add_(1).mul_(2)
        given.add_(1)
    assert meter.peak == KIB


def test_what_was_there_before_is_not_counted_nor_are_its_views() -> None:
    given = torch.zeros(4, KIB // 4, dtype=torch.uint8)
    meter = LiveBytes()
    with meter:
        view = given.mT[1:]
        total = view.sum(dtype=torch.int64)
    assert meter.peak == 8
    assert int(total) == 0
