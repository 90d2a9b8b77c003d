"""The reader of Doorstop's documents against Doorstop itself, on generated trees.

Doorstop is under the LGPL and no dependency of reqall, not even of its tests: `pip install doorstop`
in the environment of the tests makes these run.
"""

import tempfile
import warnings
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall import Services
from reqall.plugins.sources.folder.options import FolderOptions
from reqall.plugins.sources.folder.source import FolderSource

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from doorstop.core.builder import build
except ImportError:
    pytest.skip("doorstop is not installed: there is nothing to compare with", allow_module_level=True)

words = st.text(st.characters(categories=["Lu", "Ll", "Nd"]), min_size=1, max_size=12)
lines = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3).map("\n".join)
levels = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
stamps = st.sampled_from([None, "right", "b7Y5UGYBmYHoPh0UlDlSvTFkX1VMMsGGyPVHDVWlVA8="])


@st.composite
def items(draw, uids):
    found = {
        "active": draw(st.booleans()),
        "derived": draw(st.booleans()),
        "normative": draw(st.booleans()),
        "level": draw(levels) + draw(st.sampled_from(["", ".0"])),
        "header": draw(st.one_of(st.just(""), words)),
        "text": draw(st.one_of(st.just(""), lines)) + draw(st.sampled_from(["", "\n", "  \n\n"])),
        "ref": draw(st.sampled_from(["", "src/brake.c"])),
        "reviewed": None,
    }
    targets = draw(st.lists(st.sampled_from(uids), unique=True, max_size=3))
    return {**found, "links": [{uid: draw(stamps)} for uid in targets]}


@st.composite
def trees(draw):
    requirements = [f"REQ-{number:03}" for number in range(draw(st.integers(1, 4)))]
    tests = [f"TST-{number:03}" for number in range(draw(st.integers(0, 4)))]
    return draw(st.booleans()), {uid: draw(items([*requirements, "REQ-999"])) for uid in [*requirements, *tests]}


def write(root, markdown, held):
    for prefix, parent in (("REQ", ""), ("TST", "REQ")):
        folder = root / prefix.lower()
        folder.mkdir()
        document = {"digits": 3, "prefix": prefix, "sep": "-"} | ({"parent": parent} if parent else {})
        document |= {"itemformat": "markdown"} if markdown else {}
        (folder / ".doorstop.yml").write_text(yaml.safe_dump({"settings": document}), encoding="utf-8")
    for uid, item in held.items():
        place = root / uid[:3].lower() / uid
        if markdown:
            front = {name: value for name, value in item.items() if name not in ("text", "header")}
            header = f"# {item['header']}\n\n" if item["header"] else ""
            text = f"---\n{yaml.safe_dump(front)}---\n\n{header}{item['text']}"
            place.with_suffix(".md").write_text(text, encoding="utf-8")
        else:
            place.with_suffix(".yml").write_text(yaml.safe_dump(item, allow_unicode=True), encoding="utf-8")


@settings(max_examples=60)
@given(trees())
def test_both_find_the_same_items_and_suspect_links(drawn):
    markdown, held = drawn
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = Path(place).resolve()
        write(root, markdown, {uid: {**item, "links": []} for uid, item in held.items()})
        right = {str(item.uid): str(item.stamp()) for document in build(place, place).documents for item in document}
        for item in held.values():
            for link in item["links"]:
                link.update({uid: right.get(uid) for uid, stamp in link.items() if stamp == "right"})
        for folder in ("req", "tst"):
            for file in (root / folder).iterdir():
                file.unlink()
            (root / folder).rmdir()
        write(root, markdown, held)
        tree = build(place, place)
        theirs = {str(item.uid): item for document in tree.documents for item in document}
        source = FolderSource(FolderOptions(path=root), Services(name="docs"))
        corpus = source.corpus()
        ours = {document.key: document for document in corpus.documents if document.key in held}
        assert set(ours) == set(theirs)
        for uid, item in theirs.items():
            document = ours[uid]
            assert corpus.entries[document.id].stamp == str(item.stamp())
            assert (document.status == "active") == item.active
            assert (document.type_name == "Heading") == item.heading
            found = " ".join([document.name, *document.sections.values()]).split()
            assert found == f"{item.header} {item.text}".split()
        suspect = {(link.from_id[5:], link.to_id[5:]) for link in corpus.links if link.suspect}
        linked = {(link.from_id[5:], link.to_id[5:]) for link in corpus.links}
        expected = {(str(up), uid) for uid, item in theirs.items() for up in item.links if str(up) in theirs}
        expected = {(up, uid) for up, uid in expected if up != uid}
        assert linked == expected
        assert suspect == {
            (str(up), uid)
            for uid, item in theirs.items()
            for up in item.links
            if (str(up), uid) in expected and up.stamp != theirs[str(up)].stamp()
        }
