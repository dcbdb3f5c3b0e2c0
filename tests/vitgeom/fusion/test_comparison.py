from __future__ import annotations

import json

import pytest
import torch

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.fusion.comparison import Comparison, MethodScore, compare
from vitgeom.seeding import generator_for
from vitgeom.significance import mcnemar, paired_difference

NUM = 200


def made() -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    g = generator_for(0, "comparison test")
    target = torch.randint(5, (NUM,), generator=g)

    def guess(right: float, seeds: int = 1) -> torch.Tensor:
        wrong = (target + 1 + torch.randint(4, (seeds, NUM), generator=g)) % 5
        return torch.where(torch.rand(seeds, NUM, generator=g) < right, target, wrong)

    layers = torch.cat([guess(0.5), guess(0.6)])
    return {"best_layer": layers[1:], "vfusion": guess(0.8, seeds=3), "other": guess(0.7)}, target, layers


def table(**changes) -> Comparison:
    predictions, target, layers = made()
    given = {"layer_predictions": layers, "best_layer": 1, "seed": 0, "num_resamples": 300, **changes}
    return compare(given.pop("predictions", predictions), given.pop("target", target), **given)


def test_figures_are_those_counted_by_hand():
    predictions, target, layers = made()
    found = table()
    for name, given in predictions.items():
        row, right = found.row(name), given == target
        assert row.accuracy.value == pytest.approx(float(right.double().mean()))
        assert row.accuracy.low <= row.accuracy.value <= row.accuracy.high
        by_class = [float(right[:, target == one].double().mean()) for one in range(5)]
        assert row.accuracy_per_class == pytest.approx(sum(by_class) / 5)
        assert row.seed_accuracies == pytest.approx(right.double().mean(dim=1).tolist())
    oracle = float((layers == target).any(dim=0).double().mean())
    best = float((layers[1] == target).double().mean())
    assert (found.oracle, found.best_layer_accuracy) == (oracle, best)
    fused = found.row("vfusion")
    assert fused.gap_closure == pytest.approx((fused.accuracy.value - best) / (oracle - best))
    assert found.row("best_layer").gap_closure == 0
    assert fused.seed_deviation == pytest.approx(float(torch.tensor(fused.seed_accuracies).std()), rel=1e-5)
    assert found.row("other").seed_deviation is None


def test_differences_are_paired_and_to_the_reference():
    predictions, target, _ = made()
    predictions["vfusion"] = predictions["vfusion"][:1]
    found = table(predictions=predictions)
    right = {name: given[0] == target for name, given in predictions.items()}
    expected = paired_difference(
        right["other"], right["vfusion"], num_resamples=300, generator=generator_for(0, "comparison")
    )
    row = found.row("other")
    assert row.difference.value == pytest.approx(expected.value)
    assert (row.difference.low, row.difference.high) == pytest.approx((expected.low, expected.high))
    assert row.mcnemar_p == mcnemar(right["other"], right["vfusion"]).p
    assert found.row("vfusion").difference is None
    assert found.row("vfusion").mcnemar_p is None


def test_two_methods_that_are_right_together_do_not_differ():
    predictions, _, _ = made()
    found = table(predictions={**predictions, "twin": predictions["vfusion"].clone()})
    row = found.row("twin")
    assert (row.difference.value, row.difference.low, row.difference.high, row.mcnemar_p) == (0, 0, 0, 1)


def test_an_unknown_class_counts_as_wrong():
    _, target, _ = made()
    unknown = target.clone()
    unknown[:NUM] = -1
    assert table(target=unknown).row("vfusion").accuracy.value == 0
    assert table(target=unknown).row("vfusion").gap_closure is None


def test_the_table_survives_json():
    found = table()
    assert Comparison.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(InvalidInput, match="Comparison: missing \\['oracle'\\]"):
        Comparison.from_json({name: part for name, part in found.to_json().items() if name != "oracle"})
    with pytest.raises(InvalidInput, match=r"MethodScore: missing .* unknown \['p'\]"):
        MethodScore.from_json({"p": 1})


def test_what_does_not_match_is_refused():
    predictions, target, layers = made()
    with pytest.raises(UnknownName, match=r"unknown reference method 'vfusoin'\. Did you mean 'vfusion'"):
        table(reference="vfusoin")
    with pytest.raises(InvalidInput, match=r"best_layer must lie in 0\.\.1, got 2"):
        table(best_layer=2)
    with pytest.raises(InvalidInput, match="one column per label, got \\[1, 199\\] for other"):
        table(predictions={**predictions, "other": predictions["other"][:, 1:]})
    with pytest.raises(InvalidInput, match="for layer_predictions"):
        table(layer_predictions=layers[:, 1:])
    with pytest.raises(UnknownName, match="unknown method 'last'"):
        table().row("last")
    with pytest.raises(InvalidInput, match="at least 1 sample"):
        table(
            predictions={name: given[:, :0] for name, given in predictions.items()},
            target=target[:0],
            layer_predictions=layers[:, :0],
        )


def test_arrays_and_lists_give_the_same_table():
    predictions, target, layers = made()
    arrays = {name: given.numpy() for name, given in predictions.items()}
    assert table(predictions=arrays, target=target.numpy(), layer_predictions=layers.numpy()) == table()
    lists = {name: given.tolist() for name, given in predictions.items()}
    assert table(predictions=lists, target=target.tolist(), layer_predictions=layers.tolist()) == table()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": ["owl"] * NUM}, "target must hold integers, got a list of something else"),
        ({"target": torch.zeros(NUM)}, "target must hold integers, got torch.float32"),
        (
            {"predictions": {"vfusion": torch.zeros(NUM, dtype=torch.int64)}},
            r"vfusion must have shape \[seeds, n\], got \[200\]",
        ),
        (
            {"layer_predictions": torch.zeros(NUM, dtype=torch.int64)},
            r"layer_predictions must have shape \[L, n\]",
        ),
    ],
)
def test_what_are_no_class_indices_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        table(**change)
