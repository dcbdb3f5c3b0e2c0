from __future__ import annotations

import re

from tests.support.directed_results import TOKENS, directed_pair
from vitgeom.report.map_rows import MapRow, draw_map_rows
from vitgeom.report.pictured_tokens import TokenMap


def test_rows_have_their_words_and_each_is_scaled_by_its_own_largest_patch() -> None:
    pair = directed_pair()
    values = tuple(float(token) for token in range(TOKENS))
    rows = [
        MapRow("exact", (TokenMap("digit-0", values),)),
        MapRow("learnt <head>", (TokenMap("digit-0", tuple(7 * value for value in values)),)),
    ]
    drawing = draw_map_rows(pair, rows, name="x", title="Both")
    assert drawing.title == "Both"
    assert "learnt &lt;head&gt;" in drawing.body
    exact, learnt = (part.split("</g>")[0] for part in drawing.body.split("<g><g")[1:3])
    opacities = [re.findall(r'fill-opacity="([\d.]+)"', part) for part in (exact, learnt)]
    assert opacities[0] == opacities[1] != []
    assert "exact, digit-0: most in row 2 of 2, column 3 of 3" in drawing.description
