"""Values of each kind, as JSON has them; what is none stays text."""

import pytest

CHOICES = (
    '<DATATYPE-DEFINITION-ENUMERATION IDENTIFIER="t-ENUMERATION"><SPECIFIED-VALUES>'
    '<ENUM-VALUE IDENTIFIER="e1" LONG-NAME="First"><PROPERTIES><EMBEDDED-VALUE KEY="1" OTHER-CONTENT="Navy"/>'
    "</PROPERTIES></ENUM-VALUE>"
    '<ENUM-VALUE IDENTIFIER="e2"><PROPERTIES><EMBEDDED-VALUE KEY="2" OTHER-CONTENT="Second"/></PROPERTIES></ENUM-VALUE>'
    '<ENUM-VALUE IDENTIFIER="e3"><PROPERTIES><EMBEDDED-VALUE KEY="Third"/></PROPERTIES></ENUM-VALUE>'
    '<ENUM-VALUE IDENTIFIER="e4"/>'
    "</SPECIFIED-VALUES></DATATYPE-DEFINITION-ENUMERATION>"
)

BOTH = "<ENUM-VALUE-REF>e1</ENUM-VALUE-REF><ENUM-VALUE-REF>e2</ENUM-VALUE-REF>"


@pytest.mark.parametrize(
    ("kind", "content", "read"),
    [
        ("STRING", "one&#10;two", "one\ntwo"),
        ("STRING", "  ", None),
        ("INTEGER", "-7", -7),
        ("INTEGER", "seven", "seven"),
        ("INTEGER", "1_000", "1_000"),
        ("REAL", "2.5E3", 2500.0),
        ("REAL", "INF", "INF"),
        ("REAL", "NaN", "NaN"),
        ("BOOLEAN", "true", True),
        ("BOOLEAN", "0", False),
        ("BOOLEAN", "yes", "yes"),
        ("DATE", "2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00+00:00"),
        ("DATE", "2024-05-01T10:00:00", "2024-05-01T10:00:00+00:00"),
        ("DATE", "2024-05-01", "2024-05-01"),
        ("DATE", "soon", "soon"),
        ("XHTML", "<x:div>rich</x:div>", "rich"),
        ("XHTML", "bare", "bare"),
        ("XHTML", "<x:div/>", None),
    ],
)
def test_a_value_is_read(read_value, kind, content, read):
    found = read_value(content, kind)
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("chosen", "read"),
    [
        (["e1"], "First"),
        (["e2"], "Second"),
        (["e3"], "Third"),
        (["e4"], "e4"),
        (["e1", " e2 "], ["First", "Second"]),
        (["elsewhere"], "elsewhere"),
        ([], None),
    ],
)
def test_a_choice_is_its_label(read_value, chosen, read):
    assert read_value(chosen, "ENUMERATION", CHOICES) == read


def test_a_multiple_choice_is_a_list_also_of_one(read_value):
    assert read_value(["e1"], "ENUMERATION", CHOICES, MULTI_VALUED="true") == ["First"]


@pytest.mark.parametrize(
    ("kind", "default", "read"),
    [
        ("STRING", '<ATTRIBUTE-VALUE-STRING THE-VALUE="d"/>', "d"),
        ("INTEGER", '<ATTRIBUTE-VALUE-INTEGER THE-VALUE="3"/>', 3),
        ("XHTML", "<ATTRIBUTE-VALUE-XHTML><THE-VALUE><x:div>rich</x:div></THE-VALUE></ATTRIBUTE-VALUE-XHTML>", "rich"),
        (
            "ENUMERATION",
            f"<ATTRIBUTE-VALUE-ENUMERATION><VALUES>{BOTH}</VALUES></ATTRIBUTE-VALUE-ENUMERATION>",
            ["First", "Second"],
        ),
        ("BOOLEAN", "", None),
    ],
)
def test_a_default_holds_where_nothing_is_said(xml, written, documents_of, kind, default, read):
    definition = xml.attribute("A", kind, f"<DEFAULT-VALUE>{default}</DEFAULT-VALUE>")
    text = xml.text(xml.spec_object("o"), xml.spec_type(definition), datatypes=CHOICES)
    document = documents_of(written(text))["o"]
    assert {**document.sections, **document.fields}.get("A") == read


def test_an_empty_value_is_none_yet_not_the_default(read_value):
    inner = '<DEFAULT-VALUE><ATTRIBUTE-VALUE-STRING THE-VALUE="d"/></DEFAULT-VALUE>'
    assert read_value("", inner=inner) is None


def test_attributes_of_one_name_are_told_apart(xml, written, documents_of):
    twin = xml.attribute("A").replace("d-A", "d-B")
    text = xml.text(
        xml.spec_object("o", xml.value("A", "one"), xml.value("B", "two"), xml.value("unknown", "three")),
        xml.spec_type(xml.attribute("A"), twin),
    )
    assert documents_of(written(text))["o"].sections == {"A": "one", "A (d-B)": "two", "d-unknown": "three"}


def test_an_attribute_of_another_type_does_not_hide_the_own_one(xml, written, documents_of):
    other = xml.spec_type(xml.attribute("A").replace("d-A", "d-B")).replace('"type"', '"other"')
    values = xml.value("A", "own"), xml.value("B", "borrowed")
    text = xml.text(xml.spec_object("o", *values), xml.spec_type(xml.attribute("A")) + other)
    assert documents_of(written(text))["o"].sections == {"A": "own", "A (d-B)": "borrowed"}
