import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reqall.plugins.sources.jama.text.html import html_text, plain_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("", ""),
        ("<p>One.</p>\n\n<p>Two.</p>", "One.\nTwo."),
        ("<p>a</p>\n<p>&nbsp;</p>\n<p>b</p>", "a\nb"),
        ("a<br/>b", "a\nb"),
        ("a<br><br><br><br>b", "a\n\nb"),
        ("<div>a</div><h2>b</h2>c", "a\nb\nc"),
        ("<b>bo</b><i>ld</i> <span style='x'>and</span>", "bold and"),
        ("a&nbsp;&nbsp; b", "a b"),
        ("<p>long\nsource\tline</p>", "long source line"),
        ("<pre>a\n  b</pre>c", "a\n  b\nc"),
        ("Flow < 0.1 ml/h & rate > 999", "Flow < 0.1 ml/h & rate > 999"),
        ("<p>Flow < 0.1 ml/h & rate > 999</p>", "Flow < 0.1 ml/h & rate > 999"),
        ("<p>Flow &lt; 0.1 ml/h &amp; rate &gt; 999</p>", "Flow < 0.1 ml/h & rate > 999"),
        ("Flow &lt; 0.1 ml/h &amp; rate", "Flow < 0.1 ml/h & rate"),
        ("<p>x<limit, <TBD> and &lt;TBC&gt;</p>", "x<limit, <TBD> and <TBC>"),
        ("see https://h/a?x=1&timestamp=2 <b>R&D</b>", "see https://h/a?x=1&timestamp=2 R&D"),
        ('<a href="https://h/?a=1&amp;b=2">PRJ-1</a>', "PRJ-1 (https://h/?a=1&b=2)"),
        ("<p>if a <b and c = 3, then x <p q=1 stop", "if a <b and c = 3, then x <p q=1 stop"),
        ("a <span style=\"x'>b</span> <td width='9>c", "a b\nc"),
        ("<a title='a > b'>link</a>", "link"),
        ("<img src='a.png' alt='wiring  plan'>", "[image: wiring plan]"),
        ("<img src='data:image/png;base64,AAAA'>x", "x"),
        ("<img src='data:image/png;base64,AAAA' alt='data:image/png'>x", "x"),
        ("<p>abc <img src='data:image/png;base64,AAAA", "abc"),
        ("a<script>b</script><style>c{}</style><!-- d -->e", "ae"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("a<!--[if gte mso 9]><p>office</p><![endif]-->b<o:p></o:p>", "ab"),
        ("a\u200bb\ufeffc\u202ed", "abcd"),
        ("a \uf0e0 b\uf0b7c", "a b c"),
        ("&#xf0e0;x&#8203;y", "xy"),
        ("<ul><li>&#xf0e0;x&#8203;y</li></ul>", "- xy"),
        ("<b>one</b>\ntwo<br>three\nfour", "one two\nthree four"),
        ("10<sup>-3</sup> m<sup>2</sup>, 1<sup>st</sup>, H<sub>2</sub>O", "10^-3 m^2, 1st, H2O"),
        ("https://example.com/a.txt", "https://example.com/a.txt"),
        ("<?xml version='1.0'?><p>q</p>", "q"),
        ("<p>broken<ul><li>x</p></b>", "broken\n- x"),
        ("音量は<b>同期</b>する<br>Громкость", "音量は同期する\nГромкость"),  # noqa: RUF001
    ],
)
def test_what_a_reader_sees(markup, text):
    assert html_text(markup) == text


def test_lists_are_nested_by_indentation():
    markup = (
        "<ul><li>a<ul><li>b<br>c</li></ul>tail</li><li><p>d</p></li></ul>"
        "<ol start='9'><li>x<ul><li>y</li></ul></li><li>z</li></ol>"
    )
    assert html_text(markup) == "- a\n  - b\n    c\n  tail\n- d\n1. x\n  - y\n2. z"


