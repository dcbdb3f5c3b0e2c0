from __future__ import annotations

import inspect
import time

import numpy as np
import pytest
import torch

from tests.oracles import recoverability_by_counting as oracle
from vitgeom.errors import InvalidInput
from vitgeom.recoverability import analyse
from vitgeom.seeding import generator_for


def run(logits, labels, **settings):
    settings = {"num_bootstrap": 200, "num_permutations": 20, "generator": generator_for(0), **settings}
    return analyse(logits, labels, **settings)


def one_hot(predictions, num_classes):
    return torch.nn.functional.one_hot(torch.tensor(predictions), num_classes).float()


def test_values_are_those_of_counting(verdicts):
    logits, labels = verdicts
    report = run(logits, labels, best_layer=2)
    said, true = logits.argmax(dim=2).tolist(), labels.tolist()
    each, any_layer = oracle.recoverability(said, true)
    assert report.errors == len(oracle.errors_of(said[-1], true))
    assert [part.value for part in report.recoverability] == pytest.approx(each)
    assert report.r_any.value == pytest.approx(any_layer)
    assert report.oracle.value == pytest.approx(oracle.oracle_accuracy(said, true))
    assert report.gap.value == pytest.approx(report.oracle.value - report.accuracy[2].value)
    assert report.gap_last.value == pytest.approx(report.oracle.value - report.accuracy[3].value)
    assert [part.value for part in report.accuracy_per_class] == pytest.approx(
        [oracle.accuracy_per_class(layer, true) for layer in said]
    )
    assert (report.num_samples, report.num_classes, report.classes_present, report.num_layers) == (
        300,
        5,
        5,
        4,
    )


@pytest.mark.parametrize("seed", range(5))
def test_oracle_identity(seed):
    """acc_oracle = acc_L + (1 - acc_L) R_any."""
    g = generator_for(seed)
    report = run(torch.randn(6, 97, 4, generator=g), torch.randint(4, (97,), generator=g))
    last = report.accuracy[-1].value
    assert report.oracle.value == pytest.approx(last + (1 - last) * report.r_any.value, rel=1e-12)
    assert report.r_any.value >= max(part.value for part in report.recoverability)


def test_guessing_layers_stay_at_their_floors():
    g = generator_for(1)
    report = run(torch.randn(12, 4000, 10, generator=g), torch.randint(10, (4000,), generator=g))
    assert report.floor_uniform == pytest.approx(0.686, abs=1e-3)
    stderr = (report.floor_uniform * (1 - report.floor_uniform) / report.errors) ** 0.5
    assert abs(report.r_any.value - report.floor_uniform) < 5 * stderr
    assert report.floor_permutation.expected == pytest.approx(report.floor_uniform, abs=0.01)
    assert report.r_any.low < report.floor_permutation.mean < report.r_any.high


def test_no_errors_are_null_with_errors_0():
    labels = [0, 1, 2, 1]
    report = run(torch.stack([one_hot([0, 0, 0, 0], 3), one_hot(labels, 3)]), torch.tensor(labels))
    assert report.errors == 0
    assert report.recoverability == (None,)
    assert report.r_any is None
    assert report.floor_permutation is None
    assert report.oracle.value == report.accuracy[-1].value == 1
    assert report.undefined_resamples == 200


def test_resamples_without_the_only_error_are_left_out_and_counted():
    labels = torch.arange(12) % 3
    last = labels.tolist()
    last[0] = 1
    report = run(torch.stack([one_hot(labels.tolist(), 3), one_hot(last, 3)]), labels, num_bootstrap=2000)
    # A resample misses one of 12 samples with probability (11/12)^12 = 0.352.
    assert report.undefined_resamples / 2000 == pytest.approx(0.352, abs=5 * (0.352 * 0.648 / 2000) ** 0.5)
    assert (report.r_any.value, report.r_any.low, report.r_any.high) == (1, 1, 1)


def test_one_layer_has_no_recoverability(verdicts):
    logits, labels = verdicts
    report = run(logits[-1:], labels)
    assert report.errors > 0
    assert report.recoverability == ()
    assert report.r_any is None
    assert report.floor_permutation is None
    assert report.floor_uniform == 0
    assert report.oracle == report.accuracy[0]
    assert report.gap_last.value == 0


