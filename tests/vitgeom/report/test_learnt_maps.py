from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from tests.support.learnt_results import learnt_pair
from vitgeom.report.learnt_maps import learnt_maps

SVG = "{http://www.w3.org/2000/svg}"


def test_exact_stands_above_every_model_over_the_same_pictures() -> None:
    pair = learnt_pair(decoders=(("cls", 4),), asked=("importance", "spn"))
    drawing = learnt_maps(pair, pair.decoders[0], name="x")
    root = ElementTree.fromstring(drawing.standalone())
    shown = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    rows = [words for words in shown if words in ("exact", "importance head", "Spectral Pullback Network")]
    assert rows == ["exact", "importance head", "Spectral Pullback Network"]
    assert drawing.body.count("data:image/png;base64,") == 2
    assert drawing.body.count('<use href="#x-picture-0"') == 1 + len(rows)
    assert sum(words.startswith("CLS: ") for words in shown) == 2 * len(rows)
    assert not re.findall(r"#[0-9a-f]{6}\b", drawing.body)
    assert "importance head, digit-1: most in row" in drawing.description
