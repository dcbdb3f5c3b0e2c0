from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.backbone_rows import backbone_rows
from vitgeom.probes import FunctionLayers


def test_each_backbone_gives_its_last_layer():
    g = torch.Generator().manual_seed(0)
    tokens, layers = torch.randn(5, 3, generator=g), torch.randn(5, 4, 2, generator=g)
    read = FunctionLayers(lambda layer: layers[:, layer] + 1, num_layers=4)
    rows = backbone_rows([tokens, layers.numpy(), read, tokens.numpy()], name="X")
    assert (rows.num_rows, rows.num_layers) == (5, 4)
    torch.testing.assert_close(rows.rows(0, 1, 4), tokens[1:4])
    torch.testing.assert_close(rows.rows(1, 0, 5), layers[:, -1])
    torch.testing.assert_close(rows.rows(2, 2, 3), layers[2:3, -1] + 1)
    torch.testing.assert_close(rows.rows(3, 0, 5), tokens)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (torch.zeros(4, 3), "X must be a list with the features of each backbone, got Tensor"),
        ([torch.zeros(4, 3)], "at least 2 backbones, got 1; for the last layer"),
        ([], "at least 2 backbones, got 0"),
        ([torch.zeros(4, 3), torch.zeros(5, 3)], "same rows in the same order, got \\[4, 5\\]"),
        ([torch.zeros(4, 3), "dino"], "X\\[1\\] must be a tensor"),
        ([torch.zeros(4, 3), np.zeros((4, 3), dtype=int)], "X\\[1\\] at layer 0 must be floating point"),
    ],
)
def test_what_is_no_set_of_backbones_is_refused(given, words):
    with pytest.raises(InvalidInput, match=words):
        backbone_rows(given, name="X")
