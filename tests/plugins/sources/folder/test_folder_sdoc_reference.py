"""The reader of SDoc against StrictDoc's own parser, on generated documents.

StrictDoc is large (460 MB with what it needs), so it is not among the packages of the tests:
`pip install strictdoc` in the environment of the tests makes these run.
"""

import warnings
from dataclasses import dataclass, field

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reqall.plugins.sources.folder.sdoc_syntax import parse_sdoc

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from strictdoc.backend.sdoc.models.node import SDocCompositeNode, SDocNode
        from strictdoc.backend.sdoc.reader import SDReader
except ImportError:
    pytest.skip("strictdoc is not installed: there is no parser to compare with", allow_module_level=True)


@dataclass
class Drawn:
    """A node as it is written and as both parsers are to find it."""

    tag: str
    fields: list[tuple[str, str]]
    relations: list[tuple[str, str, str]]
    nodes: list["Drawn"] = field(default_factory=list)
    is_composite: bool = False

    def written(self):
        lines = [f"[[{self.tag}]]" if self.is_composite else f"[{self.tag}]"]
        for name, text in self.fields:
            lines.append(f"{name}: >>>\n{text}\n<<<" if "\n" in text or text[0].isspace() else f"{name}: {text}")
        if self.relations:
            lines.append("RELATIONS:")
        for kind, uid, role in self.relations:
            lines += [f"- TYPE: {kind}", f"  VALUE: {uid}", *([f"  ROLE: {role}"] if role else [])]
        parts = ["\n".join(lines) + "\n", *(node.written() for node in self.nodes)]
        if self.is_composite:
            parts.append(f"[[/{self.tag}]]\n")
        return "\n".join(parts)


line = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\x85"), min_size=1)
line = line.filter(lambda text: text.strip() and not text.startswith("<<<"))
single = line.map(str.strip).filter(lambda text: text and text != ">>>" and text[0] != "[")
several = st.lists(st.one_of(line, st.just(""), st.sampled_from(["[REQUIREMENT]", "RELATIONS:", " <<<", "UID: X"])))
texts = several.map("\n".join).filter(lambda text: text.strip() and "[LINK" not in text and "[ANCHOR" not in text)
uids = st.from_regex(r"[A-Z]{2,4}-[0-9]{1,3}", fullmatch=True)
names = st.sampled_from(["STATUS", "TITLE", "PRIORITY"])
long_names = st.sampled_from(["STATEMENT", "RATIONALE", "COMMENT", "ACCEPTANCE"])
relations = st.tuples(st.sampled_from(["Parent", "Child"]), uids, st.sampled_from(["", "Refines", "Verifies it"]))


@st.composite
def nodes(draw, depth=2):
    fields = [("UID", draw(uids)), *draw(st.lists(st.tuples(names, single), max_size=3))]
    fields += draw(st.lists(st.tuples(long_names, st.one_of(single, texts)), max_size=3))
    found = Drawn(
        draw(st.sampled_from(["REQUIREMENT", "TEST_CASE", "TEXT"])), fields, draw(st.lists(relations, max_size=3))
    )
    if depth and draw(st.booleans()):
        found.tag, found.is_composite = draw(st.sampled_from(["SECTION", "REQUIREMENT"])), True
        found.nodes = draw(st.lists(nodes(depth=depth - 1), max_size=3))
    return found


def grouped(pairs):
    """StrictDoc keeps fields of one name together."""
    found = {}
    for name, text in pairs:
        found.setdefault(name, []).append(text.strip())
    return found


def ours(node):
    return (
        grouped(node.fields),
        [(pairs["TYPE"], pairs["VALUE"], pairs.get("ROLE", "")) for pairs in node.relations],
        [(inner.tag, *ours(inner)) for inner in node.nodes],
    )


def theirs(node):
    inside = [each for each in node.section_contents or [] if isinstance(each, SDocNode | SDocCompositeNode)]
    return (
        grouped((each.field_name, each.get_text_value()) for each in node.enumerate_fields()),
        [(each.ref_type, each.ref_uid, each.role or "") for each in node.relations],
        [(each.node_type, *theirs(each)) for each in inside],
    )


@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(title=single, drawn=st.lists(nodes(), max_size=4))
def test_both_find_the_same_nodes(title, drawn):
    text = "\n".join([f"[DOCUMENT]\nTITLE: {title}\n", *(node.written() for node in drawn)])
    document = SDReader.read(text, file_path="drawn.sdoc")
    found = parse_sdoc(text, "drawn.sdoc")
    assert found.texts("TITLE") == document.title.strip()
    assert [(each.tag, *ours(each)) for each in found.nodes] == [
        (each.node_type, *theirs(each)) for each in document.section_contents
    ]
