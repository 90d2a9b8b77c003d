"""An experiment's report as one HTML file: no script, no network."""

from collections.abc import Iterator, Sequence

from reqall.core.metrics import evaluate
from reqall.core.significance import interval
from reqall.core.version import __version__
from reqall.experiments.charts import Bar, Line, bars, colour, differences, legend, lines, scatter
from reqall.experiments.latency import TOTAL, latencies
from reqall.experiments.markup import Markup, element, joined
from reqall.experiments.report import SIGNIFICANT, Report

SHOWN = 8
"""Systems that charts show: the baseline and the best of the others; tables hold all."""

DEPTHS = (5, 10, 20, 50, 100, 200)

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the browser is told to allow: the style sheet in the file, and nothing else."""

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1d232b }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px } th, td { padding: .2rem .6rem; text-align: right }
th { border-bottom: 2px solid #9aa4b0 } td { border-bottom: 1px solid #e3e7ec } td.name, th.name { text-align: left }
td.best, td.significant { font-weight: 700 } .wide { overflow-x: auto } .chart { width: 100%; max-width: 52rem }
.chart text { font-size: 11px; fill: #44505e }
.legend { list-style: none; padding: 0; font-size: 13px } .key { display: inline-block; width: .8em; height: .8em;
margin-right: .5em } p.note { color: #5c677d; max-width: 52rem }
"""


