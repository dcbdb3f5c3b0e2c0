"""Every slip in a parameter file is refused with its full name, its value, the rule and the way out."""

from __future__ import annotations

import re
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
        ("fusion.methods=[vfuson]", "unknown method 'vfuson'. Did you mean 'vfusion'?"),
        ("fusion.methods=[hfusion]", "hfusion takes several backbones and is compared by itself"),
        ("fusion.methods=[vfusion, vfusion]", "each method may be named once"),
        ("sweep.space.selection=[holistc]", "Did you mean 'holistic'?"),
        ("metric.learn=[spm]", "Did you mean 'spn'?"),
        ("metric.learn=spn", "must be by_regime, or a list of models"),
        ("metric.model.hidden=7", "heads must divide hidden, got 2 and 7"),
        ("metric.seeds=[1, 1]", "each one may be named once"),
        ("metric.datasets=[digits]", "metric.datasets names 'digits', which is no dataset of this profile"),
        ("fusion.methods=[]", "'profiles.small.fusion.methods' is []: must be all, or a list of methods"),
        ("fusion.seeds=[1, 1]", "each seed may be named once"),
        ("fusion.encoder.layer_scaling=best", "must be quality, none, or a temperature of at least 0"),
        (
            "fusion.encoder.hiden_dim=3",
            "unknown key 'profiles.small.fusion.encoder.hiden_dim' (value 3). Did you mean 'hidden_dim'?",
        ),
        ("extract.device=gpu", "'profiles.small.extract.device' is 'gpu': must match pattern"),
        ("extract.tokens=[cls, cls]", "each kind of token may be named once"),
        ("extract.token_layers=[6, 3]", "layers must rise from one to the next"),
        ("extract.token_layers=[3, 3]", "layers must rise from one to the next"),
        (
            "extract.token_layers=[0]",
            "'profiles.small.extract.token_layers.0' is 0: must be greater than or equal to 1",
        ),
        ("extract.token_layers=3", "'profiles.small.extract.token_layers' is 3: must be a list, e.g. [3]"),
        ("extract.precision=float8", "must be 'float32', 'bfloat16' or 'float16'"),
        ("probe.refit=1", "'profiles.small.probe.refit' is 1: must be a valid boolean."),
        ("probe.tol=0", "'profiles.small.probe.tol' is 0: must be greater than 0."),
        ("probe.tol=true", "'profiles.small.probe.tol' is True: a finite number is needed, written"),
        (
            "probe.tol=nan",
            "'profiles.small.probe.tol' is 'nan': a finite number is needed, written without quotes",
        ),
        ("datasets=digits", "'profiles.small.datasets' is 'digits': must be a list, e.g. [digits]."),
        ("probe.l2=0.1", "'profiles.small.probe.l2' is 0.1: must be a list, e.g. [0.1]."),
        ("probe.l2=null", "'profiles.small.probe.l2' is None: must be a list, e.g. [first, second]."),
        ("probe.tol=.nan", "must be a finite number"),
        ("probe.l2=[0.1, 0.01]", "penalties must rise from one to the next"),
        ("probe.l2=[-1.0]", "'profiles.small.probe.l2.0' is -1.0: must be greater than 0."),
        ("datasets=[]", "'profiles.small.datasets' is []: must have at least 1 item"),
        (
            "datasets=[{name: noise, options: {n: [1]}}]",
            "'profiles.small.datasets.0.options.n' is [1]: an option is text",
        ),
        ("engine=3", "'profiles.small.engine' is 3: must be a mapping with the keys kind, address,"),
        ("datasets=[3]", "'profiles.small.datasets.0' is 3: must be a mapping with the keys name, options."),
        (
            "shift.datasets=[noize]",
            "shift.datasets names 'noize', which is no dataset of this profile. Did you mean 'noise'?",
        ),
        (
            "sweep.datasets=[digits]",
            "sweep.datasets names 'digits', which is no dataset of this profile. It has: noise",
        ),
        ("sweep.datasets=[noise, noise]", "each one may be named once"),
        ("extract={1: 2}", "'profiles.small.extract.1"),
        ("tracking.experiment=''", "'profiles.small.tracking.experiment' is ''"),
    ],
)
def test_a_wrong_value_is_named_with_its_rule(small: Path, override: str, said: str) -> None:
    assert said in refusal(small, override)


def test_all_slips_are_reported_together(small: Path) -> None:
    message = refusal(small, "extract.batch_size=0", "probe.tol=-1.0", "seeds=1")

    assert message.count("\n  ") == 3


