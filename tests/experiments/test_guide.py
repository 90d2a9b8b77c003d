"""The experiment file of the guide is one that can be read."""

import re
from pathlib import Path

from reqall.experiments.file import read_experiment

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "compare-pipelines.md"


def test_the_experiment_file_of_the_guide_is_read(lonely, doors):
    (text,) = re.findall(r"```text\n(collections:.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    doors.rename(doors.parent / "aip-derived")
    file = doors.parent / "grid.yaml"
    file.write_text(text, encoding="utf-8")
    plan = read_experiment(file, lonely.config, lonely.host, lonely.environment)
    assert list(plan.pipelines)[:3] == ["default", "lexical", "grid[fuse.with.k=10,recall.0.weight=0.5]"]
    assert len(plan.pipelines) == 8
