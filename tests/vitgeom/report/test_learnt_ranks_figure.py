from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree

from tests.support.learnt_results import learnt_pair
from vitgeom.report.drawing import Drawing
from vitgeom.report.learnt_ranks_figure import captured_by_rank

SVG = "{http://www.w3.org/2000/svg}"
ONE = learnt_pair(decoders=(("scenes_depth", 8),)).decoders[0]


def texts(drawing: Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.standalone())
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_widths_ceiling_best_and_parameters_are_drawn_and_told() -> None:
    drawing = captured_by_rank(ONE, where="digits × nano", name="x")
    assert {"width 128", "width 256", "kappa_cap(r): the most", "best width", "parameters", "1 M"} <= set(
        texts(drawing)
    )
    assert "n = 80 validation images" in drawing.description
    assert (
        "rank 16, width 256: 49.9 % of at most 63.0 %, 6,534,000 parameters, completed" in drawing.description
    )
    assert "rank 16, width 128" not in drawing.description, "it has no result"
    assert drawing == captured_by_rank(ONE, where="digits × nano", name="x")


def test_one_trial_without_ceiling_weights_or_best_can_be_drawn() -> None:
    assert ONE.ranks is not None
    trial = dataclasses.replace(ONE.ranks.trials[0], ceiling=None, parameters=None)
    sweep = dataclasses.replace(ONE.ranks, trials=(trial,), best=())
    drawing = captured_by_rank(dataclasses.replace(ONE, ranks=sweep), where="d", name="x")
    assert "of at most undefined, unknown parameters" in drawing.description
    assert not {"best width", "kappa_cap(r): the most"} & set(texts(drawing))
