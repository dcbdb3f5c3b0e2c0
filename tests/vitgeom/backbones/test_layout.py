from __future__ import annotations

import json

from vitgeom.backbones import TokenLayout


def test_counts_add_up():
    layout = TokenLayout(num_cls=1, num_registers=4, num_distill=0, grid=(3, 5))
    assert (layout.num_prefix, layout.num_patches, layout.num_tokens) == (5, 15, 20)


def test_json_is_plain():
    layout = TokenLayout(num_cls=1, num_registers=0, num_distill=1, grid=(2, 2))
    assert json.loads(json.dumps(layout.to_json())) == {
        "num_cls": 1,
        "num_registers": 0,
        "num_distill": 1,
        "grid": [2, 2],
    }
