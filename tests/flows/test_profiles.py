"""Every slip in a parameter file is refused with its full name, its value, the rule and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.profiles import load_profile, profile_names
from tests.flows import params_text
from tests.flows.params_text import write_small
from vitgeom.errors import InvalidInput, UnknownName

PROJECT_FILE = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_small(tmp_path)


def refusal(path: Path, *overrides: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        load_profile(path, overrides=overrides)
    return str(refused.value)


@pytest.mark.parametrize("name", profile_names(PROJECT_FILE))
def test_every_profile_of_the_project_is_allowed(name: str) -> None:
    chosen, profile = load_profile(PROJECT_FILE, name)

    assert chosen == name
    assert profile.datasets
    assert profile.probe.l2 == tuple(sorted(profile.probe.l2))


def test_the_default_profile_is_the_one_that_the_file_names(small: Path) -> None:
    name, profile = load_profile(small)

    assert name == "small"
    assert profile.datasets[0].options == {"n": 60, "classes": 3, "size": 32}
    assert profile.backbones[0].name == "nano_supervised"


def test_an_override_replaces_one_number(small: Path) -> None:
    before = load_profile(small)[1]
    after = load_profile(small, overrides=["extract.batch_size=32", "probe.tol=1e-4", "datasets=[digits]"])[1]

    assert (before.extract.batch_size, after.extract.batch_size) == (16, 32)
    assert after.probe.tol == 1e-4
    assert [dataset.name for dataset in after.datasets] == ["digits"]
    assert after.recoverability == before.recoverability


def test_parameters_are_frozen(small: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_profile(small)[1].extract.batch_size = 3  # type: ignore[misc]


def test_an_unknown_key_is_named_in_full_with_the_nearest_good_one(small: Path) -> None:
    message = refusal(small, "extract.batchsize=3")

    assert "unknown key 'profiles.small.extract.batchsize' (value 3). Did you mean 'batch_size'?" in message


def test_a_missing_key_is_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(params_text.small().replace("      max_iter: 200\n", ""))

    assert "missing key 'profiles.small.probe.max_iter'" in refusal(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (
            "extract.batch_size=0",
            "'profiles.small.extract.batch_size' is 0: must be greater than or equal to 1.",
        ),
        ("extract.batch_size=3.5", "'profiles.small.extract.batch_size' is 3.5: must be a valid integer."),
        ("extract.batch_size='3'", "'profiles.small.extract.batch_size' is '3': must be a valid integer."),
        ("extract.device=gpu", "'profiles.small.extract.device' is 'gpu': must match pattern"),
        ("extract.tokens=[cls, cls]", "each kind of token may be named once"),
        ("extract.precision=float8", "must be 'float32', 'bfloat16' or 'float16'"),
        ("probe.refit=1", "'profiles.small.probe.refit' is 1: must be a valid boolean."),
        ("probe.tol=0", "'profiles.small.probe.tol' is 0: must be greater than 0."),
        ("probe.tol=true", "'profiles.small.probe.tol' is True: a number is needed."),
        ("probe.tol=.nan", "must be a finite number"),
        ("probe.l2=[0.1, 0.01]", "penalties must rise from one to the next"),
        ("probe.l2=[-1.0]", "'profiles.small.probe.l2.0' is -1.0: must be greater than 0."),
        ("datasets=[]", "'profiles.small.datasets' is []: must have at least 1 item"),
        (
            "datasets=[{name: noise, options: {n: [1]}}]",
            "'profiles.small.datasets.0.options.n' is [1]: an option is text",
        ),
        ("engine=3", "'profiles.small.engine' is 3"),
        ("tracking.experiment=''", "'profiles.small.tracking.experiment' is ''"),
    ],
)
def test_a_wrong_value_is_named_with_its_rule(small: Path, override: str, said: str) -> None:
    assert said in refusal(small, override)


def test_all_slips_are_reported_together(small: Path) -> None:
    message = refusal(small, "extract.batch_size=0", "probe.tol=-1.0", "seeds=1")

    assert message.count("\n  ") == 3


def test_an_unknown_profile_is_refused_with_the_nearest(small: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown profile 'smal'\. Did you mean 'small'\?"):
        load_profile(small, "smal")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("extract.batch_size", "must look like extract.batch_size=32"),
        ("seed.more=3", "'more' cannot stand below a plain value \\(0\\)"),
        ("probe.l2=[1", "is not valid YAML; quote it"),
    ],
)
def test_an_override_that_cannot_be_read_is_refused(small: Path, override: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        load_profile(small, overrides=[override])


def test_a_key_given_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("profile: a\nprofile: b\nprofiles: {}\n")

    with pytest.raises(InvalidInput, match="key 'profile' is given twice in line 1"):
        load_profile(tmp_path / "params.yaml")


def test_scientific_notation_without_a_point_is_a_number_as_it_is_for_dvc(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(params_text.small().replace("tol: 1.0e-5", "tol: 1e-5"))

    assert load_profile(tmp_path / "params.yaml")[1].probe.tol == 1e-5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profile: [", "is not valid YAML"),
        ("- a\n", "holds list"),
        ("profile: a\n", "needs exactly 'profile' and 'profiles'"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "params.yaml").write_text(text)

    with pytest.raises(InvalidInput, match=said):
        load_profile(tmp_path / "params.yaml")


def test_a_missing_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read .* --params"):
        load_profile(tmp_path / "none.yaml")