def test_a_table_has_one_line_per_row():
    markup = """<table><caption>Limits</caption>
    <thead><tr><th>Mode</th><th colspan="2">Range</th><th>Unit</th></tr></thead>
    <tbody><tr><td rowspan="2">Low</td><td>1</td><td><p>2</p><p>3</p></td><td>ml</td></tr>
    <tr><td>4</td><td><ul><li>p</li><li>q</li></ul></td><td></td></tr>
    <tr><td></td></tr></tbody></table>after"""
    assert html_text(markup) == "Limits\nMode | Range | | Unit\nLow | 1 | 2 3 | ml\nLow | 4 | p; q\nafter"


def test_a_table_in_a_cell_stays_in_its_row():
    inner = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"
    assert html_text(f"<table><tr><td>x:{inner}</td><td>y</td></tr></table>") == "x: a | b; c | y"


def test_plain_text_keeps_its_lines():
    assert plain_text(" a  <b>\r\n  b\n\td\n\n\n\nc\u200b ") == "a <b>\n  b\n    d\n\nc"


CASES = sorted((Path(__file__).parent / "html_cases").glob("*.html"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_library_of_cases(case):
    text = html_text(case.read_text(encoding="utf-8"))
    assert text + "\n" == case.with_suffix(".txt").read_text(encoding="utf-8")
    assert html_text(text) == text


def test_the_library_is_there():
    assert len(CASES) >= 25


PIECES = [
    *(
        "<p>",
        "</p>",
        "<b",
        "<b>",
        "</b>",
        "<a href='x'>",
        '<a href="https://h/?a=1&amp;lt;">',
        "</a>",
        "<img alt='<b>'>",
    ),
    *("<img src='d/x", "<ul>", "<ol>", "<li>", "</li>", "</ul>", "<table>", "<tr>", "<td>", "</td>", "<td rowspan=2>"),
    *(
        "<pre>",
        "</pre>",
        "<!--",
        "-->",
        "<!",
        "<?",
        "br>",
        "<br>",
        "sup>",
        "<sup>",
        "</sup>",
        "10",
        "-3",
        "o:p>",
        "<o:p",
    ),
    *("&lt;", "&gt;", "&amp;", "&amp;lt;", "&nbsp;", "&#60;", "&#x3c;", "&#38;", "lt;", "amp;", "&copy", "&copy;"),
    *("data:image/png;base64,", "AAAA", "<script>", "</script>", "<style", "href=", "1. ", " | ", "^", "  - ", "</"),
    *("<", ">", "&", "'", '"', "#", "=", "a", " ", "\n", "\t", "\u00a0", "\ue000", "\u200b", "\u2028", "\ud800"),
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=25).map("".join))
@settings(max_examples=400, deadline=None)
@example("&lt;b&gt;")
@example("&amp;amp;lt;b")
@example("&lt;b &lt;b&gt;>")
@example("&lt;!-- --&gt;")
@example("<pre> a\n\t\tb\n\n\n c</pre>")
@example("<ol>" + "<li>x<ol>" * 30)
@example("data:a/b;base64,data:a/b;base64,AA")
def test_cleaning_twice_changes_nothing(markup):
    once = html_text(markup)
    assert html_text(once) == once
    assert plain_text(once) == once


def test_a_long_description_takes_time_in_proportion():
    table = "<table>" + "<tr><td><p>cell <b>x</b></p></td><td>&nbsp;</td></tr>" * 40 + "</table>"
    piece = f"<p><span style='a'>some text</span> <a href='https://h/x?y=1'>link</a></p><ul><li>i</ul>{table}"
    small, large = (piece * (size // len(piece)) for size in (50_000, 200_000))
    fastest = [min(seconds(markup) for _ in range(3)) for markup in (small, large)]
    assert fastest[1] < 8 * fastest[0]


TAGS = ["p", "div", "span", "b", "ul", "ol", "li", "table", "tr", "td", "th", "h1", "a", "sup", "pre", "blockquote"]
WORDS = st.text(alphabet=st.characters(whitelist_categories=["L", "N"]), min_size=1, max_size=8)


@st.composite
def trees(draw, depth=4):
    if depth == 0 or draw(st.booleans()):
        return draw(WORDS)
    tag = draw(st.sampled_from(TAGS))
    children = draw(st.lists(trees(depth=depth - 1), max_size=4))
    attributes = draw(st.sampled_from(["", ' class="x"', " title='a > b'", ' rowspan="3"', ' colspan="2"']))
    return f"<{tag}{attributes}>{' '.join(children)}</{tag}>"


@given(trees())
def test_markup_goes_and_words_stay(markup):
    text = html_text(markup)
    assert not re.search(rf"</?({'|'.join(TAGS)})\b", text)
    words = re.sub(r"<[a-z0-9]+( class=\"x\"| title='a > b'| [a-z]+=\"\d\")?>|</[a-z0-9]+>", " ", markup).split()
    for word in words:
        assert word in text


NASTY = st.text(
    alphabet=st.one_of(st.sampled_from("<>&/\"'=!-;#x pbrtdliu\n"), st.characters(blacklist_categories=[])),
    max_size=300,
)


@given(NASTY)
@example("\ud800<p>\x00</p>")
@example("<meta charset='utf-16'><p>x</p>")
@example("<")
@example("</p>")
@example("<p")
@example("&#0;<p>&#xd800;&#99999999;")
def test_any_string_is_survived_and_comes_out_tidy(text):
    for clean in (html_text(text), plain_text(text)):
        assert "\n\n\n" not in clean
        assert "\u00a0" not in clean
        assert not re.search("[\u200b-\u200f\u202a-\u202e\ue000-\uf8ff\ud800-\udfff\x00]", clean)
        assert clean.encode() is not None


PLAIN = st.text(alphabet=st.characters(whitelist_categories=["L", "N", "P", "S", "Zs"], blacklist_characters="&<"))


@given(st.lists(PLAIN.map(lambda text: " ".join(plain_text(text).split())).filter(bool), min_size=1))
def test_plain_text_passes_unharmed(lines):
    text = "\n".join(lines)
    assert html_text(text) == text
    assert html_text(html_text(text)) == text


@pytest.mark.parametrize("opening", ["<div>", "<ul><li>", "<table><tr><td>", "<span>", "<blockquote>", "<p>"])
def test_five_thousand_levels_do_not_overflow(opening):
    assert "deep" in html_text(f"{opening * 5_000}deep")


@pytest.mark.parametrize(
    "piece",
    [
        "<p style='margin:0'>some <b>bold</b> text of a line</p>\n",
        "<tr><td style='border:solid 1px; width:100pt'><p>a cell</p></td><td style='width:80pt'>b</td></tr>",
        "<ul><li><span style='font-size:11.0pt; font-family:Calibri'>an item in a list</span></li></ul>",
        "<br>",
        "plain words & more < less ",
    ],
)
def test_a_megabyte_takes_less_than_two_seconds(piece):
    markup = piece * (1_000_000 // len(piece))
    assert any(seconds(markup) < 2.0 for _ in range(3))  # the best of three: other work may run beside


def seconds(markup):
    began = time.process_time()
    html_text(markup)
    return time.process_time() - began


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<p ",
        "<b x='",
        '<b x="',
        "<!--",
        "<!",
        "&",
        "<b a=",
        "</",
        "<a:",
        "<sup>1",
        " ",
        "<a x='<a y=\"",
        "<p a=",
        "&lt;b ",
        "&amp;lt;",
        "<a href='x'>",
        "data:a/b;base64,",
    ],
)
def test_no_input_takes_time_that_grows_faster_than_its_length(piece):
    assert seconds(piece * (200_000 // len(piece))) < 5.0  # anything quadratic takes minutes


def test_repeated_cells_do_not_blow_up_the_text():
    first = "<tr>" + f"<td rowspan=1000>{'x' * 150}</td>" * 60 + "</tr>"
    markup = f"<table>{first}{'<tr><td>a</td></tr>' * 1_000}</table>"
    assert len(html_text(markup)) < 200_000  # against nine million


@given(WORDS)
@settings(max_examples=30)
def test_a_long_cell_is_not_repeated_and_a_short_one_is(word):
    def table(cell):
        return f"<table><tr><td rowspan=2>{cell}</td><td>1</td></tr><tr><td>2</td></tr></table>"

    assert html_text(table(word)) == f"{word} | 1\n{word} | 2"
    long = "y" * 201
    assert html_text(table(long)) == f"{long} | 1\n| 2"
