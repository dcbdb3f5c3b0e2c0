from __future__ import annotations

import pytest

from vitgeom.report.markup import Markup, element, escape, join, table


def test_plain_text_becomes_text_and_never_tags() -> None:
    assert element("p", "<script>x</script> & more") == "<p>&lt;script&gt;x&lt;/script&gt; &amp; more</p>"


def test_markup_is_not_escaped_twice() -> None:
    inner = element("b", "a & b")
    assert element("p", inner) == "<p><b>a &amp; b</b></p>"
    assert escape(escape('"')) == "&quot;"


def test_attributes_are_escaped_and_named() -> None:
    assert element("a", href='"><script>', aria_label="x", class_="y", id=None) == (
        '<a href="&quot;&gt;&lt;script&gt;" aria-label="x" class="y"></a>'
    )


def test_void_elements_have_no_end() -> None:
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_nothing_stands_for_none() -> None:
    assert join(["a", None, 3], separator=", ") == "a, 3"
    assert isinstance(join([]), Markup)


def test_table_escapes_its_cells_and_heads_its_rows() -> None:
    text = table(("name", "n"), [("<b>", 3)], caption="c & d")
    assert '<th scope="row">&lt;b&gt;</th><td>3</td>' in text
    assert "<caption>c &amp; d</caption>" in text
    assert 'class="words"' not in text
    assert 'class="words"' in table(("name",), [], caption="c", words=True)


def test_a_row_with_a_cell_too_many_is_our_own_slip() -> None:
    with pytest.raises(AssertionError, match="one cell per column"):
        table(("a",), [("x", "y")], caption="c")
