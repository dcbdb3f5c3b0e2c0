"""What a request for fusion says comes from the manifest and the profile, and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.fusion_requests import fusion_request_for, horizontal_request_for
from flows.results import Results
from flows.study import Study
from tasks.fusion_request import VERTICAL
from vitgeom.errors import InvalidInput


def test_every_number_comes_from_the_profile(two_cells: Path) -> None:
    overrides = (
        "seed=4",
        "fusion.num_folds=3",
        "fusion.encoder.hidden_dim=5",
        "probe.token=mean",
        "fusion.methods=all",
    )
    wanted = Study(overrides=overrides, out="results/small").resolve()
    results = Results(wanted.out)
    request = fusion_request_for(wanted.cells[0], wanted, results)
    manifest, _ = results.read_features(wanted.cells[0])

    assert (request.address, request.manifest_digest) == (manifest.address, manifest.digest)
    assert (request.seed, request.num_folds, request.token) == (4, 3, "mean")
    assert request.encoder.model_dump() == wanted.params.fusion.encoder.model_dump()
    assert request.gate.model_dump() == wanted.params.fusion.gate.model_dump()
    assert request.concatenation.model_dump() == wanted.params.fusion.concatenation.model_dump()
    assert (request.l2, request.tol) == (wanted.params.probe.l2, wanted.params.probe.tol)
    assert request.methods == VERTICAL


def test_all_backbones_of_a_dataset_are_in_one_request(two_cells: Path) -> None:
    wanted = Study().resolve()
    request = horizontal_request_for(wanted.cells, wanted, Results(wanted.out))
    assert request.backbones == tuple(cell.backbone for cell in wanted.cells)
    assert len(set(request.manifest_digests)) == 2


def test_without_features_the_way_out_is_named(two_cells: Path, tmp_path: Path) -> None:
    wanted = Study().resolve()
    with pytest.raises(InvalidInput, match="vitgeom stage extract"):
        fusion_request_for(wanted.cells[0], wanted, Results(tmp_path / "nothing"))
