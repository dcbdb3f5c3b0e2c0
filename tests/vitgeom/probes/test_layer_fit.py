from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from tests.oracles import softmax_regression as oracle
from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput, ResourceShortage
from vitgeom.probes.fold_weights import fold_weights
from vitgeom.probes.layer_fit import fit_layer, is_streamed
from vitgeom.probes.memory import bytes_per_layer, bytes_per_problem
from vitgeom.probes.row_file import RowFile


def doubles(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_it_finds_the_optimum_of_the_dense_solver(small, strengths):
    x, y = small
    fit = fit_layer(x, y, num_classes=3, l2=strengths, tol=1e-9)
    z = oracle.standardise(x.numpy())
    for p, lam in enumerate(strengths.tolist()):
        w, b = oracle.solve(z, y.numpy(), lam, num_classes=3)
        np.testing.assert_allclose(fit.weight[p], w, atol=1e-6 / lam**0.5)
        np.testing.assert_allclose(fit.bias[p], b, atol=1e-5)
        assert float(fit.objective[p]) == pytest.approx(oracle.objective(z, y.numpy(), w, b, lam), rel=1e-9)


def test_the_certificate_holds_in_the_original_coordinates(small, strengths):
    x, y = small
    fit = fit_layer(x, y, num_classes=3, l2=strengths)
    z = oracle.standardise(x.numpy())

    def norm(w, b, lam):
        return np.sqrt(sum((part**2).sum() for part in oracle.gradient(z, y.numpy(), w, b, lam)))

    for p, lam in enumerate(strengths.tolist()):
        relative = norm(fit.weight[p].numpy(), fit.bias[p].numpy(), lam) / norm(
            np.zeros((5, 3)), np.zeros(3), lam
        )
        assert relative == pytest.approx(float(fit.grad_norm[p]), rel=1e-4, abs=1e-12)
        assert relative <= 1e-6


def test_it_agrees_with_scikit_learn(strengths):
    features, y = layered_features(400, 2, 24, 5)
    x = features[:, 1].contiguous()
    fit = fit_layer(x, y, num_classes=5, l2=strengths)
    z = oracle.standardise(x.numpy())
    for p, lam in enumerate(strengths.tolist()):
        peer = LogisticRegression(C=1 / (len(x) * lam), tol=1e-8, max_iter=10_000).fit(z, y.numpy())
        theirs = oracle.objective(z, y.numpy(), peer.coef_.T, peer.intercept_, lam)
        assert float(fit.objective[p]) == pytest.approx(theirs, rel=1e-5)
        assert (fit.logits(x, problem=p).argmax(dim=1).numpy() == peer.predict(z)).mean() >= 0.998


def test_two_classes_match_a_binary_solver_at_half_the_penalty():
    features, y = layered_features(200, 1, 6, 2, strength=0.5)
    x = features[:, 0].contiguous()
    fit = fit_layer(x, y, num_classes=2, l2=doubles(0.1))
    peer = LogisticRegression(C=1 / (200 * 0.05), tol=1e-9).fit(oracle.standardise(x.numpy()), y.numpy())
    np.testing.assert_allclose(fit.weight[0, :, 1] - fit.weight[0, :, 0], peer.coef_[0], atol=1e-5)


@pytest.mark.parametrize("lam", [1e-6, 1e-9, 1e-12])
def test_separable_data_with_almost_no_penalty_converges(lam):
    g = torch.Generator().manual_seed(0)
    y = torch.arange(90) % 3
    x = torch.randn(90, 8, generator=g) + 8 * torch.eye(8)[y]
    fit = fit_layer(x, y, num_classes=3, l2=doubles(lam))
    assert fit.converged.all()
    assert fit.iterations.max() < 20
    assert (fit.logits(x, problem=0).argmax(dim=1) == y).all()


def test_a_first_step_that_is_sure_of_every_row_is_recovered_from():
    """With more columns than rows the first Newton step interpolates, and no curvature is left where it lands."""
    features, y = layered_features(400, 1, 800, 50)
    fit = fit_layer(features[:, 0], y, num_classes=50, l2=doubles(1e-6))
    assert fit.converged.all()
    assert fit.iterations.max() < 20
    assert fit.products < 300


def test_fewer_rows_than_columns_gives_the_optimum_and_weights_in_the_span_of_the_rows():
    features, y = layered_features(12, 1, 40, 3, strength=1.0)
    x = features[:, 0].contiguous()
    fit = fit_layer(x, y, num_classes=3, l2=doubles(0.01), tol=1e-9)
    z = oracle.standardise(x.numpy())
    w, _ = oracle.solve(z, y.numpy(), 0.01, num_classes=3)
    np.testing.assert_allclose(fit.weight[0], w, atol=1e-6)


def test_more_classes_than_rows_per_class_and_than_columns():
    features, y = layered_features(80, 1, 5, 2)
    y = torch.arange(80) % 70
    fit = fit_layer(features[:, 0].contiguous(), y, num_classes=70, l2=doubles(1e-3, 1.0))
    assert fit.converged.all()


def test_rare_classes_converge_quickly():
    features, y = layered_features(3000, 1, 32, 10)
    keep = torch.rand(3000, generator=torch.Generator().manual_seed(1)) < 0.02 ** (y / 9)
    fit = fit_layer(features[keep, 0], y[keep], num_classes=10, l2=doubles(1e-5, 1e-3, 1e-1))
    assert fit.converged.all()
    assert fit.products < 900


def test_a_constant_column_gets_no_weight_and_changes_nothing(small, strengths):
    x, y = small
    wide = torch.cat([x[:, :2], torch.full((60, 1), 0.3), x[:, 2:]], dim=1)
    fit, plain = (fit_layer(v, y, num_classes=3, l2=strengths, tol=1e-8) for v in (wide, x))
    assert fit.weight[:, 2].abs().max() < 1e-12
    torch.testing.assert_close(fit.weight[:, [0, 1, 3, 4, 5]], plain.weight, rtol=1e-4, atol=1e-5)


def test_only_constant_columns_leave_the_class_shares(strengths):
    y = torch.tensor([0, 0, 0, 1, 1, 2])
    fit = fit_layer(torch.ones(6, 2), y, num_classes=3, l2=strengths)
    assert fit.converged.all()
    torch.testing.assert_close(
        fit.bias.softmax(dim=1), doubles(0.5, 1 / 3, 1 / 6).expand(3, -1), rtol=1e-5, atol=1e-6
    )
    balanced = fit_layer(torch.ones(6, 2), torch.arange(6) % 3, num_classes=3, l2=strengths)
    assert balanced.converged.all()


def test_turning_and_shifting_the_features_turns_the_weights():
    """Standardisation undoes shift and scale of columns; the probe sees nothing of them."""
    features, y = layered_features(150, 1, 6, 3)
    x = features[:, 0].double()
    moved = x * torch.tensor([1.0, 10, 0.1, 3, 7, 2]) + torch.arange(6) * 100.0
    a, b = (fit_layer(v, y, num_classes=3, l2=doubles(0.01), tol=1e-8) for v in (x, moved))
    torch.testing.assert_close(a.logits(x, problem=0), b.logits(moved, problem=0), rtol=1e-4, atol=1e-5)


def test_integer_weights_mean_repeated_rows(small):
    x, y = small
    times = torch.randint(0, 4, (60,), generator=torch.Generator().manual_seed(2))
    by_weight = fit_layer(
        x, y, num_classes=3, l2=doubles(0.01), sample_weight=times.double()[:, None], tol=1e-9
    )
    rows = torch.arange(60).repeat_interleave(times)
    by_rows = fit_layer(x[rows], y[rows], num_classes=3, l2=doubles(0.01), tol=1e-9)
    torch.testing.assert_close(by_weight.weight, by_rows.weight, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(by_weight.objective, by_rows.objective)


def test_a_weight_column_per_problem_solves_each_with_its_own(small):
    x, y = small
    weight = torch.rand(60, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    fit = fit_layer(x, y, num_classes=3, l2=doubles(0.01, 0.1), sample_weight=weight, tol=1e-9)
    z = oracle.standardise(x.numpy())
    for p, lam in enumerate((0.01, 0.1)):
        w, b = oracle.solve(z, y.numpy(), lam, num_classes=3, weight=weight[:, p].numpy())
        np.testing.assert_allclose(fit.weight[p], w, atol=1e-5)
        np.testing.assert_allclose(fit.bias[p], b, atol=1e-5)


def test_a_class_without_weight_gets_no_probability(small):
    x, y = small
    fit = fit_layer(x, y, num_classes=3, l2=doubles(0.01), sample_weight=(y != 1).double()[:, None])
    assert fit.converged.all()
    assert fit.logits(x, problem=0).softmax(dim=1)[:, 1].max() < 1e-4


def test_a_small_budget_solves_in_batches_to_the_same_optimum(small, strengths):
    x, y = small
    budget = bytes_per_layer(num_rows=60, width=5) + bytes_per_problem(num_rows=60, width=5, num_classes=3)
    one_by_one = fit_layer(x, y, num_classes=3, l2=strengths, byte_budget=budget, tol=1e-9)
    together = fit_layer(x, y, num_classes=3, l2=strengths, tol=1e-9)
    torch.testing.assert_close(one_by_one.weight, together.weight, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_taken_at_their_word(small, strengths, dtype):
    x, y = small
    fit = fit_layer(x.to(dtype), y, num_classes=3, l2=strengths)
    same = fit_layer(x.to(dtype).double(), y, num_classes=3, l2=strengths)
    torch.testing.assert_close(fit.objective, same.objective, rtol=1e-9, atol=0)


@pytest.mark.parametrize("l2", [(), (0.1, 0.0), (-1.0,), (float("nan"),), (float("inf"),)])
def test_strengths_must_be_positive(small, l2):
    with pytest.raises(InvalidInput, match="l2 must hold positive finite strengths"):
        fit_layer(*small, num_classes=3, l2=doubles(*l2))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tol": 0.0}, "tol must lie strictly between 0 and 1, got 0.0; 1e-6 is the default"),
        ({"tol": "tight"}, "tol must lie strictly between 0 and 1, got 'tight'"),
        ({"tol": None}, "tol must lie strictly between 0 and 1, got None"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0; 100 is the default"),
        ({"max_iter": 1.5}, "max_iter must be an integer >= 1, got 1.5"),
        ({"max_iter": True}, "max_iter must be an integer >= 1, got True"),
        ({"max_iter": None}, "max_iter must be an integer >= 1, got None"),
    ],
)
def test_settings_out_of_range_are_refused(small, strengths, settings, words):
    with pytest.raises(InvalidInput, match=words):
        inspect.unwrap(fit_layer)(*small, num_classes=3, l2=strengths, **settings)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (torch.ones(60, 2, dtype=torch.float64), r"must have shape \[60\] or \[60, 3\], got \[60, 2\]"),
        (torch.zeros(60, 1, dtype=torch.float64), "not all zero"),
        (-torch.ones(60, 1, dtype=torch.float64), "non-negative"),
        (torch.full((60, 1), float("nan"), dtype=torch.float64), "finite"),
    ],
)
def test_unusable_weights_are_refused(small, strengths, weight, words):
    with pytest.raises(InvalidInput, match=words):
        fit_layer(*small, num_classes=3, l2=strengths, sample_weight=weight)


CASES = {
    "plain": (60, 5, 3, None),
    "one weight per row": (60, 5, 3, "shared"),
    "weights by problem": (60, 5, 3, "column"),
    "fewer rows than columns": (20, 40, 3, None),
    "two classes": (60, 5, 2, None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("block_rows", [7, 60, 1000])
@pytest.mark.parametrize("in_file", [True, False])
def test_a_streamed_fit_is_the_fit_in_memory(monkeypatch, strengths, case, block_rows, in_file):
    rows, width, classes, kind = CASES[case]
    features, y = layered_features(rows, 2, width, classes, strength=1.0)
    x = features[:, 1].contiguous()
    x[:, 3] = 2.5  # a constant column
    weight = torch.rand(
        rows, 1 if kind == "shared" else 3, generator=torch.Generator().manual_seed(0)
    ).double()
    weight[4] = 0.0
    settings = {"num_classes": classes, "l2": strengths, "tol": 1e-9}
    settings["sample_weight"] = None if kind is None else weight
    memory = fit_layer(x, y, **settings)
    monkeypatch.setattr("vitgeom.probes.layer_fit.chunk_rows", lambda **_: block_rows)
    with RowFile(width=width, dtype=x.dtype) as file:
        file.append(x)
        given = file if in_file else x
        assert is_streamed(given, num_classes=classes, byte_budget=1)
        streamed = fit_layer(given, y, byte_budget=1, **settings)
    assert streamed.converged.all()
    torch.testing.assert_close(streamed.standardiser.mean, memory.standardiser.mean)
    torch.testing.assert_close(streamed.standardiser.std, memory.standardiser.std)
    for name in ("weight", "bias"):
        a, b = getattr(streamed, name), getattr(memory, name)
        assert (a - b).norm() <= 1e-6 * b.norm()
    torch.testing.assert_close(streamed.objective, memory.objective, rtol=1e-12, atol=0)
    assert (streamed.grad_norm <= 1e-9).all()


def test_weights_by_fold_are_the_weights_of_the_matrix(small, strengths):
    x, y = small
    table = torch.tensor([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=torch.float64)
    fold = torch.arange(60) % 3
    by_fold = fit_layer(
        x, y, num_classes=3, l2=strengths, sample_weight=fold_weights(fold, table=table), tol=1e-9
    )
    by_row = fit_layer(x, y, num_classes=3, l2=strengths, sample_weight=table[fold], tol=1e-9)
    torch.testing.assert_close(by_fold.weight, by_row.weight, rtol=1e-9, atol=1e-12)


def test_a_full_disk_stops_a_streamed_fit(small, strengths, monkeypatch):
    def full(self, rows):
        raise self._shortage(OSError(28, "No space left on device"), rows=len(rows))

    monkeypatch.setattr(RowFile, "append", full)
    with pytest.raises(ResourceShortage, match=r"No space left on device.*raise byte_budget"):
        fit_layer(*small, num_classes=3, l2=strengths, byte_budget=1)
