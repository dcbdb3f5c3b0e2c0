"""What a run changes of its profile names its folder; what only says how it runs does not."""

from __future__ import annotations

import re

import pytest

from flows.departures import folder_name, other_names, other_parameters
from flows.params import Profile
from flows.profiles import load_profile
from tests.flows.params_text import write_small


@pytest.fixture
def small(tmp_path):
    """Return the small profile under overrides."""
    path = write_small(tmp_path)

    def load(*overrides: str) -> Profile:
        return load_profile(path, overrides=overrides)[1]

    return load


@pytest.mark.parametrize(
    "override",
    [
        "engine.kind=ray",
        "engine.max_in_flight=9",
        "tracking.experiment=other",
        "extract.batch_size=32",
        "extract.rows_per_range=8",
        "extract.device=cuda",
        "extract.threads=2",
        "probe.threads=2",
        "fusion.threads=2",
        "sweep.threads=2",
        "shift.corruptions=[fog]",
        "sweep.grace_epochs=2",
        "diagnose.layers=[3]",
        "metric.rank=3",
        "probe.tol=1.0e-5",
    ],
)
def test_how_it_runs_and_what_the_profile_says_anyway_change_nothing(small, override):
    assert other_parameters(small(), small(override)) == ()


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("seed=1", "seed=1"),
        ("probe.tol=1e-4", "probe.tol=0.0001"),
        ("probe.refit=true", "probe.refit=true"),
        ("extract.tokens=[mean]", "extract.tokens=mean"),
        ("extract.image_size=64", "extract.image_size=64"),
        ("recoverability.num_bootstrap=60", "recoverability.num_bootstrap=60"),
    ],
)
def test_what_changes_the_results_is_told_as_it_was_set(small, override, told):
    assert other_parameters(small(), small(override)) == (told,)
    assert folder_name("small", [told]) == f"small-{told}"


def test_the_order_of_overrides_does_not_matter(small):
    one, other = small("seed=1", "probe.tol=1e-4"), small("probe.tol=1e-4", "seed=1")
    assert other_parameters(small(), one) == other_parameters(small(), other)


def test_other_names_are_told_and_the_usual_ones_are_not(small):
    plain = small()
    [usual] = other_names(None, datasets=["digits"], backbones=[])
    assert usual == "digits"
    assert other_names(plain, datasets=["digits"], backbones=["nano_supervised"]) == ("digits",)
    assert other_names(plain, datasets=[], backbones=["nano_selfsup"]) == ("nano_selfsup",)


def test_a_profile_that_is_not_allowed_without_overrides_differs_in_everything(small):
    assert len(other_parameters(None, small())) > 8


@pytest.mark.parametrize(
    "departures", [["x" * 81], ["probe.token=a/b"], ["a b"], [f"probe.l2={','.join(['0.001'] * 20)}"]]
)
def test_what_makes_no_good_name_is_told_by_its_hash(departures):
    name = folder_name("small", departures)
    assert re.fullmatch("small-[0-9a-f]{12}", name)
    assert name != folder_name("small", [*departures, "seed=1"])


def test_without_departures_the_name_is_the_base_alone():
    assert folder_name("small", []) == "small"
