"""Probes that were stored before: taken instead of fitted again, with the same bytes as a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks import fit_fusion, fit_probes
from tasks.fusion_request import FusionRequest
from tasks.known_probes import known_probes
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from tests.support.small_extraction import stored_bytes
from tests.support.small_fusion import QUICK, Sealed, fusion_request, sealed_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion import evidence
from vitgeom.probes import LayerProbes


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    return sealed_features(tmp_path_factory.mktemp("features"))


@pytest.fixture(scope="module")
def probed(features: Sealed) -> Receipt:
    return fit_probes.run(
        ProbeRequest(
            store=str(features.store),
            address=features.address,
            manifest_digest=features.digest,
            l2=QUICK["l2"],
            tol=QUICK["tol"],
            num_bootstrap=50,
        )
    )


def test_known_probes_are_not_fitted_again_and_change_no_byte(
    features: Sealed, probed: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = stored_bytes(Path(fit_fusion.run(fusion_request(features)).uri))
    elsewhere = sealed_features(features.store.with_name("elsewhere"))

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a probe was fitted again")

    monkeypatch.setattr(evidence, "probe_layer", fail)
    found = fit_fusion.run(fusion_request(elsewhere, probes=probed.uri))

    assert not found.cached
    again = stored_bytes(Path(found.uri))
    assert {name: data for name, data in again.items() if name != "done.json"} == {
        name: data for name, data in wanted.items() if name != "done.json"
    }


def known(request: FusionRequest) -> LayerProbes | None:
    return known_probes(request.probes, request, manifest_digest=request.manifest_digest)


def test_where_probes_lie_is_no_part_of_what_is_asked(features: Sealed, probed: Receipt) -> None:
    assert fusion_request(features).content() == fusion_request(features, probes=probed.uri).content()


def test_no_or_missing_probes_are_fitted(features: Sealed, tmp_path: Path) -> None:
    assert known(fusion_request(features)) is None
    assert known(fusion_request(features, probes=str(tmp_path / "gone"))) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tol": 1e-3}, "were fitted with tol=0.0001, but tol=0.001 is asked for"),
        ({"token": "mean"}, "were fitted with token='cls', but token='mean' is asked for"),
        ({"manifest_digest": "0" * 64}, "were fitted with manifest_digest="),
    ],
)
def test_probes_of_another_kind_are_refused(
    features: Sealed, probed: Receipt, change: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        known(fusion_request(features, probes=probed.uri, **change))
