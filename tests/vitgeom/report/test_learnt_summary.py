from __future__ import annotations

import dataclasses
import json

from tests.support.learnt_results import learnt_pair, planted_metric
from vitgeom.report.learnt_summary import learnt_summary


def test_main_figures_are_those_of_the_file() -> None:
    told = learnt_summary(learnt_pair())
    assert (told["dataset"], told["backbone"]) == ("digits", "nano_supervised")
    head, network, bottleneck = told["decoders"].values()
    source = planted_metric()["pairs"][0]["importance"]
    assert head["rho"]["importance"]["importance"] == {
        **source["scores"]["importance"]["importance"]["mean"],
        "images": 80,
    }
    assert head["rho_truncation"]["value"] == 0.96
    assert (head["alignment"], head["ranks"], head["bottleneck"]) == (None, None, None)
    assert (head["parameters"], head["regime"]) == ({"importance": 310_017}, "token_local")
    assert network["alignment"]["learnt"]["value"] == 0.64
    assert [(trial["rank"], trial["hidden"]) for trial in network["ranks"]] == [
        (2, 256),
        (4, 256),
        (8, 256),
        (16, 256),
    ]
    assert bottleneck["bottleneck"]["participation_ratio"]["after"]["value"] == 41.0
    assert bottleneck["bottleneck"]["latents"] == 4096
    json.dumps(told, allow_nan=False)


def test_what_is_undefined_is_null() -> None:
    pair = learnt_pair(decoders=(("cls", 4),))
    one = dataclasses.replace(pair.decoders[0], truncation=None)
    assert (
        learnt_summary(dataclasses.replace(pair, decoders=(one,)))["decoders"]["cls-layer4"]["rho_truncation"]
        is None
    )
