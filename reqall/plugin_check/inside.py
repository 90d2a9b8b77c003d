"""What runs in the process in which a plugin is tried: load it, build its components, run their laws.

Its one argument is a `Task` in JSON. What comes of it is written to the task's folder, line by line.
"""

import faulthandler
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reqall.app import BUILT_INS
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.host import PluginHost
from reqall.core.plugin import Offer, Plugin, is_called
from reqall.plugin_check.building import Built, build, lend, tried
from reqall.plugin_check.laws import run_laws
from reqall.plugin_check.report import Teller

TOLD = "told.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be tried: a plugin, a distribution or one of reqall's own components; `options` by component."""

    name: str
    folder: str
    timeout: float
    options: dict[str, dict[str, Any]]

    def argument(self) -> str:
        """Write it as an argument of a process."""
        return json.dumps(asdict(self))


def run(task: Task) -> None:
    """Try the plugin."""
    folder = Path(task.folder)
    teller = Teller(folder / TOLD, task.timeout)
    teller.doing("while it was imported")
    found, offers = select(PluginHost(BUILT_INS, allowed=[task.name]), task.name)
    for plugin in found:
        teller.plugin(plugin)
    database, environment = Database(folder / "catalog.db"), Environment()
    ready = []
    for number, offer in enumerate(offers):
        teller.doing(f"while its {offer.kind} {offer.registration.name!r} was built")
        own = folder / str(number)
        own.mkdir()
        given = task.options.get(offer.registration.name, {})
        outcome = (
            tried(offer, "FAILED", offer.reason)
            if offer.reason
            else build(offer, given, environment, lend(own, database))
        )
        if isinstance(outcome, Built):
            ready.append(outcome)
        else:
            teller.component(outcome)
    run_laws(ready, folder, teller)
    database.close()
    teller.doing("at the end of its process")
    teller.finished()


def select(host: PluginHost, name: str) -> tuple[list[Plugin], list[Offer]]:
    """Find the plugins of a name, else those of reqall's own that offer a component of it; and what is to be tried."""
    offers = [*host.offers(), *host.rivals()]
    if found := [plugin for plugin in host.plugins if is_called(plugin, name)]:
        return found, [offer for offer in offers if offer.plugin in found]
    offers = [offer for offer in offers if offer.registration.name == name]
    return [plugin for plugin in host.plugins if any(offer.plugin is plugin for offer in offers)], offers


if __name__ == "__main__":
    faulthandler.enable()
    run(Task(**json.loads(sys.argv[1])))
