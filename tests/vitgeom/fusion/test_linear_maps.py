from __future__ import annotations

import pytest
import torch

from tests.support.fusion_data import NUM_CLASSES, NUM_LAYERS, TEST, WIDTH, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion import linear_maps
from vitgeom.fusion.linear_maps import LinearMaps, probe_maps
from vitgeom.probes import TensorLayers

WIDTHS = (WIDTH,) * NUM_LAYERS


def all_scores(maps: LinearMaps, x) -> torch.Tensor:
    return torch.cat([maps.scores(z) for _, z in maps.blocks(TensorLayers(x))])


def test_scores_are_the_probes_logits():
    of = evidence()
    maps = probe_maps(of, [0, 2])
    scores = all_scores(maps, part(slice(200, 320))[0])
    for place, layer in enumerate([0, 2]):
        torch.testing.assert_close(scores[:, place].float(), of.val_logits(layer))


def test_small_blocks_give_the_same_scores(monkeypatch):
    maps, (x, _) = probe_maps(evidence(), range(NUM_LAYERS)), part(TEST)
    whole = all_scores(maps, x)
    monkeypatch.setattr(linear_maps, "BLOCK_BYTES", 1)
    assert len(list(maps.blocks(TensorLayers(x)))) > 10
    torch.testing.assert_close(all_scores(maps, x), whole)


def test_maps_survive_their_tensors():
    maps, (x, _) = probe_maps(evidence(), [1, 2]), part(TEST)
    back = LinearMaps.from_tensors(maps.tensors(), layers=[1, 2], widths=WIDTHS, num_classes=NUM_CLASSES)
    assert torch.equal(all_scores(back, x), all_scores(maps, x))


def test_tensors_of_other_classes_or_layers_are_refused():
    tensors = probe_maps(evidence(), [1]).tensors()
    with pytest.raises(InvalidInput, match=r"maps.1.weight must have shape \[8, 5\], got \[8, 4\]"):
        LinearMaps.from_tensors(tensors, layers=[1], widths=WIDTHS, num_classes=5)
    with pytest.raises(InvalidInput, match=r"maps.2.mean must have shape \[8\], got nothing"):
        LinearMaps.from_tensors(tensors, layers=[2], widths=WIDTHS, num_classes=NUM_CLASSES)


def test_parameters_and_operations_are_counted():
    maps = probe_maps(evidence(), range(NUM_LAYERS))
    assert maps.num_parameters == NUM_LAYERS * (WIDTH + 1) * NUM_CLASSES
    per_layer = 2 * WIDTH + 2 * WIDTH * NUM_CLASSES + NUM_CLASSES
    assert maps.flops_per_row == NUM_LAYERS * per_layer
