"""Rich text reads as people see it."""

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from reqall_reqif.reading.xhtml import file_name, one_line, plain_text, xhtml_text


def text_of(markup):
    return xhtml_text(etree.fromstring(f"<v>{markup}</v>"))[0]


def files_of(markup):
    return xhtml_text(etree.fromstring(f"<v>{markup}</v>"))[1]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain", "plain"),
        ("<div>one</div><div>two</div>", "one\ntwo"),
        ("<p>one</p>\n   <p>two\n three</p>", "one\ntwo three"),
        ("a<b>b</b> <i>c</i>", "ab c"),
        ("one<br/>two<br/><br/>three", "one\ntwo\n\nthree"),
        ("<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li></ul>", "- a\n- b\n  1. c\n  2. d"),
        ("<ul><li><p>a</p><p>more</p></li></ul>", "- a\n  more"),
        ("<table><tr><th>a</th><td>b<br/>c</td><td/></tr><tr><td/><td>d</td></tr></table>", "a | b c\n| d"),
        ("<table><tr><td><table><tr><td>x</td><td>y</td></tr></table></td><td>z</td></tr></table>", "x | y | z"),
        ("<table><tr>stray<td>a</td>text<b>bold</b></tr></table>", "stray | a | text | bold"),
        ("10<sup>-3</sup> m<sup>2</sup>, CO<sub>2</sub>", "10^-3 m^2, CO2"),
        ("<a href='https://example.com/a'>here</a>", "here (https://example.com/a)"),
        ("<a href='https://example.com/a'>https://example.com/a</a>", "https://example.com/a"),
        ("<a href='#anchor'>here</a>", "here"),
        ("<object data='a/b.png' type='image/png'/>", "[b.png]"),
        ("<object data='a/b%20c.png'>What it shows</object>", "[b c.png: What it shows]"),
        ("<object data='b.ole'><object data='b.png'>b.ole</object></object>", "[b.ole]"),
        ("<object data='data:image/png;base64,AAAA'>curve</object>", "[curve]"),
        ("<object data='data:image/png;base64,AAAA'/>", ""),
        ("<img src='x\\y.gif' alt='a plan'/>", "[y.gif: a plan]"),
        ("see<object data='b.png'/>there", "see [b.png] there"),
        ("<style>p {}</style><script>x()</script>ok", "ok"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("non\u00a0breaking\u200b \u00adsoft", "non breaking soft"),
        ("&lt;b&gt; &amp;amp;", "<b> &amp;"),
        ("", ""),
    ],
)
def test_markup_reads_as_text(markup, text):
    assert text_of(markup) == text


@pytest.mark.parametrize("tag", ["a", "sup", "object", "td", "li", "tr", "span", "pre"])
def test_elements_within_each_other_cost_no_more_than_they_are(tag):
    """Twice the work at each level would not end."""
    markup = f"<{tag} href='https://example.com/'>" * 120 + "x" + f"</{tag}>" * 120
    assert "x" in text_of(markup)


def test_files_come_once_each_in_order():
    markup = "<object data='b.ole'><object data='b.png'/></object><table><tr><td><img src='a.png'/></td></tr></table>"
    assert files_of(f"{markup}<object data='b.png'/>") == ("b.ole", "b.png", "a.png")


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("files/a.png", "a.png"),
        ("a%00b%0Ac.png", "ab c.png"),
        ("http://[broken", ""),
        ("file:///C:/x/y.docx", "y.docx"),
        ("DATA:x", ""),
        ("", ""),
    ],
)
def test_names_of_files(reference, name):
    assert file_name(reference) == name


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
PARAGRAPHS = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), max_size=6)


@given(PARAGRAPHS, st.sampled_from(["p", "div", "h1", "blockquote"]))
def test_paragraphs_are_lines(paragraphs, tag):
    root = etree.Element("v")
    for words in paragraphs:
        etree.SubElement(root, tag).text = words
    assert xhtml_text(root)[0] == plain_text("\n".join(paragraphs))


TAGS = st.sampled_from(
    [
        "a",
        "b",
        "br",
        "div",
        "h1",
        "img",
        "li",
        "object",
        "ol",
        "p",
        "pre",
        "sub",
        "sup",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
TREES = st.recursive(TAGS.map(lambda tag: (tag, [])), lambda inner: st.tuples(TAGS, st.lists(inner, max_size=4)))


def grown(parent, tree, words):
    """Add a tree of elements, with a word of its own in each place that can hold text."""
    element = etree.SubElement(parent, tree[0])
    element.tail = next(words)
    if tree[0] not in ("br", "img"):
        element.text = next(words)
        for each in tree[1]:
            grown(element, each, words)


@given(TREES)
def test_no_word_is_lost_or_said_twice(tree):
    root, numbers = etree.Element("v"), itertools.count()
    grown(root, tree, (f" w{number}w " for number in numbers))
    text = xhtml_text(root)[0]
    assert Counter(re.findall(r"w\d+w", text)) == Counter(f"w{number}w" for number in range(next(numbers)))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_plain_text_is_clean_and_cleaning_again_changes_nothing(text):
    cleaned = plain_text(text)
    assert plain_text(cleaned) == cleaned
    assert not [c for c in cleaned if c < " " and c not in "\n\t"]
    assert "\n" not in one_line(text)
