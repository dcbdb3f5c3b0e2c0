"""What trials share: taken from the probe step where it can be, the same bytes as without it, and gone with the sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks import fit_probes
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from tasks.sweep_evidence import drop_evidence, evidence_place, store_evidence, stored_evidence
from tasks.sweep_fusion import run
from tasks.sweep_request import SweepRequest
from tests.support.sweep_features import sweep_request, sweep_store
from vitgeom.errors import InvalidInput
from vitgeom.fusion import evidence
from vitgeom.store.feature_store import FeatureStore

SPACE = {"selection": ("holistic", "last"), "layer_scaling": ("none",), "hidden_dim": (4,)}


def probed(store: FeatureStore, request: SweepRequest, **changes: Any) -> Receipt:
    fields = {"l2": request.l2, "tol": request.tol, "num_bootstrap": 50, **changes}
    return fit_probes.run(
        ProbeRequest(
            store=request.store, address=request.address, manifest_digest=request.manifest_digest, **fields
        )
    )


def no_fit(*_: object, **__: object) -> None:
    raise AssertionError("a probe was fitted again")


def test_probes_of_the_probe_step_are_taken_and_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    without = run(sweep_request(sweep_store(str(here)), here, space=SPACE, max_epochs=2))
    store = sweep_store(str(there))
    asked = sweep_request(store, there, space=SPACE, max_epochs=2)
    asked = asked.model_copy(update={"probes": probed(store, asked).uri})
    monkeypatch.setattr(evidence, "probe_layer", no_fit)
    taken = run(asked)
    assert not taken.cached
    assert taken.digest == without.digest


def test_probes_of_other_settings_are_refused(tmp_path: Path) -> None:
    store = sweep_store(str(tmp_path))
    asked = sweep_request(store, tmp_path, space=SPACE)
    other = asked.model_copy(update={"probes": probed(store, asked, tol=1e-3).uri})
    with pytest.raises(InvalidInput, match=r"fitted with tol=0\.001, but tol=1e-06 is asked for"):
        store_evidence(other, layers=(0,))


def test_evidence_is_read_again_by_each_start_and_goes_with_the_sweep(tmp_path: Path) -> None:
    asked = sweep_request(sweep_store(str(tmp_path)), tmp_path, space=SPACE)
    store_evidence(asked, layers=(0, 2))
    one = stored_evidence(asked.model_dump_json(), "a")
    assert stored_evidence(asked.model_dump_json(), "a") is one
    other = stored_evidence(asked.model_dump_json(), "b")
    assert other is not one
    assert other.data is one.data, "rows are opened once"
    drop_evidence(asked)
    assert not Path(evidence_place(asked).uri).exists()