def page(report: Report) -> str:
    """Return the whole file."""
    shown = _shown(report)
    colours = {system: colour(number) for number, system in enumerate(shown)}
    title = f"Experiment: {report.metrics[0]}"
    head = element(
        "head",
        Markup(f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        element("title", title),
        element("style", Markup(_STYLE)),
    )
    parts = (_overview(report), _bars(report, colours), _queries(report, shown), _curves(report, colours))
    more = (_speed(report, colours), _all_comparisons(report), _tuning(report))
    body = element("body", element("h1", title), *parts, *more, element("p", f"reqall {__version__}", class_="note"))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _shown(report: Report) -> list[str]:
    place, metric = report.places[-1], report.metrics[0]
    others = [name for name in report.systems_at(place) if name != report.baseline]
    best = sorted(others, key=lambda name: -report.value(place, name, metric))[: SHOWN - 1]
    return [report.baseline, *(name for name in others if name in best)]


def _overview(report: Report) -> Markup:
    rows: list[list[Markup]] = []
    for place in report.places:
        systems = report.systems_at(place)
        best = {metric: max(report.value(place, name, metric) for name in systems) for metric in report.metrics}
        for system in systems:
            cells = [_name(place), _name(system)]
            for metric in report.metrics:
                value = report.value(place, system, metric)
                cells.append(element("td", f"{value:.4f}", class_="best" if value == best[metric] else None))
            rows.append([*cells, *_comparison(report, report.metrics[0], place, system)])
    note = (
        f"Δ is {report.metrics[0]} less that of {report.baseline}, with its interval of 95 % (bootstrap over queries);"
        " p is that of the paired randomisation test, two-sided, after Holm's correction; w/t/l are queries won, tied"
        f" and lost. Rankings have a depth of {report.depth}; a query without results counts as 0."
    )
    queries = ", ".join(f"{each.name} ({len(each.queries)} queries)" for each in report.collections)
    headings = ("collection", "pipeline", *report.metrics, "Δ", "95 %", "p", "w/t/l")
    return joined(element("p", queries), _table(headings, rows, names=2), element("p", note, class_="note"))


def _bars(report: Report, colours: dict[str, str]) -> Markup:
    metric = report.metrics[0]
    groups: list[tuple[str, list[Bar]]] = []
    for place in report.places:
        group: list[Bar] = []
        for system in (name for name in colours if name in report.systems_at(place)):
            value = report.value(place, system, metric)
            low, high = interval(report.parts(place, system, metric))
            title = f"{place}, {system}: {value:.4f} ({low:.4f} to {high:.4f})"
            group.append(Bar(system, value, low, high, colours[system], title))
        groups.append((place, group))
    note = "With the interval of 95 % of each value. Intervals that overlap say little: see p, which is paired."
    key = legend(list(colours.items()))
    return joined(element("h2", f"{metric} per collection"), key, bars(groups), element("p", note, class_="note"))


def _queries(report: Report, shown: Sequence[str]) -> Markup:
    metric = report.metrics[0]
    charts: list[Markup] = []
    for system in shown:
        rows = list(_differences(report, system, metric)) if system != report.baseline else []
        if any(value for _, value in rows):
            charts += [element("h3", f"{system} less {report.baseline}"), differences(rows)]
    return joined(element("h2", f"{metric} per query"), *charts) if charts else Markup()


def _differences(report: Report, system: str, metric: str) -> Iterator[tuple[str, float]]:
    for collection in report.collections:
        found = report.outcomes[collection.name]
        if system in found:
            own, others = (found[name].scores.per_query[metric] for name in (system, report.baseline))
            for query in collection.queries:
                yield f"{collection.name} {query.id}: {query.text[:200]}", own[query.id] - others[query.id]


def _curves(report: Report, colours: dict[str, str]) -> Markup:
    depths = [depth for depth in DEPTHS if depth <= report.depth] or [report.depth]
    metrics = [f"Recall@{depth}" for depth in depths]
    drawn: list[Line] = []
    for system, shade in colours.items():
        scores = [
            evaluate(report.outcomes[c.name][system].searched.run, c.qrels, metrics).means for c in report.collections
        ]
        points = [(depth, sum(s[m] for s in scores) / len(scores)) for depth, m in zip(depths, metrics, strict=True)]
        drawn.append(Line(system, points, shade))
    title = element("h2", "Recall by depth of the pool")
    return joined(title, legend(list(colours.items())), lines(drawn, "documents in the pool"))


def _speed(report: Report, colours: dict[str, str]) -> Markup:
    found = {system: each for system in report.systems if (each := latencies(report, system))}
    if not found:
        return Markup()
    place, metric = report.places[-1], report.metrics[0]
    points = [
        Line(system, [(each[TOTAL].p50, report.value(place, system, metric))], colours.get(system, "#9aa4b0"))
        for system, each in found.items()
        if system in report.systems_at(place)
    ]
    stages = list(dict.fromkeys(stage for each in found.values() for stage in each if stage != TOTAL))
    rows = [
        [
            _name(system),
            *(
                element("td", f"{each[stage].p50:.1f} / {each[stage].p95:.1f}" if stage in each else "")
                for stage in (TOTAL, *stages)
            ),
        ]
        for system, each in found.items()
    ]
    note = "Milliseconds, p50 / p95. The first search of each collection is left out, as it loads models."
    return joined(
        element("h2", f"Latency and {metric}"),
        scatter(points, "ms per search, p50"),
        _table(("pipeline", TOTAL, *stages), rows, names=1),
        element("p", note, class_="note"),
    )


def _all_comparisons(report: Report) -> Markup:
    rows = [
        [_name(metric), _name(place), _name(system), *_comparison(report, metric, place, system)]
        for metric, places in report.comparisons.items()
        for place, found in places.items()
        for system in found
    ]
    if not rows:
        return Markup()
    headings = ("metric", "collection", "pipeline", "Δ", "95 %", "p", "w/t/l")
    table = element("details", element("summary", f"{len(rows)} comparisons"), _table(headings, rows, names=3))
    return joined(element("h2", f"All metrics against {report.baseline}"), table)


def _tuning(report: Report) -> Markup:
    if not report.tuned:
        return Markup()
    rows = [[element("td", number), _name(name)] for number, name in enumerate(report.chosen, start=1)]
    return joined(element("h2", report.tuned), _table(("fold", "chosen with the other folds"), rows, names=0))


def _comparison(report: Report, metric: str, place: str, system: str) -> list[Markup]:
    found = report.comparisons[metric][place].get(system)
    if found is None:
        return [element("td")] * 4
    return [
        element("td", f"{found.difference:+.4f}"),
        element("td", f"{found.low:+.3f} to {found.high:+.3f}"),
        element("td", f"{found.adjusted:.4f}", class_="significant" if found.adjusted < SIGNIFICANT else None),
        element("td", f"{found.wins}/{found.ties}/{found.losses}"),
    ]


def _name(text: str) -> Markup:
    return element("td", text, class_="name")


def _table(headings: Sequence[str], rows: Sequence[Sequence[Markup]], names: int) -> Markup:
    """Return a table; the first `names` columns are aligned to the left."""
    head = [element("th", text, class_="name" if at < names else None) for at, text in enumerate(headings)]
    body = element("tbody", *(element("tr", *cells) for cells in rows))
    return element("div", element("table", element("thead", element("tr", *head)), body), class_="wide")
