"""The modules of the guide on testing a plugin pass, as a reader would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "how-to"
MODULE = re.compile(r"^```python\n(# (\w+)\.py\n.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """The guide's modules, beside the plugin of the guide before it, installed as pip would leave it."""
    for page in ("write-a-plugin.md", "test-a-plugin.md"):
        for text, name in MODULE.findall((GUIDES / page).read_text(encoding="utf-8")):
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    info = tmp_path / "reqall_csv-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reqall-csv\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[reqall]\ncsv = reqall_csv\n", encoding="utf-8")
    return tmp_path


def test_the_guides_modules_pass(folder):
    modules = sorted(file.name for file in folder.glob("test_*.py"))
    assert len(modules) == 5
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "-ra", *modules],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for module in modules:
        assert re.search(rf"^{module} [.s]+ +\[", done.stdout, re.MULTILINE), module


def test_what_the_guide_shows_of_a_broken_law_is_what_it_says(folder):
    (shown,) = re.findall(r"^AssertionError: (.*)$", (GUIDES / "test-a-plugin.md").read_text("utf-8"), re.MULTILINE)
    module = folder / "test_csv_laws.py"
    text = module.read_text(encoding="utf-8")
    broken = text.replace("CsvSource(CsvOptions", "Changing(CsvOptions") + (
        "\n\nclass Changing(CsvSource):\n"
        "    walks = 0\n"
        "    def _document(self, row, project):\n"
        "        Changing.walks += 1\n"
        "        return super()._document({**row, 'name': row['name'] + '!' * (Changing.walks % 4 == 0)}, project)\n"
    )
    module.write_text(broken, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "two_walks_give", module.name],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert f"AssertionError: {shown}" in done.stdout
