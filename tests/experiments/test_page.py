"""The report in HTML: whole, without script or network, and safe from the texts it shows."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.experiments.charts import Bar, Line, bars, differences, lines, scatter
from reqall.experiments.markup import element, joined
from reqall.experiments.page import page

HOSTILE = '</title></svg><script>alert(1)</script><img src=x onerror="alert(2)">&\'"'
VOID = {"meta"}


class Reader(HTMLParser):
    """Notes elements and attributes, and that each element is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def report(collection_of, report_of):
    answers = {"q1": ["a"], HOSTILE: ["b"], "q3": ["a"]}
    runs = {
        "default": {"q1": ["a"], HOSTILE: ["x"], "q3": ["x", "a"]},
        HOSTILE: {"q1": ["x", "a"], HOSTILE: ["b"], "q3": ["a"]},
    }
    collection = collection_of(HOSTILE, answers, {HOSTILE: HOSTILE})
    return report_of({HOSTILE: runs}, [collection], tuned=HOSTILE, chosen=(HOSTILE,))


def test_a_hostile_text_is_shown_and_runs_nothing(report):
    read = Reader(page(report))
    assert {"script", "img", "iframe", "object", "link", "a", "base", "form"}.isdisjoint(read.names)
    assert not any(name.startswith("on") or name in ("href", "src", "srcset", "action") for name, _ in read.attributes)
    assert sum(HOSTILE in text for text in read.texts) > 10


def test_nothing_is_loaded_and_the_browser_is_told_so(report):
    text = page(report)
    assert "default-src 'none'" in dict(Reader(text).attributes).get("content", "")
    for word in ("http://", "https://", "url(", "@import", "<script", "javascript:"):
        assert word not in text


def test_charts_and_tables_are_there(report):
    read = Reader(page(report))
    # Bars, one system's differences, recall by depth, latency.
    assert read.names.count("svg") == 4
    headings = " ".join(read.texts)
    for part in ("per collection", "per query", "Recall by depth", "Latency", "All metrics against default"):
        assert part in headings


def test_values_of_the_page_are_those_of_the_report(report):
    texts = " ".join(Reader(page(report)).texts)
    assert f"{report.value(HOSTILE, HOSTILE, 'nDCG@10'):.4f}" in texts
    comparison = report.comparisons["MAP"][HOSTILE][HOSTILE]
    assert f"{comparison.difference:+.4f}" in texts
    assert f"{comparison.wins}/{comparison.ties}/{comparison.losses}" in texts


def test_one_pipeline_alone_has_a_page(collection_of, report_of):
    collection = collection_of("c", {"q1": ["a"]})
    read = Reader(page(report_of({"c": {"default": {"q1": ["a"]}}}, [collection])))
    assert "per query" not in " ".join(read.texts)


texts = st.text(max_size=12)


@given(texts, texts, texts)
def test_no_text_becomes_markup(name, value, inner):
    read = Reader(element("p", name, element("b", inner), title=value))
    assert read.names == ["p", "b"]
    plain = "".join(read.texts)
    assert plain == (name + inner).replace("\r\n", "\n").replace("\r", "\n") or plain == name + inner
    assert dict(read.attributes)["title"] == value


def numbers(svg, attribute):
    return [float(value) for name, value in Reader(svg).attributes if name == attribute]


shares = st.floats(0, 1)


@given(st.lists(st.lists(shares, min_size=1, max_size=4), min_size=1, max_size=4))
def test_bars_stay_inside_and_are_as_high_as_their_values(groups):
    drawn = bars([("g", [Bar("s", v, v, v, "#000", "t") for v in group]) for group in groups])
    full = numbers(bars([("g", [Bar("s", 1.0, 1.0, 1.0, "#000", "t")])]), "height")[0]
    expected = [value * full for group in groups for value in group]
    assert numbers(drawn, "height") == [pytest.approx(height, abs=0.01) for height in expected]
    assert all(0 <= x <= 720 for x in numbers(drawn, "x"))
    assert all(0 <= y <= 280 for y in numbers(drawn, "y"))


@given(st.lists(st.tuples(texts, st.floats(-1, 1)), max_size=20))
def test_differences_are_sorted_the_best_first(rows):
    read = Reader(differences(rows))
    shown = [float(text.rpartition(": ")[2]) for text in read.texts if ": " in text]
    assert shown == sorted(shown, reverse=True)
    assert len(numbers(differences(rows), "height")) == len(rows)


@given(st.lists(st.tuples(st.floats(0.001, 1e5), shares), min_size=1, max_size=6))
def test_points_stay_inside(points):
    for drawn in (scatter([Line("a", points, "#000")], "x"), lines([Line("a", sorted(points), "#000")], "x")):
        assert all(0 <= x <= 720 for x in numbers(drawn, "cx"))
        assert all(0 <= y <= 280 for y in numbers(drawn, "cy"))


def test_a_chart_of_nothing_is_drawn():
    for drawn in (bars([]), differences([]), lines([], "x"), scatter([], "x"), joined()):
        Reader(drawn)
