"""Whatever is written as ReqIF is read as it was meant: objects, hierarchy, relations, values of every kind."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from reqall_reqif.options import ReqifOptions
from reqall_reqif.source import ReqifSource

from reqall import Link

REQIF = "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"
XHTML = "http://www.w3.org/1999/xhtml"
LABELS = ("low", "high & dry", "'none'", "höchste")

WORD = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6)
LINE = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
ZONES = st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours)))
TIMES = st.datetimes(timezones=ZONES).filter(lambda time: 1 < time.year < MAXYEAR)


@dataclass
class Item:
    """An object as it is meant."""

    name: str
    paragraphs: list[str]
    note: str
    number: int
    real: float
    truth: bool
    date: datetime
    choices: list[int]
    changed: datetime
    above: int
    relations: list[int] = field(default_factory=list)


ITEMS = st.builds(
    Item,
    name=LINE,
    paragraphs=st.lists(LINE, max_size=4),
    note=LINE,
    number=st.integers(-(2**40), 2**40),
    real=st.floats(allow_nan=False, allow_infinity=False),
    truth=st.booleans(),
    date=TIMES,
    choices=st.lists(st.sampled_from(range(len(LABELS))), min_size=1, unique=True),
    changed=TIMES,
    above=st.integers(0, 50),
    relations=st.lists(st.integers(0, 50), max_size=3),
)


class Exporter:
    """Writes items: a specification, object n below one of those before it."""

    def __init__(self, items):
        self.items = items
        self.root = etree.Element(f"{{{REQIF}}}REQ-IF", nsmap={None: REQIF, "xhtml": XHTML})
        self.content = self.below(self.below(self.root, "CORE-CONTENT"), "REQ-IF-CONTENT")

    def below(self, parent, tag, text=None, **attributes):
        element = etree.SubElement(parent, f"{{{REQIF}}}{tag}")
        element.text = text
        for name, value in attributes.items():
            element.set(name.replace("_", "-"), value)
        return element

    def reference(self, parent, wrapper, tag, identifier):
        self.below(self.below(parent, wrapper), tag, identifier)

    def export(self):
        datatypes, types = self.below(self.content, "DATATYPES"), self.below(self.content, "SPEC-TYPES")
        choices = self.below(
            self.below(datatypes, "DATATYPE-DEFINITION-ENUMERATION", IDENTIFIER="t"), "SPECIFIED-VALUES"
        )
        for number, label in enumerate(LABELS):
            self.below(choices, "ENUM-VALUE", IDENTIFIER=f"e{number}", LONG_NAME=label)
        kinds = {"Name": "STRING", "Text": "XHTML", "Note": "STRING", "Number": "INTEGER", "Real": "REAL"}
        kinds |= {"Truth": "BOOLEAN", "Date": "DATE", "Choices": "ENUMERATION"}
        spec_type = self.below(types, "SPEC-OBJECT-TYPE", IDENTIFIER="type", LONG_NAME="Thing")
        attributes = self.below(spec_type, "SPEC-ATTRIBUTES")
        for name, kind in kinds.items():
            definition = self.below(attributes, f"ATTRIBUTE-DEFINITION-{kind}", IDENTIFIER=f"d-{name}", LONG_NAME=name)
            definition.set("MULTI-VALUED", "true")
            self.reference(definition, "TYPE", f"DATATYPE-DEFINITION-{kind}-REF", "t")
        objects = self.below(self.content, "SPEC-OBJECTS")
        for number, item in enumerate(self.items):
            self.object(objects, number, item)
        self.structure()
        return etree.tostring(self.root, encoding="utf-8", xml_declaration=True)

    def object(self, objects, number, item):
        changed = item.changed.isoformat()
        element = self.below(objects, "SPEC-OBJECT", IDENTIFIER=f"o{number}", LAST_CHANGE=changed)
        self.reference(element, "TYPE", "SPEC-OBJECT-TYPE-REF", "type")
        values = self.below(element, "VALUES")
        self.scalar(values, "STRING", "Name", item.name)
        self.scalar(values, "STRING", "Note", item.note)
        self.scalar(values, "INTEGER", "Number", str(item.number))
        self.scalar(values, "REAL", "Real", repr(item.real))
        self.scalar(values, "BOOLEAN", "Truth", str(item.truth).lower())
        self.scalar(values, "DATE", "Date", item.date.isoformat())
        rich = self.scalar(values, "XHTML", "Text", None)
        body = etree.SubElement(self.below(rich, "THE-VALUE"), f"{{{XHTML}}}div")
        for paragraph in item.paragraphs:
            etree.SubElement(body, f"{{{XHTML}}}p").text = paragraph
        chosen = self.below(self.scalar(values, "ENUMERATION", "Choices", None), "VALUES")
        for choice in item.choices:
            self.below(chosen, "ENUM-VALUE-REF", f"e{choice}")

    def scalar(self, values, kind, name, content):
        value = self.below(values, f"ATTRIBUTE-VALUE-{kind}")
        self.reference(value, "DEFINITION", f"ATTRIBUTE-DEFINITION-{kind}-REF", f"d-{name}")
        if content is not None:
            value.set("THE-VALUE", content)
        return value

    def structure(self):
        relations = self.below(self.content, "SPEC-RELATIONS")
        specification = self.below(self.below(self.content, "SPECIFICATIONS"), "SPECIFICATION", IDENTIFIER="s")
        nodes = {-1: specification}
        for number, item in enumerate(self.items):
            above = nodes[parent_of(number, item)]
            children = above.find(f"{{{REQIF}}}CHILDREN")
            children = self.below(above, "CHILDREN") if children is None else children
            nodes[number] = self.below(children, "SPEC-HIERARCHY", IDENTIFIER=f"h{number}")
            self.reference(nodes[number], "OBJECT", "SPEC-OBJECT-REF", f"o{number}")
            for other in item.relations:
                relation = self.below(relations, "SPEC-RELATION", LONG_NAME="needs")
                self.reference(relation, "SOURCE", "SPEC-OBJECT-REF", f"o{number}")
                self.reference(relation, "TARGET", "SPEC-OBJECT-REF", f"o{other % len(self.items)}")


def parent_of(number, item):
    return item.above % (number + 1) - 1


@given(st.lists(ITEMS, min_size=1, max_size=8))
def test_what_is_written_is_read(tmp_path_factory, items):
    file = tmp_path_factory.mktemp("written") / "file.reqif"
    file.write_bytes(Exporter(items).export())
    source = ReqifSource(ReqifOptions(path=file))
    (project,) = source.projects()
    found = {document.id: document for page in source.documents(project, None) for document in page.items}
    assert set(found) == {f"reqif:o{number}" for number in range(len(items))}
    for number, item in enumerate(items):
        document = found[f"reqif:o{number}"]
        parent = parent_of(number, item)
        text = "\n".join(item.paragraphs)
        assert document.name == item.name
        assert document.sections == ({"description": text} if text else {})
        assert document.modified == item.changed.astimezone(UTC)
        assert document.parent_id == (None if parent < 0 else f"reqif:o{parent}")
        assert document.fields == {
            "Note": item.note,
            "Number": item.number,
            "Real": item.real,
            "Truth": item.truth,
            "Date": item.date.astimezone(UTC).isoformat(),
            "Choices": [LABELS[choice] for choice in item.choices],
        }
    meant = {(other % len(items), number) for number, item in enumerate(items) for other in item.relations}
    links = Counter(link for page in source.links(project) for link in page.items)
    assert links == Counter(Link(f"reqif:o{a}", f"reqif:o{b}", "needs") for a, b in meant if a != b)
