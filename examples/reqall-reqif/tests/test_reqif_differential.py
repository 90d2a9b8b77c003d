"""Where the library's own parser reads an export, it finds the same objects, texts, places and relations."""

import pytest
from reqall_reqif.reading.decode import decode
from reqall_reqif.reading.files import Content
from reqif.parser import ReqIFParser


def both(exports, name):
    file = exports / name
    bundle = ReqIFParser.parse(str(file))
    return bundle, bundle.core_content.req_if_content, decode(Content(str(file), file.read_bytes()))


@pytest.mark.parametrize("name", ["doors.reqif", "polarion.reqif", "jama.reqif"])
def test_the_parser_of_the_library_finds_the_same(exports, name):
    bundle, content, exchange = both(exports, name)
    assert [each.identifier for each in content.spec_objects] == list(exchange.objects)
    for model in content.spec_objects:
        found = exchange.objects[model.identifier]
        strings = {each.definition_ref: each.value for each in model.attributes if each.attribute_type.name == "STRING"}
        read = {value.definition.id: value.content for value in found.values.values()}
        assert {key: read[key] for key in strings} == strings
        assert found.type.id == model.spec_object_type
    for model, found in zip(content.specifications, exchange.specifications, strict=True):
        walked = [node.spec_object for node in bundle.iterate_specification_hierarchy(model)]
        assert [node.object_id for node in found.nodes] == walked
        assert [_level(found.nodes, index) for index in range(len(found.nodes))] == [
            node.level for node in bundle.iterate_specification_hierarchy(model)
        ]
    relations = [(each.source, each.target) for each in content.spec_relations or ()]
    assert [(each.source, each.target) for each in exchange.relations] == relations


def _level(nodes, index):
    level = 1
    while nodes[index].parent >= 0:
        index = nodes[index].parent
        level += 1
    return level


@pytest.mark.parametrize("name", ["strictdoc.reqif", "capella.reqif"])
def test_what_the_parser_of_the_library_does_not_read_is_read_here(exports, name):
    """Says why this package does not use it; when this fails, it may do so."""
    file = exports / name
    with pytest.raises((AssertionError, AttributeError, NotImplementedError, TypeError)):
        ReqIFParser.parse(str(file))
    assert decode(Content(str(file), file.read_bytes())).objects
