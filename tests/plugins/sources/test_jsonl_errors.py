"""What the `jsonl` source says about a file that is not as it should be."""

import json

import pytest
from pydantic import ValidationError

from reqall import Services, SourceError
from reqall.plugins.sources.jsonl import JsonlOptions, JsonlSource


@pytest.fixture
def source(tmp_path):
    def build(*lines, **options):
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / "corpus.jsonl").write_text(text, encoding="utf-8")
        return JsonlSource(JsonlOptions(path=tmp_path, **options), Services(name="files"))

    return build


def walk(source):
    return [document for page in source.documents(source.projects()[0], None) for document in page.items]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"_id": "2", "metadata": {"x": NaN}}', "NaN is not a JSON value"),
        ('{"_id": "2", "text": "\\ud83d"}', "half a surrogate pair"),
        ('"2"', "not a JSON object"),
        ({"text": "t"}, "no _id"),
        ({"_id": ""}, "no _id"),
        ({"_id": True}, "no _id"),
        ({"_id": None}, "no _id"),
        ({"_id": "2", "title": 3}, "title or text is not text"),
        ({"_id": "2", "text": ["t"]}, "title or text is not text"),
        ({"_id": "2", "metadata": "x"}, "metadata is not an object"),
        ({"_id": "1"}, "the _id '1' is used twice, first in line 1"),
    ],
)
def test_a_malformed_line_is_reported_with_its_place(source, line, message):
    made = source({"_id": "1"}, "", line)
    for use in (walk, lambda made: made.count(made.projects()[0])):
        with pytest.raises(SourceError) as caught:
            use(made)
        assert "corpus.jsonl:3: " in caught.value.message
        assert message in caught.value.message
        assert caught.value.remedy


def test_a_repeated_id_is_found_across_projects(source):
    made = source(
        {"_id": "1", "metadata": {"project": "A"}}, {"_id": "1", "metadata": {"project": "B"}}, project_field="project"
    )
    with pytest.raises(SourceError, match=r"corpus\.jsonl:2: the _id '1' is used twice"):
        made.projects()


def test_a_document_in_no_project_is_reported(source):
    made = source({"_id": "1", "metadata": {"project": "A"}}, {"_id": "2", "metadata": {}}, project_field="project")
    with pytest.raises(SourceError, match=r"corpus\.jsonl:2: no metadata\.project"):
        made.projects()


def test_text_that_is_not_utf8_is_reported_with_its_line(tmp_path):
    (tmp_path / "corpus.jsonl").write_bytes(b'{"_id": "1"}\n{"_id": "\xff"}\n')
    made = JsonlSource(JsonlOptions(path=tmp_path), Services(name="files"))
    with pytest.raises(SourceError, match=r"corpus\.jsonl:2: not UTF-8"):
        walk(made)


def test_a_missing_file_is_reported_at_first_use_and_by_validation(tmp_path):
    made = JsonlSource(JsonlOptions(path=tmp_path / "nowhere"), Services(name="files"))
    with pytest.raises(SourceError, match=r"corpus\.jsonl: no such file"):
        made.projects()
    (problem,) = made.validate(live=False)
    assert "no such file" in problem


def test_a_file_that_is_there_validates(source):
    assert source({"_id": "1"}).validate(live=True) == []


def test_naming_the_project_twice_is_refused(tmp_path):
    with pytest.raises(ValidationError, match="exclude each other"):
        JsonlOptions(path=tmp_path, project="A", project_field="project")
