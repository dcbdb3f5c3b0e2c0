from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion import EvidenceSettings, gather_evidence
from vitgeom.fusion.probe_outcomes import probe_logits
from vitgeom.probes import fit_layer, fit_probes

X, Y = layered_features(90, 3, 6, 3)
X_VAL, Y_VAL = layered_features(40, 3, 6, 3, seed=1)


def evidence(**settings):
    return gather_evidence(X, Y, X_VAL, Y_VAL, settings=EvidenceSettings(l2=(0.01, 0.1, 1.0), **settings))


def test_probes_are_those_of_fit_probes():
    wanted = fit_probes(X, Y, X_val=X_VAL, y_val=Y_VAL, l2=(0.01, 0.1, 1.0))
    found = evidence()

    for layer in range(3):
        torch.testing.assert_close(found.probe(layer).weight, wanted.weight[layer])
        torch.testing.assert_close(found.val_logits(layer), wanted.logits(X_VAL)[:, layer])


def test_held_out_logits_come_from_probes_that_never_saw_the_fold():
    found = evidence(num_folds=4, fold_tol=1e-8)
    probe = found.probe(2)
    for one in range(4):
        rest, held = found.fold != one, found.fold == one
        # The folds share the standardisation of all rows: fit on features that are standardised already.
        z = probe.standardiser(X[:, 2].contiguous())
        wanted = fit_layer(
            z[rest],
            Y[rest],
            num_classes=3,
            l2=torch.tensor([found.settings.l2[probe.chosen]], dtype=torch.float64),
            tol=1e-8,
        )
        logits = wanted.logits(z[held], problem=0).float()
        # A fold's own standardisation changes the penalty a little; class scores must agree to that.
        torch.testing.assert_close(found.held_out(2)[held], logits, atol=0.25, rtol=0.0)
        assert bool((found.held_out(2)[held].argmax(dim=1) == logits.argmax(dim=1)).float().mean() >= 0.95)


def test_changing_a_row_changes_its_own_held_out_logits_only_through_itself():
    """Were a row in its own fit, its label would move its logits."""
    found = evidence(num_folds=3)
    flipped = Y.clone()
    row = int((found.fold == 0).nonzero()[0, 0])
    flipped[row] = (flipped[row] + 1) % 3
    other = gather_evidence(X, flipped, X_VAL, Y_VAL, settings=found.settings)
    other.__dict__["fold"] = found.fold
    held = found.fold == 0

    torch.testing.assert_close(other.held_out(0)[held], found.held_out(0)[held], atol=1e-4, rtol=1e-3)


def test_the_loss_is_that_of_the_held_out_logits():
    found = evidence()
    logits = found.held_out(1).double()

    wanted = torch.nn.functional.cross_entropy(logits, Y)

    assert float(found.held_out_loss([1])[0]) == pytest.approx(float(wanted))


def test_a_class_with_two_members_ends_with_finite_scores():
    labels = Y.clone()
    labels[labels == 2] = 1
    labels[:2] = 2
    found = gather_evidence(X, labels, X_VAL, Y_VAL % 2, settings=EvidenceSettings(l2=(0.1,)))

    assert bool(torch.isfinite(found.held_out(0)).all())
    assert bool(torch.isfinite(found.held_out_loss([0, 1, 2])).all())


def test_everything_is_computed_once():
    found = evidence()

    assert found.held_out(0) is found.held_out(0)
    assert found.probe(0) is found.probe(0)
    assert found.val_logits(0) is found.val_logits(0)


def test_fewer_rows_than_folds_make_fewer_folds():
    found = gather_evidence(X[:4], torch.tensor([0, 1, 0, 1]), X_VAL, Y_VAL % 2)

    assert int(found.fold.max()) == 3


def test_logits_of_a_probe_on_other_rows():
    found = evidence()
    source = found.data.val

    torch.testing.assert_close(probe_logits(found.probe(1), source, 1), found.val_logits(1))


def test_without_validation_rows_a_part_of_training_is_held_out():
    found = gather_evidence(X.numpy(), Y.numpy(), val_fraction=0.25)

    assert found.data.train.num_rows + found.data.val.num_rows == 90
    assert len(found.data.val_target) == found.data.val.num_rows == pytest.approx(22, abs=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X, Y, X_VAL, None), "X_val was given without y_val"),
        ((X, Y, None, Y_VAL), "y_val was given without X_val"),
        ((X, Y[:-1], X_VAL, Y_VAL), "X must have one row per label, got 90 rows and 89 labels"),
        ((X, Y, X_VAL, Y_VAL[:0]), "y_val must hold at least 1 row"),
        ((X, Y, X_VAL[:, :2], Y_VAL), "X_val must have the layers and widths of X"),
        ((X, Y * 0, X_VAL, Y_VAL), "at least 2 classes"),
        ((X[:, 0], Y, X_VAL, Y_VAL), r"X must have shape \[n, L, D\]"),
        (
            (np.zeros((0, 3, 6), dtype=np.float32), np.zeros(0, dtype=np.int64), X_VAL, Y_VAL),
            "at least 2 classes",
        ),
    ],
)
def test_what_cannot_be_fitted_on_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        gather_evidence(*arguments)


def test_probes_that_are_known_are_not_fitted_again():
    probes = fit_probes(X, Y, X_val=X_VAL, y_val=Y_VAL, l2=(0.01, 0.1, 1.0))
    found, wanted = evidence(), evidence()
    found.know(probes)

    for layer in range(3):
        assert torch.equal(found.probe(layer).weight, probes.weight[layer])
        assert torch.equal(found.held_out(layer), wanted.held_out(layer))
        assert torch.equal(found.val_logits(layer), wanted.val_logits(layer))


@pytest.mark.parametrize("change", [{"l2": (0.1, 1.0)}, {"l2": (0.01, 0.1, 1.0), "refit": True}])
def test_probes_of_another_kind_are_refused(change):
    probes = fit_probes(X, Y, X_val=X_VAL, y_val=Y_VAL, **change)
    with pytest.raises(InvalidInput, match="probes must be those of these rows with strengths"):
        evidence().know(probes)


def test_probes_of_other_layers_are_refused():
    probes = fit_probes(X[:, :2], Y, X_val=X_VAL[:, :2], y_val=Y_VAL, l2=(0.01, 0.1, 1.0))
    with pytest.raises(InvalidInput, match="with 3 layers, got 2 layers"):
        evidence().know(probes)


def test_the_probe_of_one_layer_can_be_known_alone():
    probes = fit_probes(X, Y, X_val=X_VAL, y_val=Y_VAL, l2=(0.01, 0.1, 1.0))
    found = evidence()
    found.know_layer(0, probes, number=2)

    assert torch.equal(found.probe(0).weight, probes.weight[2])
    assert torch.equal(found.probe(1).weight, evidence().probe(1).weight)


def test_what_methods_share_is_made_once():
    found, made = evidence(), []

    def make() -> int:
        made.append(1)
        return len(made)

    assert [found.shared("a", make), found.shared("a", make), found.shared("b", make)] == [1, 1, 2]


def test_what_methods_share_gives_its_files_back_when_evidence_is_closed():
    class InFiles:
        released = 0

        def release(self) -> None:
            self.released += 1

    files = InFiles()
    with evidence() as found:
        assert found.shared("files", lambda: files) is files
        assert found.shared("number", lambda: 3) == 3
        assert files.released == 0
    assert files.released == 1
    assert found.shared("number", lambda: 4) == 4  # made anew
