"""Result files: where they lie, when they count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tasks.probe_results import (
    FILES,
    describe_probes,
    finished_results,
    results_path,
    write_results,
)
from tasks.request import ProbeRequest
from tasks.stored_results import DONE, json_bytes
from vitgeom.probes import L2_GRID, LayerProbes, fit_probes
from vitgeom.seeding import generator_for
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root


def request(**changes: object) -> ProbeRequest:
    return ProbeRequest(
        **{"store": "/s", "address": "features/digits/nano/00aa", "manifest_digest": "d" * 64, **changes}
    )


def test_the_place_follows_what_decides_the_numbers() -> None:
    base = results_path(request())
    assert base.startswith("probes/digits/nano/")
    assert {
        results_path(request(store="/t")),
        results_path(request(threads=4)),
        results_path(request(l2=L2_GRID)),
    } == {base}
    changes = [
        {"token": "mean"},
        {"last_layer": "raw"},
        {"l2": (1.0,)},
        {"tol": 1e-3},
        {"seed": 1},
        {"refit": True},
    ]
    changes += [{"manifest_digest": "e" * 64}, {"max_iter": 7}, {"num_bootstrap": 10}]
    assert len({base, *(results_path(request(**change)) for change in changes)}) == len(changes) + 1


def files() -> dict[str, bytes]:
    return {name: name.encode() for name in FILES}


def test_results_count_once_their_record_is_there(tmp_path: Path) -> None:
    target = Root(tmp_path)
    assert finished_results(target) is None
    record = write_results(target, files(), rows=9, seconds=1.5, peak_bytes=7, detail={"errors": 3})
    assert finished_results(target) == record
    assert (record["rows"], record["seconds"], record["detail"]) == (9, 1.5, {"errors": 3})


def test_the_digest_is_that_of_the_files_alone(tmp_path: Path) -> None:
    first = write_results(Root(tmp_path / "a"), files(), rows=9, seconds=1.5, peak_bytes=7, detail={})
    second = write_results(Root(tmp_path / "b"), files(), rows=9, seconds=99.0, peak_bytes=8, detail={})
    changed = write_results(
        Root(tmp_path / "c"), {**files(), FILES[0]: b"else"}, rows=9, seconds=1.5, peak_bytes=7, detail={}
    )
    assert first["digest"] == second["digest"] != changed["digest"]


@pytest.mark.parametrize("name", [*FILES, DONE])
@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_damaged_results_do_not_count(tmp_path: Path, name: str, damage: str) -> None:
    write_results(Root(tmp_path), files(), rows=9, seconds=1.5, peak_bytes=7, detail={})
    if damage == "gone":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(b"\x00")
    assert finished_results(Root(tmp_path)) is None


def test_a_missing_file_is_a_slip_of_our_own(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="results are"):
        write_results(Root(tmp_path), {"probes.json": b""}, rows=9, seconds=1.5, peak_bytes=7, detail={})
    assert list(tmp_path.iterdir()) == []


def test_the_description_says_how_each_layer_was_chosen() -> None:
    generator = generator_for(0, "probe results")
    features, labels = torch.randn(60, 3, 4, generator=generator), torch.arange(60) % 3
    features[:, 1, 0] += 3.0 * labels
    probes = fit_probes(features, labels, X_val=features, y_val=labels, l2=(0.01, 1.0))
    told = describe_probes(probes)
    assert [entry["layer"] for entry in told["layers"]] == [1, 2, 3]
    assert [entry["l2"] for entry in told["layers"]] == probes.chosen_l2.tolist()
    for number, entry in enumerate(told["layers"]):
        assert entry["val_loss"] == float(probes.val_loss[number].min())
        assert entry["converged"]
    rebuilt = LayerProbes.from_parts(probes.tensors(), json.loads(json_bytes(told))["meta"])
    assert torch.equal(rebuilt.logits(features), probes.logits(features))


def edited(record: dict[str, Any], changes: dict[str, Any], *, sign: bool = False) -> dict[str, Any]:
    content = {**record, **changes}
    rest = {name: value for name, value in content.items() if name != "checksum"}
    return {**content, "checksum": fingerprint(rest)} if sign else content


@pytest.mark.parametrize("text", ["{}", "[]", "null", "3", '{"files": {}}', '{"seconds": NaN}'])
def test_what_is_no_record_does_not_count(tmp_path: Path, text: str) -> None:
    write_results(Root(tmp_path), files(), rows=9, seconds=1.5, peak_bytes=7, detail={"errors": 3})
    (tmp_path / DONE).write_text(text)
    assert finished_results(Root(tmp_path)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"detail": {}},
        {"detail": {"errors": 2}},
        {"rows": 8},
        {"seconds": float("nan")},
        {"files": {}},
        {"digest": "0" * 64},
        {"checksum": 1},
        {"more": 1},
    ],
)
def test_an_edited_record_is_not_believed(tmp_path: Path, changes: dict[str, Any]) -> None:
    record = write_results(Root(tmp_path), files(), rows=9, seconds=1.5, peak_bytes=7, detail={"errors": 3})
    (tmp_path / DONE).write_text(json.dumps(edited(record, changes)))
    assert finished_results(Root(tmp_path)) is None


@pytest.mark.parametrize("changes", [{"rows": "9"}, {"detail": []}, {"files": {}}, {"more": 1}])
def test_a_record_of_another_shape_does_not_count_whatever_its_checksum_says(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    record = write_results(Root(tmp_path), files(), rows=9, seconds=1.5, peak_bytes=7, detail={})
    (tmp_path / DONE).write_text(json.dumps(edited(record, changes, sign=True)))
    assert finished_results(Root(tmp_path)) is None


def test_a_folder_in_the_place_of_a_file_does_not_count(tmp_path: Path) -> None:
    write_results(Root(tmp_path), files(), rows=9, seconds=1.5, peak_bytes=7, detail={})
    (tmp_path / FILES[0]).unlink()
    (tmp_path / FILES[0]).mkdir()
    assert finished_results(Root(tmp_path)) is None
