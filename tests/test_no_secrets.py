"""After a run with faults neither a token nor the secret stands anywhere that reqall leaves something."""

import logging
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import SourceAuthError
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

PROJECT = "TNY"


def test_logs_database_export_and_errors_hold_no_secret(empty_home, caplog):
    caplog.set_level(logging.DEBUG)
    told = []
    with JamaSimulator(project=tiny_project(requirements=60)) as jama:
        settings = empty_home | {
            "JAMA_URL": jama.url,
            "JAMA_CLIENT_ID": jama.client_id,
            "JAMA_CLIENT_SECRET": jama.client_secret,
            "REQALL_LOG_LEVEL": "DEBUG",
        }
        app = App(Overrides(), Environment(settings, Path(settings["REQALL_HOME"]) / ".env"))
        jama.faults.fail("reset", "truncated", "html500", path="abstractitems")
        jama.faults.revoke_tokens()
        told.append(str(app.sync(PROJECT)))
        jama.faults.licence_missing = True
        with pytest.raises(SourceAuthError) as refused:
            app.sync(PROJECT)
        told += traceback.format_exception(refused.value)
        jama.faults.licence_missing = False
        app.close()
        for command in (["export", PROJECT], ["check", "--live"], ["sync", PROJECT, "--json"], ["jobs", "--json"]):
            process = subprocess.run(
                [sys.executable, "-m", "reqall", *command],
                env=settings,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=100,
            )
            told += [process.stdout, process.stderr]
        secrets = {jama.client_secret, *jama.tokens}
        assert jama.writes == []
    left = [path.read_bytes() for path in Path(settings["REQALL_HOME"]).rglob("*") if path.is_file()]
    assert len(secrets) > 1
    assert any(left)
    for secret in secrets:
        assert secret not in "\n".join(told)
        assert secret not in caplog.text
        assert not any(secret.encode() in content for content in left)
