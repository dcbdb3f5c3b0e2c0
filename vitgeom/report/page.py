"""The whole report as one HTML page that loads nothing: answer, pictures, tables, what failed, provenance."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.report import appearance, tables
from vitgeom.report.combination import Combination, Failure
from vitgeom.report.directions_section import directions_blocks
from vitgeom.report.drawing import Drawing
from vitgeom.report.fusion_section import fusion_blocks
from vitgeom.report.gallery import Gallery
from vitgeom.report.glossary import glossary
from vitgeom.report.learnt_section import learnt_blocks
from vitgeom.report.markup import Child, Markup, element, join
from vitgeom.report.material import DatasetFacts, Material
from vitgeom.report.provenance import provenance_blocks
from vitgeom.report.shift_section import shift_blocks
from vitgeom.report.verdict import Answer, answer, best_layer_sentence, recoverability_sentence

SECTIONS = (
    ("answer", "Answer"),
    ("pictures", "Pictures"),
    ("fusion", "Fusing the layers"),
    ("tables", "Tables"),
    ("data", "Data"),
    ("costs", "Time and memory"),
    ("provenance", "Provenance"),
    ("reading", "How to read this"),
)
SHIFT = ("shift", "Under shift")
DIRECTIONS = ("directions", "Directions and tokens")
LEARNT = ("learnt", "What models learn of directions and tokens")
"""Sections that only a page with such results has; they stand behind the one on fusing, in this order."""


NO_BREAK = "\N{NO-BREAK SPACE}"


def render_page(material: Material, *, gallery: Gallery) -> str:
    """Return the report as one self-contained HTML document.

    Args:
        material: What to show.
        gallery: Its drawings.
    """
    body = element(
        "main",
        element("p", f"vitgeom · profile {material.profile}", class_="muted small"),
        element("h1", material.heading),
        element(
            "nav",
            *(element("a", title, href=f"#{key}") for key, title in sections(material)),
            aria_label="Sections",
        ),
        _answer(material, gallery),
        _pictures(material, gallery),
        _section("fusion", *fusion_blocks(material, gallery.methods)),
        _shift(material, gallery),
        _directions(material, gallery),
        _learnt(material, gallery),
        _tables(material),
        _data(material.datasets),
        _costs(material),
        _section("provenance", *provenance_blocks(material.provenance)),
        _section("reading", glossary()),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{material.subject or material.profile} · {material.title}"),
        element("style", Markup(appearance.stylesheet())),
    )
    whole = element("html", head, element("body", body), lang="en").replace(" %", f"{NO_BREAK}%")
    return f"<!DOCTYPE html>\n{whole}\n"


def sections(material: Material) -> tuple[tuple[str, str], ...]:
    """Return key and title of every section that the page of some material has.

    Args:
        material: What to show.
    """
    place = [key for key, _ in SECTIONS].index("fusion") + 1
    shift = (SHIFT,) if _has_shift(material) else ()
    directions = (DIRECTIONS,) if _has_directions(material) else ()
    learnt = (LEARNT,) if _has_learnt(material) else ()
    return (*SECTIONS[:place], *shift, *directions, *learnt, *SECTIONS[place:])


def _section(key: str, *children: Child) -> Markup:
    return element(
        "section", element("h2", dict((*SECTIONS, SHIFT, DIRECTIONS, LEARNT))[key]), *children, id=key
    )


def _has_shift(material: Material) -> bool:
    return bool(material.shifted or material.unshifted)


def _shift(material: Material, gallery: Gallery) -> Markup | None:
    return _section("shift", *shift_blocks(material, gallery.shift)) if _has_shift(material) else None


def _has_directions(material: Material) -> bool:
    return bool(material.directed or material.undirected)


def _directions(material: Material, gallery: Gallery) -> Markup | None:
    if not _has_directions(material):
        return None
    return _section("directions", *directions_blocks(material, gallery.directions))


def _has_learnt(material: Material) -> bool:
    return bool(material.learnt or material.unlearnt)


def _learnt(material: Material, gallery: Gallery) -> Markup | None:
    return _section("learnt", *learnt_blocks(material, gallery.learnt)) if _has_learnt(material) else None


def _answer(material: Material, gallery: Gallery) -> Markup:
    cards = [
        *(_card(pair) for pair in material.finished),
        *(_failed_card(failure) for failure in material.failed),
    ]
    return _section(
        "answer",
        element(
            "p",
            "Does an earlier layer of a frozen vision transformer know what its last layer gets wrong?",
            class_="muted",
        ),
        element("p", headline(material), class_="lead"),
        element("div", *cards, class_="cards"),
        None if gallery.overview is None else _figure(gallery.overview, _overview_caption(), wide=True),
    )


def headline(material: Material) -> str:
    """Return the answer over all pairs in one or two sentences.

    Args:
        material: What the page shows.
    """
    finished, failed = material.finished, material.failed
    if not finished:
        return f"No answer: none of the {len(failed)} pairs of dataset and backbone finished."
    answers = [answer(pair) for pair in finished]
    yes, asked = answers.count(Answer.YES), len(answers)
    if asked == 1:
        text = f"For {finished[0].label}: {answers[0].value}."
    else:
        text = (
            f"In {yes} of {asked} pairs of dataset and backbone an earlier layer knows what the last one gets wrong, beyond chance: more "
            "than guessing, shuffled predictions and refits of the last layer recover."
        )
        others = [
            f"{answers.count(kind)} {kind.value}"
            for kind in Answer
            if kind is not Answer.YES and kind in answers
        ]
        text += f" The rest: {'; '.join(others)}." if others else ""
    return text + (f" {len(failed)} more did not finish." if failed else "")


def _card(pair: Combination) -> Markup:
    kind = answer(pair)
    return element(
        "article",
        element("h3", pair.label),
        element("span", kind.value, class_="tag"),
        element("p", recoverability_sentence(pair)),
        element("p", best_layer_sentence(pair)),
        class_="card beyond" if kind is Answer.YES else "card",
    )


def _failed_card(failure: Failure) -> Markup:
    return element(
        "article",
        element("h3", failure.label),
        element("span", "did not finish", class_="tag"),
        element("p", failure.reason),
        class_="card failed",
    )


def _figure(drawing: Drawing, caption: Child, *, wide: bool = False) -> Markup:
    text = element("figcaption", element("b", drawing.title), ". ", caption)
    return element("figure", drawing.inline(), text, class_="wide" if wide else None)


def _overview_caption() -> str:
    return (
        "Blue: share of the last layer's errors that at least one earlier layer gets right. The other marks are what it must exceed. "
        "Bars are 95 % intervals; n is the number of errors."
    )


def _pictures(material: Material, gallery: Gallery) -> Markup:
    blocks = []
    for pair in material.finished:
        accuracy = f"n = {pair.num_test:,} test images. Points and shade: probe and 95 % interval. The axis does not start at zero."
        figures = [_figure(gallery.accuracy[pair.label], accuracy)]
        if pair.label in gallery.recoverability:
            figures.append(_figure(gallery.recoverability[pair.label], _recoverability_caption(pair)))
        note = None if len(figures) == 2 else element("p", recoverability_sentence(pair), class_="muted")
        if pair.label in gallery.corrections:
            figures.append(_figure(gallery.corrections[pair.label], _corrections_caption(pair)))
        if pair.label in gallery.agreement:
            figures.append(_figure(gallery.agreement[pair.label], _agreement_caption(pair)))
        blocks.append(join([element("h3", pair.label), element("div", *figures, class_="figures"), note]))
    return _section(
        "pictures", *(blocks or [element("p", "Nothing to draw: no pair finished.", class_="muted")])
    )


def _recoverability_caption(pair: Combination) -> str:
    return (
        f"n = {pair.errors:,} test errors of the last layer, 95 % intervals. Left: one layer; the dotted line is one uniform guess among "
        f"{pair.num_classes:,} classes. Right: at least one of {pair.num_layers - 1} earlier layers, and what as many tries reach otherwise."
    )


def _corrections_caption(pair: Combination) -> str:
    return (
        f"n = {pair.errors:,} test errors of the last layer, bars with 95 % intervals. Credit for an image is divided evenly among the "
        "earlier layers that are right on it; the dotted line is an even spread."
    )


def _agreement_caption(pair: Combination) -> str:
    return (
        f"n = {pair.num_test:,} test images. Share of images on which two layers predict the same class, right or wrong. A light last row "
        "means layers that could add something; the numbers are below."
    )


def _tables(material: Material) -> Markup:
    if not material.finished:
        return _section("tables", element("p", "No numbers: no pair finished.", class_="muted"))
    details = [
        element("details", element("summary", f"Layer by layer: {pair.label}"), tables.layers(pair))
        for pair in material.finished
    ] + [
        element(
            "details", element("summary", f"Layers that say the same: {pair.label}"), tables.agreement(pair)
        )
        for pair in material.finished
        if pair.diversity is not None
    ]
    return _section(
        "tables",
        tables.accuracies(material.finished),
        tables.recoverability(material.finished),
        tables.relations(material.finished),
        element("p", convergence(material.finished)),
        *details,
    )


def convergence(pairs: Sequence[Combination]) -> str:
    """Return which probes and refits stopped before they reached the tolerance.

    Args:
        pairs: Finished pairs.
    """
    found = []
    for pair in pairs:
        layers = [str(layer.layer) for layer in pair.layers if not layer.converged]
        found += [f"{pair.label}, layer {', '.join(layers)}"] if layers else []
        found += [f"{pair.label}, {pair.refits_unconverged} of the refits"] if pair.refits_unconverged else []
    if not found:
        return "All probes converged."
    return f"Probes that did not converge (such a layer is never chosen as best): {'; '.join(found)}."


def _data(datasets: tuple[DatasetFacts, ...]) -> Markup:
    facts = [
        entry
        for facts in datasets
        for entry in (element("dt", facts.name), element("dd", facts.source or "no description"))
    ]
    lost = [(facts.name, path, reason) for facts in datasets for path, reason in facts.quarantine]
    quarantine = (
        tables.quarantine(lost)
        if lost
        else element("p", "Quarantine: no file of these datasets had to be left out.")
    )
    return _section("data", element("dl", *facts) if facts else None, quarantine)


def _costs(material: Material) -> Markup:
    empty = element("p", "Not recorded.", class_="muted")
    return _section("costs", tables.costs(material.costs) if material.costs else empty)
