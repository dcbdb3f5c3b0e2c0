"""The whole report as one HTML page that loads nothing: answer, pictures, tables, what failed, provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vitgeom.report import appearance, tables
from vitgeom.report.combination import Combination, Failure
from vitgeom.report.drawing import Drawing
from vitgeom.report.gallery import Gallery
from vitgeom.report.markup import Child, Markup, element, join
from vitgeom.report.material import DatasetFacts, Material
from vitgeom.report.verdict import Answer, answer, best_layer_sentence, recoverability_sentence

SECTIONS = (
    ("answer", "Answer"),
    ("pictures", "Pictures"),
    ("tables", "Tables"),
    ("data", "Data"),
    ("costs", "Time and memory"),
    ("provenance", "Provenance"),
    ("reading", "How to read this"),
)


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
        element("h1", material.title),
        element(
            "nav", *(element("a", title, href=f"#{key}") for key, title in SECTIONS), aria_label="Sections"
        ),
        _answer(material, gallery),
        _pictures(material, gallery),
        _tables(material),
        _data(material.datasets),
        _costs(material),
        _provenance(material.provenance),
        _reading(),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{material.title} · {material.profile}"),
        element("style", Markup(appearance.stylesheet())),
    )
    whole = element("html", head, element("body", body), lang="en").replace(" %", f"{NO_BREAK}%")
    return f"<!DOCTYPE html>\n{whole}\n"


def _section(key: str, *children: Child) -> Markup:
    return element("section", element("h2", dict(SECTIONS)[key]), *children, id=key)


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
            f"In {yes} of {asked} pairs of dataset and backbone an earlier layer knows what the last one gets wrong, beyond chance and "
            "beyond refits of the last layer."
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
        "Bars are 95 % intervals. The number of errors n is on each card above."
    )


def _pictures(material: Material, gallery: Gallery) -> Markup:
    blocks = []
    for pair in material.finished:
        accuracy = f"n = {pair.num_test:,} test images. Points and shade: probe and 95 % interval. The axis does not start at zero."
        figures = [_figure(gallery.accuracy[pair.label], accuracy)]
        if pair.label in gallery.recoverability:
            figures.append(_figure(gallery.recoverability[pair.label], _recoverability_caption(pair)))
        note = None if len(figures) == 2 else element("p", recoverability_sentence(pair), class_="muted")
        blocks.append(join([element("h3", pair.label), element("div", *figures, class_="figures"), note]))
    return _section(
        "pictures", *(blocks or [element("p", "Nothing to draw: no pair finished.", class_="muted")])
    )


def _recoverability_caption(pair: Combination) -> str:
    return (
        f"n = {pair.errors:,} test errors of the last layer, 95 % intervals. Left: one layer; the dotted line is one uniform guess among "
        f"{pair.num_classes} classes. Right: at least one of {pair.num_layers - 1} earlier layers, and what as many tries reach otherwise."
    )


def _tables(material: Material) -> Markup:
    if not material.finished:
        return _section("tables", element("p", "No numbers: no pair finished.", class_="muted"))
    details = (
        element("details", element("summary", f"Layer by layer: {pair.label}"), tables.layers(pair))
        for pair in material.finished
    )
    return _section(
        "tables",
        tables.accuracies(material.finished),
        tables.recoverability(material.finished),
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


def _provenance(provenance: Mapping[str, Any]) -> Markup:
    if not provenance:
        return _section("provenance", element("p", "Not recorded.", class_="muted"))
    return _section("provenance", *(_block(key, value) for key, value in provenance.items()))


def _block(key: str, value: Any) -> Markup:
    """Show a mapping as a list of its leaves under a heading of its own; anything else on one line."""
    leaves = flatten(value) if isinstance(value, Mapping) and value else {"": value}
    entries = (
        entry
        for name, leaf in leaves.items()
        for entry in (element("dt", name or key), element("dd", _leaf(leaf)))
    )
    listing = element("dl", *entries)
    if not isinstance(value, Mapping) or not value:
        return listing
    return element(
        "details",
        element("summary", f"{key} ({len(leaves)})"),
        listing,
        open="" if len(leaves) <= 12 else None,
    )


def flatten(tree: Mapping[str, Any], *, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested mappings by dotted path, in their order.

    Args:
        tree: Nested mappings.
        path: Prefix of the paths.
    """
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{path}.{key}" if path else str(key)
        leaves.update(flatten(value, path=name) if isinstance(value, Mapping) and value else {name: value})
    return leaves


def _leaf(value: Any) -> str:
    if value in (None, {}, []):
        return "not recorded" if value == {} else "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _reading() -> Markup:
    terms = (
        ("layer", "The residual stream after a block of the backbone, counted from 1; the last one also goes through the backbone's final norm."),
        ("probe", "A linear classifier (multinomial logistic regression with L2) on one layer's feature; its L2 strength is chosen on the validation split."),
        ("errors", "Test images that the probe of the last layer gets wrong."),
        ("R_l, R_any", "Share of the errors that layer l, or at least one earlier layer, gets right."),
        ("guessing", "What R_any would be if each earlier layer guessed uniformly among the classes."),
        ("permuted", "What R_any is when each earlier layer's predictions are shuffled inside the errors: same layers, same preferences, no knowledge of the image."),
        ("refits", "R_any of as many new probes of the last layer, each fitted to a bootstrap resample: many tries without any depth."),
        ("oracle", "Share of test images that at least one layer gets right: no method that picks a layer per image can do better."),
        ("beyond chance", "The lower end of the 95 % interval of R_any lies above guessing and above the upper ends of permuted and refits."),
        ("95 % interval", "Percentile bootstrap over test images (over the errors for shares of errors)."),
    )  # fmt: skip
    return _section(
        "reading",
        element(
            "dl", *(part for term, words in terms for part in (element("dt", term), element("dd", words)))
        ),
    )
