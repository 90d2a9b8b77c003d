"""An experiment file is read as a plan; every mistake is told at its line and column."""

import pytest

from reqall.core.errors import ConfigError
from reqall.experiments.file import read_experiment
from reqall.experiments.plan import Tune


@pytest.fixture
def read(lonely, tmp_path):
    def parse(text):
        file = tmp_path / "experiment.yaml"
        file.write_text(text, encoding="utf-8")
        return read_experiment(file, lonely.config, lonely.host, lonely.environment)

    return parse


@pytest.fixture
def mistakes(read):
    """The mistakes of a text, as `line:column: message`."""

    def collect(text):
        with pytest.raises(ConfigError) as caught:
            read(text)
        return [line.partition("experiment.yaml:")[2] for line in caught.value.message.splitlines()]

    return collect


def test_a_whole_file_becomes_a_plan(read, doors):
    plan = read(
        "collections: [doors]\nbaseline: default\nmetrics: [MAP, microF1@4]\ndepth: 50\n"
        "pipelines:\n  lexical: {}\n  grid:\n    base: rrf\n    vary:\n"
        "      fuse.with.k: [10, 60]\n      recall.0.weight: [0.5, 1.0, 2.0]\n"
        "tune: {folds: 3, metric: nDCG@10}\n"
    )
    assert list(plan.pipelines)[:3] == ["default", "lexical", "grid[fuse.with.k=10,recall.0.weight=0.5]"]
    assert len(plan.pipelines) == 2 + 6
    tried = plan.pipelines["grid[fuse.with.k=10,recall.0.weight=2.0]"]
    assert (tried.fuse.options, [arm.weight for arm in tried.recall]) == ({"k": 10}, [2.0, 1.0])
    assert tried.expand == plan.pipelines["default"].expand
    assert [folder.resolve() for folder in plan.folders] == [doors]
    assert (plan.metrics, plan.depth, plan.baseline) == (("MAP", "microF1@4"), 50, "default")
    assert plan.tune == Tune(3, "nDCG@10")


def test_mistakes_of_the_file_itself_are_told_together(mistakes):
    assert mistakes("pipelines:\n  default: {bas: lexical}\nmetric: [MAP]\ntune: {folds: 1}\n") == [
        "2:13: unknown key 'bas'; did you mean 'base'?",
        "3:1: unknown key 'metric'; did you mean 'metrics'?",
        "4:15: folds: input should be greater than or equal to 2",
    ]
    assert mistakes("[default]\n") == ["1:1: the file must be a mapping that holds `pipelines:`"]
    assert mistakes("pipelines: {default: {}, default: {}}\n") == ["1:26: 'default' stands here twice"]


def test_names_that_are_not_there_are_told_together(mistakes):
    found = mistakes(
        "collections: [no-such]\nbaseline: defualt\nmetrics: [nDCG]\npipelines:\n"
        "  default: {}\n  grid: {base: lexcal}\n  xyz: {}\ntune: {metric: Recal@5}\n"
    )
    assert [line.split(" (")[0] for line in found] == [
        "1:15: no folder 'no-such' here",
        "2:11: no pipeline 'defualt'; did you mean 'default'?",
        "3:11: unknown metric 'nDCG'",
        "6:16: no pipeline 'lexcal' in the configuration; did you mean 'lexical'?",
        "7:8: no pipeline 'xyz' in the configuration",
        "8:16: unknown metric 'Recal@5'",
    ]


def test_places_and_lists_of_a_grid_are_told(mistakes):
    found = mistakes(
        "pipelines:\n  default:\n    vary:\n      recall.7.weight: [1.0]\n      top_k: [10]\n"
        "      fuse.with.k: [10, 20, 10]\n      pin: []\n"
    )
    assert [line.split(":")[0] for line in found] == ["4", "5", "6", "7"]
    assert found[2] == "6:29: 10 stands here twice"
    many = ", ".join(str(number) for number in range(1, 102))
    (told,) = mistakes(f"pipelines: {{default: {{vary: {{fuse.with.k: [{many}], recall.0.weight: [{many}]}}}}}}\n")
    assert "stands for 10201 pipelines" in told


def test_a_value_that_its_pipeline_cannot_have_is_told_where_it_stands(mistakes):
    found = mistakes(
        "pipelines:\n  rrf:\n    vary:\n      fuse.with.k: [10, many]\n      fuse.with.kk: [1]\n"
        "      recall.0.weight: [1.0, -1.0]\n      recall.1.index: [meaning, meanin]\n"
    )
    places = {line[:4] for line in found}
    assert places == {"4:25", "5:7:", "6:30", "7:33"}
    assert any("did you mean 'k'?" in line for line in found)
    assert any("no index 'meanin' in this file; did you mean 'meaning'?" in line for line in found)


def test_mistakes_of_the_file_and_of_its_pipelines_are_told_together(mistakes):
    found = mistakes("metrics: [nDCG]\npipelines:\n  rrf: {vary: {fuse.with.k: [many]}}\n  lexcal: {}\n")
    assert {line.partition(": ")[0] for line in found} == {"1:11", "3:30", "4:11"}


def test_another_component_with_options_it_lacks_is_told(mistakes):
    (told,) = mistakes("pipelines:\n  default:\n    vary:\n      fuse: [{use: rff}]\n")
    assert told.startswith("4:14: ")
    assert "did you mean 'rrf'?" in told
