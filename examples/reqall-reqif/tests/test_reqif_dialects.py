"""What exporters write in their own way is read; what is no ReqIF is refused, with file and line."""

import re
import zipfile

import pytest
from lxml import etree
from reqall_reqif.reading.decode import Decoder
from reqall_reqif.reading.dialect import Tidied

from reqall import SourceError

KEYS = {"NEED-1", "SYS-10", "SYS-11", "12"}


@pytest.fixture
def doors(exports):
    return (exports / "doors.reqif").read_text(encoding="utf-8")


def swapped(text, *pairs):
    for old, new in pairs:
        assert old in text, f"the export no longer holds {old!r}"
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-8"),
        ("ISO-8859-1", "iso-8859-1"),
    ],
)
def test_encodings(doors, written, documents_of, declared, encoding):
    text = swapped(doors, ('encoding="UTF-8"', f'encoding="{declared}"'), ("hold the load", "hält die Last"))
    documents = documents_of(written(text, encoding=encoding))
    assert set(documents) == KEYS
    assert documents["SYS-11"].sections["description"].startswith("The brake shall hält die Last")


def with_prefixes(text):
    """Write every name of ReqIF with a prefix, as some XML libraries do."""
    tree = etree.fromstring(text.encode())
    return etree.tostring(_prefixed(tree), encoding="unicode")


def _prefixed(element):
    namespaces = {"r": "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd", "h": "http://www.w3.org/1999/xhtml"}
    copy = etree.Element(element.tag, dict(element.attrib), nsmap=namespaces)
    copy.text, copy.tail = element.text, element.tail
    copy.extend(_prefixed(child) for child in element if isinstance(child.tag, str))
    return copy


def with_namespace_in_each_value(text):
    text = text.replace("<reqif-xhtml:div>", '<div xmlns="http://www.w3.org/1999/xhtml">')
    return text.replace("reqif-xhtml:div>", "div>").replace("reqif-xhtml", "h")


CLOTHES = {
    "ReqIF itself has a prefix": with_prefixes,
    "XHTML has another prefix": lambda text: text.replace("reqif-xhtml", "xhtml"),
    "a default namespace in each value": with_namespace_in_each_value,
    "XHTML without a namespace": lambda text: text.replace("<reqif-xhtml:", "<").replace("</reqif-xhtml:", "</"),
    "comments and instructions": lambda text: text.replace("<VALUES>", "<VALUES><!-- c --><?p?>"),
    "white space around references": lambda text: text.replace("-REF>_", "-REF>\n   _"),
    "no times": lambda text: re.sub(' LAST-CHANGE="2024-03-05T09:30:00"', "", text),
    "no header": lambda text: re.sub("(?s)<THE-HEADER>.*</THE-HEADER>", "", text),
    "no header inside the header": lambda text: re.sub("(?s)<REQ-IF-HEADER.*</REQ-IF-HEADER>", "", text),
}


@pytest.mark.parametrize("change", CLOTHES.values(), ids=CLOTHES)
def test_one_export_in_other_clothes_is_the_same(doors, exports, written, documents_of, change):
    changed = change(doors)
    assert changed != doors
    assert documents_of(written(changed)) == documents_of(exports / "doors.reqif")


