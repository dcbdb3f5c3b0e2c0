"""What a self-contained, accessible page must hold; read with the standard library's parser."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "col", "img", "link", "input"}
EMBEDDED = "data:image/png;base64,"
"""Pictures inside drawings carry their own bytes; nothing is loaded for them."""
LOADING = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "background"}


class PageReader(HTMLParser):
    """Collects ids, references and texts, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.labelled_figures = 0
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append(tag)
        addresses = [value or "" for name, value in attrs if name in LOADING]
        self.references += [
            value for value in addresses if not (tag == "image" and value.startswith(EMBEDDED))
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if identity := named.get("id"):
            self.ids.append(identity)
        if tag == "svg" and named.get("role") == "img" and named.get("aria-labelledby"):
            self.labelled_figures += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


def read_page(html: str) -> PageReader:
    """Parse a page and check what must hold for every page of ours."""
    reader = PageReader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids), "ids are unique"
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(reader.tags)
    assert not reader.handlers
    assert all(reference.startswith("#") for reference in reader.references), reader.references
    assert {reference[1:] for reference in reader.references} <= set(reader.ids)
    assert reader.tags.count("svg") == reader.labelled_figures
    assert reader.tags.count("figure") == reader.tags.count("figcaption") == reader.tags.count("svg")
    # The name space of a standalone SVG is the only address that a file of ours may hold, and inline it is not needed.
    for scheme in ("http:", "https:", "//cdn", "@import", "url(h"):
        assert scheme not in html.replace("url(#", ""), scheme
    return reader
