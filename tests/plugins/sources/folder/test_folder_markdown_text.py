"""Markdown as plain text: what a reader of the page sees, and no more time than its length asks for."""

import pytest

from reqall.plugins.sources.folder.markdown_text import MAX_INLINE, plain_markdown

MANY = 30_000


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("One\ntwo\n\nthree", "One two\n\nthree"),
        ("**bold** _it_ `code <b>` ~~gone~~ [text](http://x) ![alt *t*](y.png)", "bold it code <b> gone text alt t"),
        ("line  \nbreak &amp; \\* <br> <i>x</i><!-- hidden -->", "line\nbreak & *  x"),
        ("<message id> of List<String>", "<message id> of List<String>"),
        ("- a\n- b\n  c\n\n  d\n  1. e\n  2. f", "- a\n- b c\n  d\n  1. e\n  2. f"),
        ("> quote\n>\n> more", "quote\n\nmore"),
        ("```c\nint a;\n```\n\n    code", "c\nint a;\n\ncode"),
        ("| a | b |\n|---|:-:|\n| 1 | *2* |\n| `x\\|y` | | extra |", "a | b\n1 | 2\nx|y |  | extra"),
        ("<div>\n<p>Text</p>\n</div>", "Text"),
        ("[ref]: http://x\n\nsee [ref]", "[ref]: http://x\n\nsee [ref]"),
        ("Title\n===\n\n***\n\nend", "Title\n\nend"),
        ("", ""),
    ],
)
def test_markdown_as_plain_text(markdown, plain):
    assert plain_markdown(markdown) == plain


def test_what_is_nested_too_deep_is_kept_as_it_is():
    deep = ">" * 200 + " far below"
    assert plain_markdown(f"above\n\n{deep}") == f"above\n\n{deep}"


def test_a_long_paragraph_is_kept_as_it_is_and_a_long_table_is_not():
    paragraph = "*word* " * (MAX_INLINE // 5)
    assert plain_markdown(paragraph) == paragraph.strip()
    assert plain_markdown("| a | b |\n|---|---|\n" + "| *x* | y |\n" * 2000) == "a | b" + "\nx | y" * 2000


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[" * MANY,
            "[a](" * MANY,
            "*a_" * MANY,
            "<!--" * MANY,
            "<a " * MANY,
            "&" * MANY,
            "`" * MANY,
            "# " + "{" * MANY,
        ),
        *("> " * MANY, "# a" + " " * MANY + "b", "| a |\n|" + "-" * MANY + "x|", "<div>\n" * MANY, "[LINK: " * MANY),
    ],
    ids=lambda text: text[:4],
)
def test_brackets_without_end_take_no_time_without_end(text):
    """Where the time grows with the square of the length, the time limit of the tests is passed."""
    assert plain_markdown(text * 10) is not None
