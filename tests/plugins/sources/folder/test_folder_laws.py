"""What holds of any text: reading never crashes, no word is lost, and a tree read twice is the same."""

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reqall import Services, SourceError
from reqall.plugins.sources.folder.attributes import LinkRoles
from reqall.plugins.sources.folder.entry import Addresses, StoredFile
from reqall.plugins.sources.folder.markdown import MarkdownReader
from reqall.plugins.sources.folder.needs_json import NeedsJsonReader
from reqall.plugins.sources.folder.options import DOWNSTREAM, UPSTREAM, FolderOptions
from reqall.plugins.sources.folder.sdoc import SdocReader
from reqall.plugins.sources.folder.source import FolderSource

ROLES = LinkRoles.of(UPSTREAM, DOWNSTREAM)
MARKDOWN = MarkdownReader(FolderOptions(path=".").heading_ids, ROLES)
WORD = re.compile(r"w\d+")

PLACE = re.compile(r"a\.md:\d+: ")

# What drops words by design is not drawn: addresses behind links, attributes of tags, comments.
BLOCKS = ("# ", "## REQ-1 ", "### ", " {#REQ-2}", "- ", "1. ", "> ", "```", "~~~", "---", "===", "- - - ", "    ", "\t")
INLINE = (
    "*",
    "**",
    "_",
    "`",
    "[",
    "]",
    "[[",
    "![",
    "](",
    "&",
    "&amp;",
    "<b>",
    "</b>",
    "<",
    ">",
    "=",
    ":",
    "~~",
    "$",
    "#",
)
LABELS = ("**UID**: ", "**Status**: ", "**Relations**:\n", "**Note**: ", "\n---\n", "---\n", "...\n", "]: ", '"', "\\")
OTHERS = ("\n", "\n\n", "  \n", "|", "| a | b |\n|---|---|\n", "\u2028", "\x0c", "\x00", "\ufeff", " ")
syntax = st.sampled_from([*BLOCKS, *INLINE, *LABELS, *OTHERS])
words = st.integers(0, 99).map("w{}".format)
bodies = st.lists(st.one_of(syntax, words, words), max_size=40).map("".join).filter(lambda text: "](w" not in text)
values = st.recursive(
    st.one_of(words, st.lists(words, max_size=3).map("\n".join), st.integers(), st.booleans(), st.none(), st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)
NOUNS = ("id", "key", "title", "Name", "type", "status", "created", "date", "modified", "parents", "links", "relations")
keys = st.sampled_from([*NOUNS, "description", "Description", "text", "verified_by", "tags", "file", "owner"])


def stored(text, path="a.md"):
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return StoredFile(path, content, datetime(2024, 1, 1, tzinfo=UTC))


def held(entries):
    """All that can be found of the entries."""
    return str([(e.uid, e.name, e.status, e.type_name, dict(e.sections), dict(e.fields)) for e in entries])


def read_or_refused(reader, text):
    """Entries, or None where the text is refused with its place."""
    try:
        return reader.read(stored(text), ()).entries
    except SourceError as error:
        if PLACE.match(error.message):
            return None
        raise


@given(bodies)
@example("# w1\n\n**UID**: w2\n**UID**: w3\n")
@example("## REQ-1 w1\n\n**Status**: w2\n\n**Status**: w3\n")
@example("| w1 | w2 |\n|---|---|\n| w3 | w4 | w5 |")
@example("```w1 w2\nw3")
@example("[w1]: w2 'w3'")
def test_no_word_of_a_body_is_lost(text):
    entries = MARKDOWN.read(stored(text), ()).entries
    assert set(WORD.findall(text)) <= set(WORD.findall(held(entries)))
    assert len({entry.address for entry in entries}) == len(entries)


@given(st.dictionaries(keys, values, max_size=6), words)
def test_no_word_of_the_front_matter_is_lost(front, word):
    text = f"---\n{yaml.safe_dump(front)}---\n{word}\n"
    entries = MARKDOWN.read(stored(text), ()).entries
    dates = {"created", "date", "modified"}  # what they hold may be read as a time
    wanted = WORD.findall(str({key: value for key, value in front.items() if key not in dates}))
    assert {word, *wanted} <= set(WORD.findall(held(entries)))


@given(st.one_of(bodies, st.text()), bodies)
def test_any_front_matter_is_read_or_refused_with_its_place(front, body):
    entries = read_or_refused(MARKDOWN, f"---\n{front}\n---\n{body}")
    assert entries is None or set(WORD.findall(body)) <= set(WORD.findall(held(entries)))


starts = st.sampled_from([b"", b"[DOCUMENT]\n", b"[DOCUMENT]\nTITLE: x\n\n[R]\n", b"{", b"---\n"])


@given(starts, st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_read_or_refused_with_their_place(start, rest):
    for reader in (MARKDOWN, SdocReader(), NeedsJsonReader(ROLES)):
        entries = read_or_refused(reader, start + rest)
        assert entries is None or entries[0].address == "a.md"


@given(st.lists(st.sampled_from(["a", "a-2", "a-2-2", "b", "a-3"]), max_size=30))
def test_addresses_are_handed_out_once(wanted):
    addresses = Addresses()
    found = [addresses.claim(address) for address in wanted]
    assert len(set(found)) == len(found)
    assert all(got.startswith(address) for got, address in zip(found, wanted, strict=True))


FILES = ("a.md", "b/a.md", "b/c.md", "b/x.sdoc", "x.sdoc", "needs.json", "d/.doorstop.yml", "d/R-1.yml")
contents = st.one_of(
    bodies,
    st.sampled_from(
        [
            "---\nid: R-1\nparents: R-2\n---\n",
            "# R-2 x\n",
            "[DOCUMENT]\nTITLE: x\nUID: R-1\n\n[R]\nUID: R-2\nRELATIONS:\n- TYPE: Parent\n  VALUE: R-1\n",
            "[DOCUMENT]\nTITLE: x\n\n[DOCUMENT_FROM_FILE]\nFILE: x.sdoc\n",
            "settings:\n  prefix: R\n",
            "text: x\nlinks: [R-2: x]\n",
            '{"current_version": "", "versions": {"": {"needs": {"R-2": {"links": ["R-1"], "parent_need": "R-2"}}}}}',
        ]
    ),
)


@given(st.dictionaries(st.sampled_from(FILES), contents, max_size=6))
def test_a_tree_is_the_same_whenever_and_in_whatever_order_it_was_written(files):
    def read(items):
        with tempfile.TemporaryDirectory() as place:
            for path, text in items:
                file = Path(place, path)
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
            options = FolderOptions(path=place, name="x")
            first, again = (FolderSource(options, Services(name="docs")).corpus() for _ in range(2))
        assert (first.watermark, first.documents, first.links) == (again.watermark, again.documents, again.links)
        documents = [(d.id, d.parent_id, d.key, d.name, d.sections, d.fields) for d in first.documents]
        return documents, set(first.links), [problem.message for problem in first.problems]

    assert read(files.items()) == read(reversed(files.items()))