def test_a_fault_is_headed_by_what_it_is_due_to(small: Path) -> None:
    small.write_text(small.read_text().replace("max_iter: 200", "max_iter: 0"))

    lines = refusal(small, "probe.tol=-1", "seed=1", "extract.batch_size=0").splitlines()

    assert [line for line in lines if not line.startswith("  ")] == [
        f"{small} cannot be used:",
        "--set 'probe.tol=-1' cannot be used:",
        "--set 'extract.batch_size=0' cannot be used:",
    ]
    assert "max_iter" in lines[1]


def test_an_override_can_cure_the_file(small: Path) -> None:
    small.write_text(small.read_text().replace("max_iter: 200", "max_iter: 0"))

    assert load_profile(small, overrides=["probe.max_iter=7"])[1].probe.max_iter == 7


DIGITS, BRACKETS = "9" * 5000, "[" * 2000
UNREADABLE = [
    (
        "2020-13-45",
        r"value '2020-13-45' in line \d+ cannot be read as timestamp \(month must be in 1..12\).*quotes",
    ),
    (DIGITS, r"cannot be read as int \(an integer may have 300 digits\)"),
    ("9" * 400, r"cannot be read as int \(an integer may have 300 digits\)"),
    ("0x" + "f" * 5000, r"cannot be read as int \(an integer may have 300 digits\)"),
    ("!!int three", "value 'three' in line .* cannot be read as int"),
    ("!!bool perhaps", "value 'perhaps' in line .* cannot be read as bool"),
    ("!!timestamp soon", "value 'soon' in line .* cannot be read as timestamp"),
    ("{1: a, x: b, 1: c, x: d}", "key 1 is given twice"),
    ("{[1]: a, [1]: b}", "unhashable key"),
    ("!!map three", "expected a mapping node"),
    (BRACKETS, "is nested too deeply"),
]


@pytest.mark.parametrize(("value", "said"), UNREADABLE)
def test_a_value_that_yaml_cannot_convert_is_refused_in_the_file(
    tmp_path: Path, value: str, said: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(params_text.small().replace("seed: 0", f"seed: {value}"))

    message = refusal(path)

    assert re.search(said, message)
    assert message.startswith(str(path))
    assert len(message) < 1000


@pytest.mark.parametrize(("value", "said"), UNREADABLE)
def test_a_value_that_yaml_cannot_convert_is_refused_in_an_override(
    small: Path, value: str, said: str
) -> None:
    message = refusal(small, f"seed={value}")

    assert re.search(said, message)
    assert message.startswith("--set 'seed=")
    assert str(small) not in message
    assert len(message) < 1000


def test_an_unknown_profile_is_refused_with_the_nearest(small: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown profile 'smal'\. Did you mean 'small'\?"):
        load_profile(small, "smal")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("extract.batch_size", "must look like extract.batch_size=32"),
        ("seed.more=3", "'more' cannot stand below a plain value \\(0\\)"),
        ("probe.l2=[1", r"--set 'probe.l2=\[1' is not valid YAML in line 1: expected .*\. Quote the value\."),
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
        ("1: x\nprofile: a\n", r"has the keys \[1, 'profile'\]; it needs exactly"),
        ("profile: 2020-13-45\n", "'2020-13-45' in line 1 cannot be read as timestamp"),
        ("profile: b\nprofiles: {1: {}, a: {}}\n", r"unknown profile 'b'.* Known: 1, a\."),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "params.yaml").write_text(text)

    with pytest.raises(InvalidInput, match=said):
        load_profile(tmp_path / "params.yaml")


def test_profiles_that_are_no_mapping_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("profile: a\nprofiles: 3\n")

    with pytest.raises(InvalidInput, match=r"needs exactly 'profile' and 'profiles' \(a mapping\)"):
        profile_names(tmp_path / "params.yaml")


def test_a_file_in_another_encoding_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes("profile: a\n# für\n".encode("latin-1"))

    with pytest.raises(
        InvalidInput, match=r"params.yaml must be text in UTF-8, got the byte 0xfc in line 2\. Save"
    ):
        load_profile(tmp_path / "params.yaml")


def test_a_missing_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read .* --params"):
        load_profile(tmp_path / "none.yaml")


def test_a_corruption_that_is_not_there_is_refused_with_the_nearest_one(small: Path) -> None:
    said = refusal(small, "shift.corruptions=[gausian_noise]")
    assert "shift.corruptions.0" in said
    assert "gausian_noise" in said
    assert "gaussian_noise" in said.replace("gausian_noise", "")
    assert "must be a name of vitgeom.data.corruptions" in refusal(small, "shift.corruptions=[3]")


@pytest.mark.parametrize("given", ["[0]", "[6]", "['1']", "[1, 1]"])
def test_a_severity_is_one_of_five_and_named_once(small: Path, given: str) -> None:
    assert "shift.severities" in refusal(small, f"shift.severities={given}")


def test_no_corruption_is_allowed(small: Path) -> None:
    assert load_profile(small, overrides=["shift.corruptions=[]"])[1].shift.corruptions == ()
