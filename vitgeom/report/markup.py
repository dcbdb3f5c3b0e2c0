"""HTML that cannot be built unescaped: every plain string becomes text, only ``Markup`` passes as tags."""

from __future__ import annotations

import html
from collections.abc import Iterable

VOID_TAGS = frozenset({"meta", "br", "hr", "col"})


class Markup(str):
    """A piece of finished HTML: its text is markup already and is not escaped again."""

    __slots__ = ()


Child = str | int | None


def escape(text: str) -> Markup:
    """Return ``text`` as markup that shows exactly these characters, in an element or in an attribute.

    Args:
        text: Any text, for example a class name that holds ``<``.
    """
    return text if isinstance(text, Markup) else Markup(html.escape(text, quote=True))


def join(children: Iterable[Child], *, separator: str = "") -> Markup:
    """Return the children one after another; ``None`` is left out.

    Args:
        children: Texts (escaped), numbers or markup.
        separator: Text between two children.
    """
    shown = (child for child in children if child is not None)
    return Markup(
        escape(separator).join(escape(child if isinstance(child, str) else str(child)) for child in shown)
    )


def element(tag: str, *children: Child, **attributes: str | int | None) -> Markup:
    """Return one element.

    Args:
        tag: Its name, written by us.
        *children: Texts (escaped), numbers or markup; ``None`` is left out.
        **attributes: Attributes; ``None`` is left out, a trailing underscore is dropped (``class_``) and inner
            ones become hyphens (``aria_label``).
    """
    named = (
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    start = f"<{tag}{''.join(named)}>"
    return Markup(start if tag in VOID_TAGS else f"{start}{join(children)}</{tag}>")


def table(
    header: Iterable[Child], rows: Iterable[Iterable[Child]], *, caption: str, words: bool = False
) -> Markup:
    """Return a table that scrolls sideways by itself on a narrow screen.

    The first cell of a row names it, so it is a row header.

    Args:
        header: Column titles.
        rows: Cells by row.
        caption: What the table holds, with units and n.
        words: The cells are texts: left-aligned and wrapped, where numbers stand right on one line.
    """
    titles, lines = list(header), [list(row) for row in rows]
    assert all(len(line) == len(titles) for line in lines), "every row has one cell per column"
    head = element("tr", *(element("th", title, scope="col") for title in titles))
    body = (
        element("tr", element("th", line[0], scope="row"), *(element("td", cell) for cell in line[1:]))
        for line in lines
    )
    grid = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        class_="words" if words else None,
    )
    return element("div", grid, class_="scroll", tabindex=0, role="region", aria_label=caption)