def test_values_may_be_elements_as_in_the_predecessor(xml, written, documents_of):
    value = xml.value("A", "kept").replace(' THE-VALUE="kept"', "")
    value = value.replace("</ATTRIBUTE-VALUE-STRING>", "<THE-VALUE>kept</THE-VALUE></ATTRIBUTE-VALUE-STRING>")
    text = xml.text(xml.spec_object("o", value), xml.spec_type(xml.attribute("A")))
    assert documents_of(written(text))["o"].sections == {"A": "kept"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' THE-VALUE="v"', ""),
        ("<TYPE><SPEC-OBJECT-TYPE-REF>type</SPEC-OBJECT-TYPE-REF></TYPE>", ""),
        ("<TYPE><SPEC-OBJECT-TYPE-REF>type</SPEC-OBJECT-TYPE-REF></TYPE>", "<TYPE/>"),
        ("<TYPE><DATATYPE-DEFINITION-STRING-REF>t-STRING</DATATYPE-DEFINITION-STRING-REF></TYPE>", ""),
        ('IDENTIFIER="h-o"', ""),
        ("<OBJECT><SPEC-OBJECT-REF>o</SPEC-OBJECT-REF></OBJECT>", ""),
        (' LONG-NAME="Requirement"', ""),
        (' LONG-NAME="A"', ""),
        (' LONG-NAME="s"', ""),
        ("ATTRIBUTE-DEFINITION-STRING-REF", "ATTRIBUTE-DEFINITION-XHTML-REF"),
        ("SPEC-OBJECT-TYPE-REF", "TYPE-REF"),
        ("SPEC-OBJECT-REF", "OBJECT-REF"),
    ],
)
def test_what_may_be_missing(xml, written, documents_of, old, new):
    text = xml.text(
        xml.spec_object("o", xml.value("A", "v")),
        xml.spec_type(xml.attribute("A")),
        xml.specification("s", xml.node("o")),
    )
    assert set(documents_of(written(swapped(text, (old, new))))) == {"o"}


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ('<SPEC-OBJECT IDENTIFIER="o"', "<SPEC-OBJECT", "<SPEC-OBJECT ", "<SPEC-OBJECT> without an IDENTIFIER"),
        ('IDENTIFIER="o"', 'IDENTIFIER=" "', "<SPEC-OBJECT ", "<SPEC-OBJECT> without an IDENTIFIER"),
        ('IDENTIFIER="s"', "", "<SPECIFICATION ", "<SPECIFICATION> without an IDENTIFIER"),
        ('IDENTIFIER="d-A"', "", "<ATTRIBUTE-DEF", "<ATTRIBUTE-DEFINITION-STRING> without an IDENTIFIER"),
        ("<SPEC-OBJECTS>", "<SPEC-OBJECTS><OTHER/>", "<OTHER", "<OTHER> in <SPEC-OBJECTS> is no element of ReqIF"),
        ("<DATATYPES>", "<DATATYPES><OTHER/>", "<OTHER", "<OTHER> in <DATATYPES> is no element of ReqIF"),
        ("<SPEC-ATTRIBUTES>", "<SPEC-ATTRIBUTES><OTHER IDENTIFIER='x'/>", "<OTHER", "<OTHER> in <SPEC-ATTRIBUTES>"),
        ("<VALUES>", "<VALUES><OTHER/>", "<OTHER", "<OTHER> in <VALUES> is no element of ReqIF"),
        ("<CHILDREN>", "<CHILDREN><OTHER/>", "<OTHER", "<OTHER> in <CHILDREN> is no element of ReqIF"),
        ("VALUE-STRING", "VALUE-EMBEDDED", "<ATTRIBUTE-VALUE-EMB", "<ATTRIBUTE-VALUE-EMBEDDED> in <VALUES>"),
        ("-REF>d-A<", "-REF><", "<ATTRIBUTE-VALUE-STRING", "does not say which attribute"),
        ("</SPEC-OBJECTS>", '<SPEC-OBJECT IDENTIFIER="o"/></SPEC-OBJECTS>', '"o"/>', "'o' is used for two objects"),
        ("</SPEC-OBJECTS>", "</SPEC-OBJECT>", "</SPEC-OBJECT>\n<SPEC-RELATIONS", "not readable as XML"),
    ],
)
def test_what_is_refused_is_said_with_its_line(xml, written, documents_of, old, new, at, said):
    text = xml.text(
        xml.spec_object("o", xml.value("A", "secret words")),
        xml.spec_type(xml.attribute("A")),
        xml.specification("s", xml.node("o")),
    )
    text = swapped(text, (old, new)).replace("><", ">\n<")
    file = written(text)
    line = text[: text.index(at)].count("\n") + 1
    with pytest.raises(SourceError) as caught:
        documents_of(file)
    assert caught.value.message.startswith(f"{file}:{line}: ")
    assert said in caught.value.message
    assert caught.value.remedy
    assert "secret words" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ":1: not readable as XML (Document is empty)"),
        (b"no xml", ":1: not readable as XML"),
        (b"<REQ-IF>\n<a>\n</REQ-IF>", ":3: not readable as XML"),
        (b'<?xml version="1.0" encoding="UTF-8"?>\n<REQ-IF>\xe4</REQ-IF>', ":2: not readable as XML"),
        (b"<REQ-IF>\n<xhtml:p/></REQ-IF>", ":2: not readable as XML (Namespace prefix xhtml on p is not defined)"),
        (b"<RIF/>", ":1: RIF, the predecessor of ReqIF, is its content"),
        (b"<html/>", ":1: <html>, not <REQ-IF>, is its content"),
        (b"<a>" * 300, ":1: not readable as XML"),
        (b"PK\x03\x04 broken", ": the archive cannot be read"),
    ],
)
def test_what_is_no_reqif(written, source_of, content, said):
    file = written(content)
    with pytest.raises(SourceError) as caught:
        source_of(file).projects()
    assert f"{file}{said}" in caught.value.message


