"""Starts the process in which a plugin is tried, and says in words how it ended."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from reqall.plugin_check.inside import TOLD, Task
from reqall.plugin_check.report import Report

_POLL_SECONDS = 0.05
_OUTPUT_LINES = 20
_FRAMES = 6


def try_plugin(name: str, options: Mapping[str, dict[str, Any]], timeout: float) -> Report:
    """Try a plugin in a process of its own, which is ended when it gives no sign of life for `timeout` seconds.

    `options` are by component and name. The process sees the modules and the environment that this one does.
    """
    with tempfile.TemporaryDirectory(prefix="reqall-check-", ignore_cleanup_errors=True) as folder:
        told, printed = Path(folder) / TOLD, Path(folder) / "printed.txt"
        told.touch()
        with printed.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter
                # -P: what lies in the working directory is no plugin here either.
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "reqall.plugin_check.inside",
                    Task(name, folder, timeout, {**options}).argument(),
                ],
                env={
                    **os.environ,
                    "PYTHONPATH": _paths(),
                    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                    "HYPOTHESIS_STORAGE_DIRECTORY": folder,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            is_silent = _watch(process, told, timeout)
        report = Report.read(told)
        if is_silent or process.returncode or not report.has_finished:
            report.ended = f"it gave no sign of life for {timeout:g} s" if is_silent else _death(process.returncode)
            report.output = _last_words(printed.read_text(encoding="utf-8", errors="replace"))
        return report


def _last_words(printed: str) -> str:
    """Return the innermost frames of the last traceback of faulthandler, else the last lines that were printed."""
    head, mark, frames = printed.rpartition("(most recent call first):\n")
    return "\n".join(frames.splitlines()[:_FRAMES] if mark else head.splitlines()[-_OUTPUT_LINES:])


def _paths() -> str:
    return os.pathsep.join(path or str(Path.cwd()) for path in sys.path)


def _watch(process: "subprocess.Popen[bytes]", told: Path, timeout: float) -> bool:
    """Wait for the end; a process that tells nothing new for so long is ended, and True is returned."""
    size, since = -1, time.monotonic()
    try:
        while process.poll() is None:
            if (now := told.stat().st_size) != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > timeout:
                return True
            time.sleep(_POLL_SECONDS)
        return False
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process and what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _death(code: int) -> str:
    """Say how a process died before its time."""
    if code >= 0:
        return f"it ended its process with exit code {code}"
    with suppress(ValueError):
        return f"it crashed with {signal.Signals(-code).name} ({signal.strsignal(-code)})"
    return f"it crashed with signal {-code}"
