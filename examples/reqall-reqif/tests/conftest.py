"""Fixtures that many tests share: exports of several tools, small texts written on the spot, and readers of both."""

from pathlib import Path

import pytest
from hypothesis import settings
from reqall_reqif.options import ReqifOptions
from reqall_reqif.source import ReqifSource

# How long an example takes says more about the machine's load than about the code.
settings.register_profile("reqif", deadline=None)
settings.load_profile("reqif")

EXPORTS = Path(__file__).with_name("exports")
NAMESPACES = 'xmlns="http://www.omg.org/spec/ReqIF/20110401/reqif.xsd" xmlns:x="http://www.w3.org/1999/xhtml"'


class Writer:
    """Writes small ReqIF texts; every method returns XML."""

    def attribute(self, name, kind="STRING", inner="", **attributes):
        more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
        return (
            f'<ATTRIBUTE-DEFINITION-{kind} IDENTIFIER="d-{name}" LONG-NAME="{name}"{more}>{inner}'
            f"<TYPE><DATATYPE-DEFINITION-{kind}-REF>t-{kind}</DATATYPE-DEFINITION-{kind}-REF></TYPE>"
            f"</ATTRIBUTE-DEFINITION-{kind}>"
        )

    def spec_type(self, *attributes, name="Requirement"):
        inner = f"<SPEC-ATTRIBUTES>{''.join(attributes)}</SPEC-ATTRIBUTES>"
        return f'<SPEC-OBJECT-TYPE IDENTIFIER="type" LONG-NAME="{name}">{inner}</SPEC-OBJECT-TYPE>'

    def value(self, name, content, kind="STRING"):
        definition = (
            f"<DEFINITION><ATTRIBUTE-DEFINITION-{kind}-REF>d-{name}</ATTRIBUTE-DEFINITION-{kind}-REF></DEFINITION>"
        )
        if kind == "XHTML":
            return f"<ATTRIBUTE-VALUE-XHTML>{definition}<THE-VALUE>{content}</THE-VALUE></ATTRIBUTE-VALUE-XHTML>"
        if kind == "ENUMERATION":
            chosen = "".join(f"<ENUM-VALUE-REF>{each}</ENUM-VALUE-REF>" for each in content)
            return f"<ATTRIBUTE-VALUE-ENUMERATION>{definition}<VALUES>{chosen}</VALUES></ATTRIBUTE-VALUE-ENUMERATION>"
        return f'<ATTRIBUTE-VALUE-{kind} THE-VALUE="{content}">{definition}</ATTRIBUTE-VALUE-{kind}>'

    def spec_object(self, identifier, *values, changed="2024-01-01T00:00:00Z", **attributes):
        more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
        return (
            f'<SPEC-OBJECT IDENTIFIER="{identifier}" LAST-CHANGE="{changed}"{more}>'
            "<TYPE><SPEC-OBJECT-TYPE-REF>type</SPEC-OBJECT-TYPE-REF></TYPE>"
            f"<VALUES>{''.join(values)}</VALUES></SPEC-OBJECT>"
        )

    def node(self, identifier, *children):
        inner = f"<CHILDREN>{''.join(children)}</CHILDREN>" if children else ""
        return (
            f'<SPEC-HIERARCHY IDENTIFIER="h-{identifier}">'
            f"<OBJECT><SPEC-OBJECT-REF>{identifier}</SPEC-OBJECT-REF></OBJECT>{inner}</SPEC-HIERARCHY>"
        )

    def specification(self, identifier, *nodes, name="", values=""):
        return (
            f'<SPECIFICATION IDENTIFIER="{identifier}" LONG-NAME="{name or identifier}">'
            f"<VALUES>{values}</VALUES><CHILDREN>{''.join(nodes)}</CHILDREN></SPECIFICATION>"
        )

    def relation(self, source, target, kind="relates"):
        return (
            f'<SPEC-RELATION IDENTIFIER="r-{source}-{target}">'
            f"<TYPE><SPEC-RELATION-TYPE-REF>{kind}</SPEC-RELATION-TYPE-REF></TYPE>"
            f"<SOURCE><SPEC-OBJECT-REF>{source}</SPEC-OBJECT-REF></SOURCE>"
            f"<TARGET><SPEC-OBJECT-REF>{target}</SPEC-OBJECT-REF></TARGET></SPEC-RELATION>"
        )

    def text(self, objects="", types="", specifications="", relations="", datatypes="", header=""):
        return (
            f"<REQ-IF {NAMESPACES}>{header}<CORE-CONTENT><REQ-IF-CONTENT>"
            f"<DATATYPES>{datatypes}</DATATYPES><SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{objects}</SPEC-OBJECTS>"
            f"<SPEC-RELATIONS>{relations}</SPEC-RELATIONS><SPECIFICATIONS>{specifications}</SPECIFICATIONS>"
            "</REQ-IF-CONTENT></CORE-CONTENT></REQ-IF>"
        )


@pytest.fixture
def exports():
    """The folder of exports."""
    return EXPORTS


@pytest.fixture
def xml():
    """Write ReqIF."""
    return Writer()


@pytest.fixture
def source_of():
    """Return a source over a path."""

    def build(path, name="reqif", **options):
        return ReqifSource(ReqifOptions(path=path, **options), name)

    return build


@pytest.fixture
def documents_of(source_of):
    """Return all documents under a path, by key."""

    def read(path, **options):
        source = source_of(path, **options)
        walked = [page for project in source.projects() for page in source.documents(project, None)]
        documents = [document for page in walked for document in page.items]
        keyed = {document.key: document for document in documents}
        assert len(keyed) == len(documents)
        return keyed

    return read


@pytest.fixture
def links_of(source_of):
    """Return all links under a path, each once."""

    def read(path, **options):
        source = source_of(path, **options)
        pages = [page for project in source.projects() for page in source.links(project)]
        return list(dict.fromkeys(link for page in pages for link in page.items))

    return read


@pytest.fixture
def written(tmp_path):
    """Write a text to a file."""

    def write(text, name="file.reqif", encoding="utf-8"):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return file

    return write


@pytest.fixture
def read_value(xml, written, documents_of):
    """Return the field or section that one attribute with one value becomes."""

    def read(content, kind="STRING", datatypes="", inner="", **attributes):
        text = xml.text(
            xml.spec_object("o", xml.value("A", content, kind)),
            xml.spec_type(xml.attribute("A", kind, inner, **attributes)),
            datatypes=datatypes,
        )
        document = documents_of(written(text))["o"]
        return {**document.sections, **document.fields}.get("A")

    return read