def entities(body, declared):
    return f'<!DOCTYPE REQ-IF [{declared}]><REQ-IF><CORE-CONTENT a="">{body}</CORE-CONTENT></REQ-IF>'.encode()


def test_entities_are_harmless(written, source_of, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("TOP SECRET", encoding="utf-8")
    ten = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 13))
    bomb = '<!ENTITY e0 "lol">' + ten
    for text in (
        entities("&e12;", bomb),
        entities("", bomb).replace(b'a=""', b'a="&e12;"'),
        entities("&s;", f'<!ENTITY s SYSTEM "{secret.as_uri()}">'),
        entities("", f'<!ENTITY % s SYSTEM "{secret.as_uri()}"> %s;'),
        b'<!DOCTYPE REQ-IF SYSTEM "http://127.0.0.1:9/x.dtd"><REQ-IF>&nbsp;</REQ-IF>',
    ):
        with pytest.raises(SourceError) as caught:
            source_of(written(text)).projects()
        assert "SECRET" not in str(caught.value)
        assert "document type declaration" in str(caught.value) or "not readable as XML" in str(caught.value)


def test_a_file_larger_than_agreed_is_refused(written, source_of, tmp_path):
    file = written(b"<REQ-IF>" + b" " * 1024 * 1024 + b"</REQ-IF>")
    with pytest.raises(SourceError, match="larger than 1 MB"):
        source_of(file, largest_file=1).projects()
    archive = tmp_path / "bomb.reqifz"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        members.write(file, "inner.reqif")
    assert archive.stat().st_size < 10_000
    with pytest.raises(SourceError, match=r"bomb\.reqifz!inner\.reqif: larger than 1 MB"):
        source_of(archive, largest_file=1).projects()


def test_an_archive_without_reqif_is_refused(source_of, tmp_path):
    archive = tmp_path / "other.reqifz"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("readme.txt", "none")
    with pytest.raises(SourceError, match=r"no \.reqif file in this archive"):
        source_of(archive).projects()


def test_an_error_in_an_archive_names_the_member(source_of, tmp_path):
    archive = tmp_path / "two.reqifz"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("a/good.reqif", "<REQ-IF/>")
        members.writestr("b/bad.reqif", "<REQ-IF>")
    with pytest.raises(SourceError, match=r"two\.reqifz!b/bad\.reqif:1: not readable"):
        source_of(archive).projects()


def test_what_surprises_the_library_is_an_error_with_a_place():
    """Nothing is known that does, once it is tidied: so here is an object that is not."""
    element = etree.fromstring('<a>\n<SPEC-OBJECT IDENTIFIER="o"/></a>')[0]
    names = ("DATATYPES", "SPEC-TYPES", "SPEC-RELATIONS", "SPECIFICATIONS", "SPEC-RELATION-GROUPS")
    untidy = Tidied(None, {"SPEC-OBJECTS": [element], **{name: [] for name in names}})
    with pytest.raises(SourceError, match=r"a\.reqif:2: the library reqif cannot read this <SPEC-OBJECT>"):
        Decoder("a.reqif", untidy).exchange()
