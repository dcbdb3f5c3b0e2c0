from __future__ import annotations

import dataclasses
import functools
import re

import pytest

from tests.support.html_checks import PageReader, read_page
from tests.support.report_results import combination, material, no_errors, not_beyond_chance, one_layer
from vitgeom.report.combination import Failure
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.material import Material
from vitgeom.report.page import SECTIONS, convergence, headline, render_page

FAILED = Failure("photos", "nano_selfsup", "StoreError: the disk is full")


def page(shown: Material) -> str:
    return render_page(shown, gallery=paint_gallery(shown))


def text(html: str) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


SHOWN = {
    "one": material(combination()),
    "all kinds": material(combination(), no_errors(), one_layer(), not_beyond_chance(), failed=[FAILED]),
    "only failed": material(failed=[FAILED]),
}


@functools.cache
def shown_page(kind: str) -> str:
    return page(SHOWN[kind])


@pytest.mark.parametrize("kind", SHOWN)
def test_page_is_self_contained_whatever_it_shows(kind: str) -> None:
    reader = read_page(shown_page(kind))
    assert [key for key, _ in SECTIONS if key in reader.ids] == [key for key, _ in SECTIONS]
    assert not re.search(r"\b(nan|None)\b", " ".join(reader.texts))


def test_answer_comes_first() -> None:
    html = shown_page("one")
    positions = [html.index(f'id="{key}"') for key, _ in SECTIONS]
    assert positions == sorted(positions)
    assert html.index("yes, beyond chance") < html.index("<svg")


def test_same_material_gives_the_same_page() -> None:
    assert page(material(combination())) == shown_page("one")


def test_names_are_shown_as_text() -> None:
    name = '<img src="http://x/y" onerror="z()">&amp;'
    shown = material(combination(dataset=name), failed=[Failure(name, name, name)])
    reader = PageReader()
    reader.feed(page(shown))
    assert name in "".join(reader.texts)
    assert not {"img", "script"} & set(reader.tags)
    assert not reader.handlers
    assert all(reference.startswith("#") for reference in reader.references)


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        (material(combination()), "For digits × nano_supervised: yes, beyond chance."),
        (material(one_layer()), "For scenes × single: one layer only."),
        (
            material(combination(), not_beyond_chance(), failed=[FAILED]),
            "In 1 of 2 pairs of dataset and backbone an earlier layer knows what the last one gets wrong, beyond chance: more than "
            "guessing, shuffled predictions and refits of the last layer recover. The rest: 1 not beyond chance. 1 more did not finish.",
        ),
        (material(failed=[FAILED]), "No answer: none of the 1 pairs of dataset and backbone finished."),
    ],
)
def test_headline(shown: Material, sentence: str) -> None:
    assert headline(shown) == sentence


def test_failed_pair_is_shown_with_its_reason() -> None:
    assert "did not finish StoreError: the disk is full" in text(shown_page("all kinds"))


def test_captions_say_n_units_and_interval() -> None:
    words = text(shown_page("one"))
    assert "n = 360 test images" in words
    assert "n = 57 test errors of the last layer, 95 % intervals" in words


def test_probes_that_did_not_converge_are_named() -> None:
    doubtful = dataclasses.replace(combination(), refits_unconverged=2)
    assert convergence([not_beyond_chance(), doubtful]).endswith(
        "scenes × nano_selfsup, layer 1; digits × nano_supervised, 2 of the refits."
    )
    assert convergence([combination()]) == "All probes converged."


def test_quarantine_costs_and_provenance_are_there() -> None:
    words = text(shown_page("one"))
    for part in (
        "Quarantine: 1 file",
        "not an image",
        "612.0 MB",
        "git commit 0123456789abcdef",
        "probe.l2 [0.0001, 0.001]",
        "false",
    ):
        assert part in words


def test_empty_costs_and_provenance_say_so() -> None:
    bare = dataclasses.replace(material(combination()), costs=(), provenance={}, datasets=())
    words = text(page(bare))
    assert words.count("Not recorded.") == 2
    assert "Quarantine: no file" in words


def test_a_number_is_never_parted_from_its_percent_sign() -> None:
    html = shown_page("one")
    assert "70.0\N{NO-BREAK SPACE}%" in html
    assert " %" not in html


def test_six_pairs_of_twelve_layers_stay_below_two_megabytes() -> None:
    deep = combination(accuracies=[0.5] * 12, best_layer=3)
    assert 6 * len(page(material(deep)).encode()) <= 2_000_000


def test_a_folder_of_the_reader_s_own_is_in_the_titles_and_otherwise_the_profile_is() -> None:
    own = page(dataclasses.replace(SHOWN["one"], subject="my <images>"))
    title = SHOWN["one"].title
    assert f"<title>my &lt;images&gt; · {title}</title>" in own
    assert f"<h1>{title}: my &lt;images&gt;</h1>" in own
    assert "profile embedded" in own
    assert f"<title>embedded · {title}</title>" in shown_page("one")
    assert f"<h1>{title}</h1>" in shown_page("one")
