"""A matplotlib figure as a small SVG that is the same bytes every time and follows the page's light or dark colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib import style
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from vitgeom.report import palette
from vitgeom.report.markup import Markup, element, escape

# A drawing is 5 inches = 360 units wide: one unit is one pixel on a phone, so 12 units of text stay readable there.
UNITS_PER_INCH = 72
FONT_STACK = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "vitgeom",
    # Names of classes and folders may hold dollar signs.
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 12,
    "text.color": palette.INK.light,
    "axes.labelcolor": palette.INK.light,
    "axes.edgecolor": palette.RULE.light,
    "xtick.color": palette.MUTED.light,
    "ytick.color": palette.MUTED.light,
    "grid.color": palette.GRID.light,
    "legend.frameon": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "figure.dpi": UNITS_PER_INCH,
}


@dataclass(frozen=True)
class Drawing:
    """One finished figure.

    Attributes:
        name: Its key in the page and the stem of its file; letters, digits, hyphens.
        title: What it shows, one line.
        description: The same in words and numbers, for readers who do not see it.
        body: What stands between ``<svg>`` and ``</svg>``, with role variables as colours.
        view_box: Its extent in units.
    """

    name: str
    title: str
    description: str
    body: str
    view_box: str

    def inline(self) -> Markup:
        """Return the drawing for an HTML page that defines the role variables."""
        return self._element()

    def standalone(self) -> str:
        """Return the drawing as a file of its own, with its colours inside."""
        namespaces = {"xmlns": "http://www.w3.org/2000/svg"}
        return (
            self._element(palette.stylesheet("svg") + "svg{background:var(--surface)}", **namespaces) + "\n"
        )

    def _element(self, rules: str | None = None, **attributes: str) -> Markup:
        title_id, description_id = f"{self.name}-title", f"{self.name}-desc"
        return element(
            "svg",
            element("title", self.title, id=title_id),
            element("desc", self.description, id=description_id),
            None if rules is None else element("style", Markup(rules)),
            Markup(self.body),
            **attributes,
            viewBox=self.view_box,
            role="img",
            aria_labelledby=f"{title_id} {description_id}",
            style=f"font-family:{FONT_STACK};stroke-linejoin:round",
        )


def draw(
    paint: Callable[[Figure], None],
    *,
    name: str,
    title: str,
    description: str,
    width: float = 5.0,
    height: float = 3.4,
) -> Drawing:
    """Let ``paint`` fill a figure and return it as a drawing.

    Nothing global is left changed: no pyplot, and the settings (not the user's own) hold only inside this call.

    Args:
        paint: Draws on the figure it is given, in the ``light`` colours of the palette.
        name: Key and file stem; every id inside begins with it, so that many drawings share one page.
        title: What it shows, one line.
        description: The same in words and numbers.
        width: Inches; 5 inches are the width of a phone.
        height: Inches.
    """
    stream = io.StringIO()
    with style.context(["default", SETTINGS]):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        figure.savefig(
            stream, format="svg", metadata={"Creator": None, "Date": None, "Format": None, "Type": None}
        )
    body, view_box = _strip(stream.getvalue(), prefix=name)
    return Drawing(name=name, title=title, description=description, body=body, view_box=view_box)


def _strip(svg: str, *, prefix: str) -> tuple[str, str]:
    """Return the inside of an ``<svg>`` and its view box, without anything that only matplotlib needs."""
    found = re.search(r'<svg [^>]*viewBox="([^"]+)"[^>]*>(.*)</svg>', svg, flags=re.DOTALL)
    assert found is not None, "matplotlib writes one svg element with a view box"
    view_box, body = found.groups()
    for noise in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<defs>\s*</defs>"):
        body = re.sub(noise, "", body, flags=re.DOTALL)
    body = re.sub(r' transform="rotate\(-0 [^"]*"|font-family: [^;"]*; ', "", body)
    body = re.sub(r"\s*\n\s*", "\n", body).replace("xlink:href", "href")
    body = re.sub(r"<[^>]*>", lambda tag: palette.with_variables(_round_numbers(tag.group())), body)
    return _scope_ids(body, prefix=prefix).strip(), view_box


def _round_numbers(tag: str) -> str:
    """Keep a hundredth of a unit in the coordinates of one tag; texts between tags are not touched."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip("."), tag)


def _scope_ids(body: str, *, prefix: str) -> str:
    """Drop ids that nothing refers to and put ``prefix`` before the others, so that drawings can share a page."""
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', body))
    names = {name for pair in used for name in pair if name}
    body = re.sub(
        r' id="([^"]+)"',
        lambda m: f' id="{escape(prefix)}-{m.group(1)}"' if m.group(1) in names else "",
        body,
    )
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}-", body)
