from __future__ import annotations

from typing import Any

import pytest

from tests.support.directed_results import TOKENS, WIDTH
from tests.support.learnt_results import OUTPUTS, RANK, average, planted_metric
from vitgeom.report.learnt_decoder import (
    UNTRUNCATED,
    LearntDecoder,
    learnt_problems,
    parse_learnt_decoder,
    title_of,
)


def entry(name: str = "cls", **planted: Any) -> dict[str, Any]:
    return planted_metric(decoders=((name, 4),), **planted)["pairs"][0]


def parsed(content: dict[str, Any]) -> LearntDecoder:
    return parse_learnt_decoder(content)


def test_figures_are_those_of_the_file() -> None:
    content = entry()
    one = parsed(content)
    assert (one.label, one.key) == ("class token from layer 4", "cls-layer4")
    assert (one.outputs, one.columns, one.rank, one.recipe) == (OUTPUTS, TOKENS * WIDTH, RANK, "krylov")
    assert (one.products, one.images["val"]) == (187.5, 80)
    for target in ("importance", "block_norms"):
        found = one.rho("importance", target)
        assert found is not None
        assert found.mean.to_json() == content["importance"]["scores"]["importance"][target]["mean"]
    assert one.ceiling[UNTRUNCATED] is not None
    assert list(one.maps[0].learnt["importance"].importance) == content["maps"][0]["learnt"]["importance"]
    assert list(learnt_problems(one)) == []


def test_models_and_scores_that_need_no_learning_are_told_apart() -> None:
    one = parsed(entry(asked=("spn", "importance")))
    assert one.learners == ("importance", "spn")
    assert one.plain == ("one map for all images", "feature norm", "class attention")
    assert one.rho("no such score") is None


def test_a_model_of_another_name_is_still_a_model() -> None:
    content = entry()
    content["models"]["behind_it"] = content["models"]["importance"]
    content["importance"]["scores"]["behind_it"] = content["importance"]["scores"]["importance"]
    one = parsed(content)
    assert one.learners == ("importance", "behind_it")
    assert "behind_it" not in one.plain
    assert title_of("behind_it") == "behind it"


def test_sweep_and_bottleneck_may_be_absent_or_null() -> None:
    content = entry("scenes_depth")
    assert parsed(content).ranks is not None
    assert parsed({**content, "ranks": None}).ranks is None
    del content["ranks"], content["bottleneck"]
    one = parsed(content)
    assert (one.ranks, one.bottleneck) == (None, None)
    assert parsed(entry("patch_mean")).bottleneck is not None


def test_where_nothing_was_trained_scores_remain() -> None:
    content = entry()
    content["models"], content["choice"]["learners"] = {}, []
    del content["importance"]["scores"]["importance"]
    content["maps"] = [{**shown, "learnt": {}} for shown in content["maps"]]
    one = parsed(content)
    assert (one.learners, one.models, one.alignment) == ((), {}, None)
    assert one.rho("class attention") is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["importance"]["ceiling"].update(block_norms=average(1.3)), "the ceiling of block_norms must be -1 to 1"),
        (lambda c: c["importance"].update(truncation=average(-1.3)), "correlation of truncation must be -1 to 1"),
        (
            lambda c: c["importance"]["scores"]["random"].update(importance=average(2.0)),
            "correlation of random with importance must be -1 to 1",
        ),
        (lambda c: c["alignment"].update(constant=average(1.5)), r"V1 (constant) must be 0 to 1, got 1.5"),
        (lambda c: c["alignment"].update(chance=float("nan")), "V1 (chance) must be 0 to 1, got nan"),
        (lambda c: c["models"]["spn"]["epochs"].pop(), "one epoch per seed"),
        (lambda c: c["ranks"]["trials"][0].update(captured=3.0), "captured of rank 2"),
        (lambda c: c["bottleneck"]["rebuild_error"]["mean"].update(low=-1, value=-1), "the rebuild error must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(change: Any, words: str) -> None:
    content = entry("scenes_depth", asked=("spn", "bottleneck"))
    change(content)
    assert words in next(learnt_problems(parsed(content)))


def test_directions_in_half_precision_are_aligned_with_themselves_but_for_rounding() -> None:
    content = entry("scenes_depth", asked=("spn", "bottleneck"))
    content["alignment"].update(ceiling=average(1.00001))
    assert list(learnt_problems(parsed(content))) == []