def test_without_a_best_layer_its_gap_is_null(verdicts):
    report = run(*verdicts)
    assert report.best_layer is None
    assert report.gap is None


def test_an_unknown_class_is_always_wrong_and_is_one_class():
    labels = torch.tensor([0, 1, -1, -1])
    report = run(torch.stack([one_hot([0, 1, 0, 1], 2)] * 2), labels)
    assert report.accuracy[0].value == 0.5
    assert report.accuracy_per_class[0].value == pytest.approx(2 / 3)
    assert report.r_any.value == 0


def test_intervals_hold_their_values_and_the_same_generator_gives_the_same_report(verdicts):
    report, again = run(*verdicts, best_layer=1), run(*verdicts, best_layer=1)
    assert report == again
    intervals = [
        *report.accuracy,
        *report.accuracy_per_class,
        *report.recoverability,
        report.r_any,
        report.oracle,
        report.gap,
    ]
    assert all(part.low <= part.value <= part.high and part.low < part.high for part in intervals)


def test_intervals_cover_in_about_95_percent_of_draws():
    """The truth is known: layers right independently with probability 0.5, 0.3 and (last) 0.6."""
    truth = {"r_any": 1 - 0.5 * 0.7, "first": 0.5, "accuracy": 0.6, "oracle": 1 - 0.5 * 0.7 * 0.4}
    covered = dict.fromkeys(truth, 0)
    for draw in range(200):
        g = generator_for(draw, "coverage")
        labels = torch.zeros(250, dtype=torch.int64)
        right = torch.rand(3, 250, generator=g) < torch.tensor([0.5, 0.3, 0.6])[:, None]
        logits = torch.stack([right, ~right], dim=2).float()
        report = analyse(logits, labels, num_bootstrap=400, num_permutations=1, generator=g)
        got = {"r_any": report.r_any, "first": report.recoverability[0]}
        got |= {"accuracy": report.accuracy[-1], "oracle": report.oracle}
        for name, part in got.items():
            covered[name] += part.low <= truth[name] <= part.high
    assert all(180 <= count <= 198 for count in covered.values()), covered


def test_ten_thousand_samples_of_24_layers_take_seconds():
    g = generator_for(0)
    logits, labels = torch.randn(24, 10_000, 10, generator=g), torch.randint(10, (10_000,), generator=g)
    start = time.process_time()
    analyse(logits, labels, generator=g)
    assert time.process_time() - start < 20  # about 2 s on an idle core


@pytest.mark.parametrize(
    ("logits", "labels", "settings", "words"),
    [
        (
            torch.zeros(2, 3, 4),
            torch.zeros(2, dtype=torch.int64),
            {},
            r"n = 2 like the labels, got \[2, 3, 4\].*transpose",
        ),
        (torch.zeros(2, 0, 4), torch.zeros(0, dtype=torch.int64), {}, "at least 1 sample"),
        (
            torch.zeros(0, 3, 4),
            torch.zeros(3, dtype=torch.int64),
            {},
            "at least 1 layer and 2 classes, got 0 and 4",
        ),
        (
            torch.zeros(2, 3, 1),
            torch.zeros(3, dtype=torch.int64),
            {},
            "at least 1 layer and 2 classes, got 2 and 1",
        ),
        (
            torch.zeros(2, 3, 4),
            torch.tensor([0, 4, 1]),
            {},
            r"class indices 0..3 .* from 0 to 4; LayerProbes.index",
        ),
        (torch.zeros(2, 3, 4), torch.tensor([0, -2, 1]), {}, "from -2 to 1"),
        (
            torch.zeros(2, 3, 4),
            torch.zeros(3, dtype=torch.int64),
            {"best_layer": 2},
            "best_layer must be an integer in 0..1, or None for no choice, got 2; LayerProbes.best_layer",
        ),
        (
            torch.zeros(2, 3, 4),
            torch.zeros(3, dtype=torch.int64),
            {"num_bootstrap": 0},
            "num_bootstrap must be a whole number >= 1, got 0; 1000 is usual",
        ),
        (
            torch.full((2, 3, 4), torch.nan),
            torch.zeros(3, dtype=torch.int64),
            {},
            "NaN, first at layer 0, sample 0",
        ),
    ],
)
def test_what_cannot_be_analysed_is_refused(logits, labels, settings, words):
    with pytest.raises(InvalidInput, match=words):
        run(logits, labels, **settings)


