"""On a platform without some wheels reqall still works on what there is, and says what is missing."""

import json
import subprocess
import sys

import pytest


def run(settings, missing: str, *arguments: str):
    """Run the command line in a process to which a package is not there."""
    script = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['reqall', *{list(arguments)!r}];"
        " from reqall.cli import main; main()"
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, env=settings, capture_output=True, text=True, encoding="utf-8", check=False, timeout=100
    )


@pytest.mark.parametrize("missing", ["onnxruntime", "sqlite_vec"])
def test_sync_search_and_check_do_without(empty_home, missing):
    synced = run(empty_home, missing, "sync", "ADS", "--json")
    assert synced.returncode == 0, synced.stderr
    assert json.loads(synced.stdout)["embedded"] == 0
    found = run(empty_home, missing, "search", "time synchronisation", "-p", "ADS", "--json")
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert "ADS-SYSR-22" in [hit["document_key"] for hit in answer["hits"]]
    assert any(missing.replace("_", "-") in warning for warning in answer["warnings"])
    checked = run(empty_home, missing, "check")
    assert checked.returncode == 1
    assert f"problem {missing}" in checked.stdout
    alone = run(empty_home, missing, "search", "time synchronisation", "-p", "ADS", "--pipeline", "vector")
    assert alone.returncode == 1
    assert "not installed" in alone.stderr
    assert "Traceback" not in alone.stderr
