"""Every method on evidence that lies in files against the same on evidence in memory."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from tests.contracts.fused_method import quick, shaped
from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion import Evidence, EvidenceSettings, gather_evidence, staged_rows
from vitgeom.fusion.backbone_rows import backbone_rows
from vitgeom.fusion.methods import METHODS
from vitgeom.probes.row_file import RowFile

X, Y = layered_features(150, 2, 5, 3, strength=0.8)
Y_VAL = Y[90:130].clone()
Y_VAL[:3] = 9  # a class that training never showed: rows to leave out
TINY = 64


@lru_cache(maxsize=4)
def evidence(byte_budget: int | None, several_backbones: bool) -> Evidence:
    train, val = X[:90], X[90:130]
    if several_backbones:
        train, val = (backbone_rows([x, x[..., :-1].clone()], name="X") for x in (train, val))
    settings = EvidenceSettings(l2=(0.03, 0.3), num_folds=3, byte_budget=byte_budget)
    return gather_evidence(train, Y[:90], val, Y_VAL, settings=settings)


@pytest.mark.parametrize("name", list(METHODS))
def test_files_and_memory_give_the_same_predictions(name, monkeypatch):
    entry = METHODS[name]
    wanted = quick(entry).fit_evidence(evidence(None, entry.several_backbones))
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 100)  # some dozen blocks
    found = quick(entry).fit_evidence(evidence(TINY, entry.several_backbones))

    x = backbone_rows(shaped(entry, X), name="X") if entry.several_backbones else X
    np.testing.assert_array_equal(found.predict(x), wanted.predict(x))
    np.testing.assert_allclose(found.predict_proba(x), wanted.predict_proba(x), atol=1e-3)


def test_probes_and_held_out_logits_lie_in_files_until_they_are_closed():
    with gather_evidence(
        X[:90], Y[:90], X[90:130], Y_VAL, settings=EvidenceSettings(l2=(0.1,), num_folds=2, byte_budget=TINY)
    ) as found:
        held_out, val = found.held_out(1), found.val_logits(1)
        assert isinstance(held_out, RowFile)
        assert isinstance(val, RowFile)
        assert isinstance(evidence(None, False).held_out(1), np.ndarray | type(X))
    for file in (held_out, val):
        with pytest.raises(ValueError, match="closed file"):
            file[:]
    assert len(found.held_out(1)) == 90  # computed anew


def test_methods_share_a_start_of_training_in_files_until_evidence_is_closed():
    with gather_evidence(
        X[:90], Y[:90], X[90:130], Y_VAL, settings=EvidenceSettings(l2=(0.1,), num_folds=2, byte_budget=TINY)
    ) as found:
        first, again = (quick(METHODS["vfusion"]).fit_evidence(found) for _ in range(2))
        (start,) = found._shared.values()
        assert isinstance(start.train, RowFile)
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    for file in (start.train, start.val):
        with pytest.raises(ValueError, match="closed file"):
            file[:]


def test_log_probabilities_come_in_blocks_of_all_rows(monkeypatch):
    fitted = quick(METHODS["best_layer"]).fit_evidence(evidence(None, False))
    monkeypatch.setattr("vitgeom.fusion.linear_maps.BLOCK_BYTES", 1)

    parts = list(fitted.log_proba_blocks(X))

    assert [len(part) for part in parts] == [16] * 9 + [6]
    np.testing.assert_allclose(np.concatenate(parts), fitted.predict_log_proba(X), atol=1e-6)


@pytest.mark.parametrize("budget", [0, -1, True])
def test_a_budget_that_is_no_number_of_bytes_is_refused(budget):
    with pytest.raises(InvalidInput, match="byte_budget must be a whole number of bytes >= 1"):
        gather_evidence(X[:90], Y[:90], X[90:], Y[90:], settings=EvidenceSettings(byte_budget=budget))