@pytest.mark.parametrize("form", [torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.int])
def test_labels_of_any_integer_kind_give_the_same_report(verdicts, form):
    logits, labels = verdicts
    assert run(logits, form(labels)) == run(logits, labels)


def test_arrays_give_the_same_report(verdicts):
    logits, labels = verdicts
    array = logits.numpy()[:]
    array.setflags(write=False)
    assert run(array, labels.numpy()) == run(logits, labels)


def test_logits_that_are_still_in_a_graph_give_the_same_report(verdicts):
    logits, labels = verdicts
    given = {"num_bootstrap": 20, "num_permutations": 5}
    plain = analyse(logits, labels, generator=generator_for(0, "graph"), **given)
    kept = analyse(logits.clone().requires_grad_(), labels, generator=generator_for(0, "graph"), **given)
    assert kept == plain


def test_numbers_from_numpy_are_reported_as_plain_integers(verdicts):
    given = {"best_layer": np.int64(2), "num_bootstrap": np.int64(10), "generator": generator_for(0)}
    report = inspect.unwrap(analyse)(*verdicts, **given)
    assert type(report.best_layer) is int
    assert type(report.num_bootstrap) is int


LOGITS, LABELS = torch.zeros(2, 3, 4), torch.zeros(3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"logits": LOGITS[0]},
            r"shape \[L, n, K\], got \[3, 4\]; those of one layer alone are logits\[None\]",
        ),
        ({"logits": LOGITS.long()}, r"logits must be floating point, got torch.int64; call .float\(\)"),
        (
            {"logits": LOGITS.numpy().astype(int)},
            r"logits must be floating point .* a numpy array of int64; call .astype",
        ),
        ({"logits": LOGITS.tolist()}, "logits must be a tensor or a numpy array .* got list; torch.stack"),
        ({"logits": None}, "logits must be a tensor or a numpy array .* got NoneType"),
        ({"labels": LABELS.float()}, "labels must be integers, got torch.float32; LayerProbes.index"),
        ({"labels": [0.0, 1.5, 2.0]}, "labels must be integers, got torch.float64; LayerProbes.index"),
        ({"labels": LABELS.bool()}, "labels must be integers, got torch.bool"),
        ({"labels": LABELS[None]}, r"labels must be one class index per sample, shape \[n\], got \[1, 3\]"),
        ({"labels": 3}, r"labels must be one class index per sample, shape \[n\], got \[\]"),
        (
            {"labels": ["owl", "kite", "owl"]},
            "list of integers, got a list of something else; LayerProbes.index",
        ),
        ({"labels": [[0], [1, 2]]}, "list of integers, got a list of something else"),
        ({"labels": None}, "list of integers, got a NoneType of something else"),
        ({"best_layer": True}, "best_layer must be an integer in 0..1, or None for no choice, got True"),
        ({"best_layer": 1.5}, "best_layer must be an integer in 0..1, or None for no choice, got 1.5"),
        ({"best_layer": "last"}, "best_layer must be an integer in 0..1, or None for no choice, got 'last'"),
        ({"best_layer": -1}, "got -1"),
        (
            {"generator": None},
            r"generator must be a torch.Generator, got None: results must be reproducible; pass",
        ),
        ({"generator": 0}, "generator must be a torch.Generator, got 0"),
        ({"num_bootstrap": 1.5}, "num_bootstrap must be a whole number >= 1, got 1.5; 1000 is usual"),
        ({"num_bootstrap": True}, "num_bootstrap must be a whole number >= 1, got True"),
        ({"num_bootstrap": "100"}, "num_bootstrap must be a whole number >= 1, got '100'"),
        ({"num_permutations": 1.5}, "num_permutations must be a whole number >= 1, got 1.5; 200 is usual"),
        ({"num_permutations": 0}, "num_permutations must be a whole number >= 1, got 0"),
    ],
)
def test_what_is_of_another_kind_is_refused(changes, words):
    given = {"logits": LOGITS, "labels": LABELS, "generator": generator_for(0), **changes}
    with pytest.raises(InvalidInput, match=words):
        inspect.unwrap(analyse)(**given)
