"""Run files come back as they were written, and trec_eval reads them as we do."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.errors import InputError, NotFoundError
from reqall.core.metrics import evaluate
from reqall.core.trec import read_run, write_qrels, write_run

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    import ir_measures

ids = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=6)
runs = st.dictionaries(ids, st.lists(ids, min_size=1, max_size=30, unique=True), min_size=1, max_size=4)


@given(runs, st.text(max_size=8))
def test_a_run_comes_back_as_it_was(tmp_path_factory, run, tag):
    file = tmp_path_factory.mktemp("run") / "of" / "a.run"
    write_run(file, run, tag)
    found = read_run(file)
    assert found.run == run
    assert found.tag.split() == [found.tag]


def test_trec_eval_reads_the_same_order_from_our_files(tmp_path):
    qrels = {"q1": {"d150": 2, "d3": 1, "d199": 1}, "q2": {"d1": 1}}
    run = {"q1": [f"d{number}" for number in range(200)], "q2": ["d0", "d1"]}
    write_run(tmp_path / "a.run", run, "hybrid [k=10]")
    write_qrels(tmp_path / "qrels.txt", qrels)
    measures = [ir_measures.parse_measure(name) for name in ("AP", "nDCG@100", "RR")]
    theirs = ir_measures.calc_aggregate(
        measures,
        list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt"))),
        list(ir_measures.read_trec_run(str(tmp_path / "a.run"))),
    )
    ours = evaluate(run, qrels, ["MAP", "nDCG@100", "MRR"]).means
    assert list(ours.values()) == [pytest.approx(theirs[measure]) for measure in measures]
    assert read_run(tmp_path / "a.run").tag == "hybrid_[k=10]"


def test_order_is_by_score_then_by_rank_whatever_the_order_of_lines(tmp_path):
    file = tmp_path / "other.run"
    file.write_text("q Q0 b 3 0.5 t\nq Q0 a 9 1e1 t\n\nq Q0 c 2 0.5 t\n", encoding="utf-8")
    assert read_run(file).run == {"q": ["a", "c", "b"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q Q0 a 1 0.5 t\nq a 1 0.5 t\n", "other.run:2: 5 fields"),
        ("q Q0 a 1 high t\n", "other.run:1: the score"),
        ("q Q0 a 1 nan t\n", "other.run:1: the score"),
        ("q Q0 a first 1 t\n", "other.run:1: the rank"),
        ("q Q0 a 1 0.5 t\nq Q0 a 2 0.4 t\n", "other.run:2: 'a' stands twice"),
        ("\n", "other.run: the run is empty"),
    ],
)
def test_a_malformed_run_is_told_with_its_line(tmp_path, text, told):
    file = tmp_path / "other.run"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"\S") as caught:
        read_run(file)
    assert told in caught.value.message


def test_files_that_cannot_be_read_or_written_are_told(tmp_path):
    with pytest.raises(NotFoundError):
        read_run(tmp_path / "absent.run")
    (tmp_path / "latin.run").write_bytes(b"q Q0 \xe4 1 1 t\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_run(tmp_path / "latin.run")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be"):
        write_run(tmp_path / "file" / "a.run", {"q": ["a"]}, "t")


@pytest.mark.parametrize("bad", ["a b", "", "a\n"])
def test_an_id_that_would_break_the_format_is_refused(tmp_path, bad):
    with pytest.raises(InputError, match="white space"):
        write_run(tmp_path / "a.run", {"q": [bad]}, "t")
    with pytest.raises(InputError, match="white space"):
        write_qrels(tmp_path / "q.txt", {bad: {"d": 1}})
