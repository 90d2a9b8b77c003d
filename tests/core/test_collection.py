"""Reading a judged collection, and what is said about a broken one."""

import json

import pytest

from reqall.core.collection import Collection, JudgedQuery
from reqall.core.errors import InputError, NotFoundError

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def write(tmp_path):
    def write(queries, qrels):
        folder = tmp_path / "release-1.2"
        folder.mkdir()
        lines = [line if isinstance(line, str) else json.dumps(line) for line in queries]
        (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
        (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
        return folder

    return write


def test_reads_queries_and_graded_judgements_in_the_order_of_the_file(write):
    folder = write(
        [{"_id": "2", "text": "second", "metadata": {"type": "need"}}, {"_id": "1", "text": "first"}],
        HEADER + "1\ta\t1\n2\tb\t3\n2\tc\t0\n",
    )
    collection = Collection.read(folder)
    assert collection.name == "release-1.2"
    assert collection.queries == (JudgedQuery("2", "second"), JudgedQuery("1", "first"))
    assert collection.qrels == {"2": {"b": 3, "c": 0}, "1": {"a": 1}}


def test_queries_without_a_relevant_document_are_left_out(write):
    queries = [{"_id": name, "text": name} for name in ("judged", "zero", "bare")]
    collection = Collection.read(write(queries, HEADER + "judged\ta\t1\nzero\ta\t0\n"))
    assert [query.id for query in collection.queries] == ["judged"]
    assert set(collection.qrels) == {"judged"}


@pytest.mark.parametrize(("own", "excluded"), [("P:1", {"P:1"}), (["P:1", "P:2"], {"P:1", "P:2"})])
def test_the_querys_own_documents_are_excluded(write, own, excluded):
    collection = Collection.read(write([{"_id": "q", "text": "t", "metadata": {"self": own}}], HEADER + "q\ta\t1\n"))
    assert collection.queries[0].exclude == excluded


def test_an_excluded_document_is_not_judged_either(write):
    queries = [
        {"_id": "q", "text": "t", "metadata": {"self": "q-item"}},
        {"_id": "only", "text": "t", "metadata": {"self": "only-item"}},
    ]
    qrels = HEADER + "q\tq-item\t1\nq\ta\t1\nonly\tonly-item\t1\n"
    assert Collection.read(write(queries, qrels)).qrels == {"q": {"a": 1}}


def test_byte_order_mark_blank_lines_and_windows_line_ends_are_accepted(tmp_path):
    (tmp_path / "queries.jsonl").write_bytes(b'\xef\xbb\xbf{"_id": "q", "text": "t"}\r\n\r\n  \r\n')
    (tmp_path / "qrels.tsv").write_bytes(b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\r\n\r\nq\ta b\t2\r\n")
    assert Collection.read(tmp_path).qrels == {"q": {"a b": 2}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"queries\.jsonl:2: not JSON"),
        ("[" * 100_000, r"queries\.jsonl:2: not JSON"),
        ('["q"]', r"queries\.jsonl:2: not a JSON object"),
        ({"text": "t"}, r"queries\.jsonl:2: no _id"),
        ({"_id": 7, "text": "t"}, r"queries\.jsonl:2: no _id"),
        ({"_id": "r", "text": " "}, r"queries\.jsonl:2: the query has no text"),
        ({"_id": "q", "text": "t"}, r"queries\.jsonl:2: the query id 'q' is used twice"),
        ({"_id": "r", "text": "t", "metadata": {"self": 7}}, r"queries\.jsonl:2: metadata\.self"),
        ({"_id": "r", "text": "t", "metadata": ["self"]}, r"queries\.jsonl:2: metadata\.self"),
    ],
)
def test_a_malformed_query_is_reported_with_its_line(write, line, message):
    folder = write([{"_id": "q", "text": "t"}, line], HEADER + "q\ta\t1\n")
    with pytest.raises(InputError, match=message):
        Collection.read(folder)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ("", r"qrels\.tsv:1: no header line"),
        ("q\ta\t1\n", r"qrels\.tsv:1: no header line"),
        (HEADER + "q\ta\n", r"qrels\.tsv:2: not a judgement"),
        (HEADER + "q\ta\t1\t2\n", r"qrels\.tsv:2: not a judgement"),
        (HEADER + "q a 1\n", r"qrels\.tsv:2: not a judgement"),
        (HEADER + "q\ta\t1\n\nq\tb\thigh\n", r"qrels\.tsv:4: not a judgement"),
        (HEADER + "stranger\ta\t1\n", r"qrels\.tsv:2: the query 'stranger' is not in queries\.jsonl"),
        (HEADER + "q\ta\t1\nq\ta\t0\n", r"qrels\.tsv:3: 'a' is judged twice for 'q'"),
        (HEADER + "q\ta\t0\n", r"no query has a relevant document"),
    ],
)
def test_malformed_judgements_are_reported_with_their_line(write, qrels, message):
    folder = write([{"_id": "q", "text": "t"}], qrels)
    with pytest.raises(InputError, match=message):
        Collection.read(folder)


def test_text_that_is_not_utf8_is_reported_with_its_line(write):
    folder = write([{"_id": "q", "text": "t"}], "")
    (folder / "qrels.tsv").write_bytes(HEADER.encode() + b"q\t\xff\t1\n")
    with pytest.raises(InputError, match=r"qrels\.tsv:2: not UTF-8"):
        Collection.read(folder)


@pytest.mark.parametrize("missing", ["queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(write, missing):
    folder = write([{"_id": "q", "text": "t"}], HEADER + "q\ta\t1\n")
    (folder / missing).unlink()
    with pytest.raises(NotFoundError, match=f"{missing}: no such file"):
        Collection.read(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="nowhere: no such folder"):
        Collection.read(tmp_path / "nowhere")


def test_a_file_that_cannot_be_read_is_an_input_error(write):
    folder = write([{"_id": "q", "text": "t"}], HEADER)
    (folder / "qrels.tsv").unlink()
    (folder / "qrels.tsv").mkdir()
    with pytest.raises(InputError, match=r"qrels\.tsv: cannot be read"):
        Collection.read(folder)
