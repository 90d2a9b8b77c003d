"""What a trial tells: lines of JSON that the tried process writes, so that they outlive a crash of it."""

import faulthandler
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reqall.core.plugin import Plugin

Verdict: TypeAlias = Literal["PASSED", "FAILED", "BUILT", "NOT CHECKED"]


_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Broken:
    """A law that a component breaks, and how that showed."""

    law: str
    message: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one component; `reason` says why its laws were not all run."""

    kind: str
    name: str
    verdict: Verdict
    laws: int = 0
    skipped: int = 0
    broken: tuple[Broken, ...] = ()
    reason: str = ""


@dataclass
class Report:
    """What came of a plugin; `ended` says how its process died, and `doing` when; `output` is what it printed last."""

    plugins: list[Plugin] = field(default_factory=list)
    components: list[Tried] = field(default_factory=list)
    doing: str = ""
    has_finished: bool = False
    ended: str = ""
    output: str = ""

    @property
    def has_failed(self) -> bool:
        """Tell whether anything is wrong with the plugin."""
        unwell = any(plugin.state != "loaded" for plugin in self.plugins)
        return bool(self.ended) or unwell or any(tried.verdict == "FAILED" for tried in self.components)

    @classmethod
    def read(cls, file: Path) -> "Report":
        """Read what a process has told so far; a line that it could not finish is left out."""
        found = cls()
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                found.take(json.loads(line))
        return found

    def take(self, line: dict[str, Any]) -> None:
        """Take in one line."""
        value = line["value"]
        match line["what"]:
            case "doing":
                self.doing = value
            case "plugin":
                self.plugins.append(Plugin(**{**value, "notices": tuple(value["notices"])}))
            case "component":
                broken = tuple(Broken(**each) for each in value["broken"])
                self.components.append(Tried(**{**value, "broken": broken}))
            case "finished":
                self.has_finished = True


class Teller:
    """Writes the lines, each at once."""

    def __init__(self, file: Path, timeout: float) -> None:
        """Append to a file; before `timeout` seconds without a new line have passed, print where the process is."""
        self._file = file
        self._timeout = timeout

    def doing(self, what: str) -> None:
        """Say what begins now; also a sign of life."""
        self._write("doing", what)
        faulthandler.dump_traceback_later(_SHARE * self._timeout)

    def plugin(self, plugin: Plugin) -> None:
        """Say what came of loading it."""
        self._write("plugin", asdict(plugin))

    def component(self, tried: Tried) -> None:
        """Say what came of a component."""
        self._write("component", asdict(tried))

    def finished(self) -> None:
        """Say that nothing comes any more: the process ends as it should."""
        self._write("finished", True)

    def _write(self, what: str, value: Any) -> None:
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"what": what, "value": value}) + "\n")
