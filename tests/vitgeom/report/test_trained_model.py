from __future__ import annotations

from tests.support.learnt_results import planted_metric
from vitgeom.metric.choice import choose
from vitgeom.report.trained_model import model_problems, parse_choice, parse_model


def test_a_choice_is_read_as_it_was_written() -> None:
    made = choose({"token_local": 3, "high_rank": 1}, has_head=True, asked=("spn",))
    found = parse_choice(made.to_json())
    assert (found.regime, found.asked, found.learners) == ("token_local", True, ("spn",))
    assert (found.why, dict(found.counts)) == (made.why, {"token_local": 3, "high_rank": 1})


def test_a_model_is_read_and_an_epoch_may_be_missing() -> None:
    model = parse_model(planted_metric()["pairs"][1]["models"]["spn"])
    assert (model.seeds, model.epochs, model.parameters) == ((0, 1, 2), (41, 38, None), 2_420_000)
    assert model.figures["energy_error"] is None
    assert list(model_problems("network", model)) == []


def test_what_cannot_be_in_a_model_is_named() -> None:
    content = planted_metric()["pairs"][1]["models"]["spn"]
    content["epochs"].pop()
    content["figures"]["rho"]["mean"]["value"] = float("inf")
    said = list(model_problems("network", parse_model(content)))
    assert said[0] == "the network must have one epoch per seed, got 2 for 3 seeds"
    assert said[1].startswith("rho of network must be a finite number")
