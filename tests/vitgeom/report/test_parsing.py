from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.support.result_files import DIGEST, planted_results
from vitgeom.errors import InvalidInput
from vitgeom.report.combination import Combination
from vitgeom.report.parsing import parse_combination
from vitgeom.report.verdict import Answer, answer

Files = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]


def parse(files: Files) -> Combination:
    manifest, probes, recoverability = files
    return parse_combination(
        dataset="d", backbone="b", manifest=manifest, probes=probes, recoverability=recoverability
    )


@pytest.fixture
def files() -> Files:
    return copy.deepcopy(planted_results())


def test_numbers_arrive_where_they_belong(files: Files) -> None:
    report = files[2]["report"]
    pair = parse(files)
    assert [layer.accuracy.value for layer in pair.layers] == [part["value"] for part in report["accuracy"]]
    assert [layer.recoverability for layer in pair.layers][-1] is None
    assert pair.r_any is not None
    assert pair.r_any.value == report["r_any"]["value"]
    assert pair.floor_uniform is not None
    assert pair.floor_uniform.value == pytest.approx(1 - 0.8**3)
    assert pair.floor_permutation is not None
    assert pair.floor_permutation.value == report["floor_permutation"]["mean"]
    assert (pair.best_layer, pair.num_test, pair.errors) == (3, 120, report["errors"])
    assert pair.manifest_digest == DIGEST
    assert pair.refits_unconverged == 1


def test_oracle_identity_survives_the_trip(files: Files) -> None:
    pair = parse(files)
    last = pair.layers[-1].accuracy.value
    assert pair.r_any is not None
    assert pair.oracle.value == pytest.approx(last + (1 - last) * pair.r_any.value)
    assert pair.gap.value == pytest.approx(pair.oracle.value - pair.best.accuracy.value)
    assert pair.gain.value == pytest.approx(pair.best.accuracy.value - last)


def test_no_errors_give_no_levels() -> None:
    pair = parse(planted_results(skills=(0.4, 0.6, 0.8, 1.0), best=3))
    assert answer(pair) is Answer.NO_ERRORS
    assert pair.r_any is pair.floor_uniform is pair.floor_permutation is pair.refit_control is None
    assert [layer.recoverability for layer in pair.layers] == [None] * 4


def test_one_layer_gives_no_levels() -> None:
    pair = parse(planted_results(num_layers=1, skills=(0.6,), best=0))
    assert answer(pair) is Answer.ONE_LAYER
    assert pair.errors > 0


@pytest.mark.parametrize(
    ("file", "path", "value", "what"),
    [
        (0, ("digest",), "ef" * 32, "features digest"),
        (1, ("features", "manifest_digest"), "ef" * 32, "features digest"),
        (2, ("features", "manifest_digest"), "ef" * 32, "features digest"),
        (0, ("splits", "test", "n"), 7, "number of test samples"),
        (1, ("meta", "best_layer"), 0, "best layer"),
        (1, ("layers",), [], "number of layers"),
    ],
)
def test_files_of_different_runs_are_refused(
    files: Files, file: int, path: tuple[str, ...], value: Any, what: str
) -> None:
    place = files[file]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InvalidInput, match=f"result files of d × b do not belong together: {what}"):
        parse(files)


@pytest.mark.parametrize(
    ("file", "key"), [(0, "splits"), (1, "layers"), (2, "refit_control"), (2, "best_minus_last")]
)
def test_a_missing_part_is_named(files: Files, file: int, key: str) -> None:
    del files[file][key]
    with pytest.raises(InvalidInput, match=f"of d × b lacks what the report needs .*{key}"):
        parse(files)


def test_a_report_of_another_version_is_refused(files: Files) -> None:
    files[2]["report"]["surprise"] = 1
    with pytest.raises(InvalidInput, match="surprise"):
        parse(files)


def test_an_interval_that_is_not_one_is_refused(files: Files) -> None:
    files[2]["report"]["accuracy"][0]["low"] = float("nan")
    with pytest.raises(InvalidInput, match="accuracy of d × b must be a finite number"):
        parse(files)
