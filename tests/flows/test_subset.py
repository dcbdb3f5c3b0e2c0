"""A part of a study does not overwrite the report of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.params import Named, NamedBackbone
from flows.study import Study
from flows.subset import apart, apart_on_folder
from tests.support.checkout import ROOT

PARAMS = str(ROOT / "params.yaml")


def out_of(**choice: object) -> str | None:
    return apart(Study(params_file=PARAMS, profile="embedded", **choice)).out


def datasets(*names: str) -> tuple[Named, ...]:
    return tuple(Named(name=name) for name in names)


def backbones(*names: str) -> tuple[NamedBackbone, ...]:
    return tuple(NamedBackbone(name=name) for name in names)


def test_a_part_is_named_after_what_it_holds() -> None:
    assert out_of(datasets=datasets("digits")) == "results/embedded-digits"
    assert out_of(backbones=backbones("nano_selfsup")) == "results/embedded-nano_selfsup"
    assert (
        out_of(datasets=datasets("photos", "digits"), backbones=backbones("nano_selfsup"))
        == "results/embedded-photos-digits-nano_selfsup"
    )


def test_the_whole_and_what_names_its_folder_stay_where_they_are() -> None:
    assert out_of() is None
    assert out_of(datasets=datasets("scenes", "digits", "photos")) is None
    assert out_of(datasets=datasets("digits"), out="here") == "here"


def test_other_options_are_another_study_and_long_names_are_shortened() -> None:
    many = tuple(Named(name="noise", options={"n": 10 + n, "classes": 2, "size": 16}) for n in range(8))
    out = out_of(datasets=many)
    assert out is not None
    assert len(out) == len("results/embedded-") + 12


@pytest.mark.parametrize("name", ["digits", "scenes"])
def test_the_folder_is_a_plain_one_below_results(name: str) -> None:
    out = out_of(datasets=datasets(name))
    assert out is not None
    assert Path(out).parent == Path("results")


def test_other_parameters_have_a_folder_of_their_own_with_and_without_a_part() -> None:
    changed = Study(
        params_file=PARAMS, profile="embedded", overrides=("probe.tol=1e-4", "engine.kind=serial")
    )
    assert apart(changed).resolve().out == Path("results/embedded-probe.tol=0.0001")
    part = changed.model_copy(update={"datasets": datasets("digits")})
    assert apart(part).out == "results/embedded-digits-probe.tol=0.0001"
    assert apart(changed.model_copy(update={"out": "here"})).resolve().out == Path("here")


def test_a_part_that_is_set_as_a_parameter_is_the_same_part() -> None:
    changed = Study(params_file=PARAMS, profile="embedded", overrides=("datasets=[digits]",))
    assert apart(changed).resolve().out == Path("results/embedded-digits")


def test_a_part_is_named_without_looking_for_the_weights_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*names: object, **options: object) -> None:
        raise AssertionError("the profile's own backbones are not needed")

    monkeypatch.setattr("flows.cell._require_resolvable", unreachable)
    part = Study(params_file=PARAMS, profile="dinov2-small", backbones=backbones("nano_selfsup"))
    assert apart(part).out == "results/dinov2-small-nano_selfsup"


def test_a_study_of_an_image_folder_is_named_after_it_and_what_is_other() -> None:
    study = Study(params_file=PARAMS, profile="embedded", datasets=datasets("digits"))
    assert apart_on_folder(study, "folder-mine-1").out == "results/folder-mine-1"
    assert apart_on_folder(study.model_copy(update={"out": "here"}), "folder-mine-1").out == "here"
    changed = study.model_copy(update={"backbones": backbones("nano_selfsup"), "overrides": ("seed=1",)})
    assert apart_on_folder(changed, "folder-mine-1").out == "results/folder-mine-1-nano_selfsup-seed=1"
