"""Runs the contracts of components under pytest, in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reqall.core.plugin import Offer
from reqall.plugin_check.building import Built
from reqall.plugin_check.report import Broken, Teller, Tried

if TYPE_CHECKING:
    import pytest

CLASSES: dict[str, type] = {}
"""The classes that the one test module takes; pytest collects from files only."""

_MODULE = "from reqall.plugin_check.laws import CLASSES\n\nglobals().update(CLASSES)\n"
_MESSAGE_LENGTH = 600


def run_laws(found: Sequence[Built], folder: Path, teller: Teller) -> None:
    """Run each component's laws and tell what came of it; where pytest is missing, tell that."""
    try:
        import pytest

        pytest.register_assert_rewrite("reqall.testing.contracts")
        from hypothesis import Phase, settings
    except ImportError as error:
        reason = f"its laws were not run, as {error.name} is missing: pip install 'reqall[testing]'"
        for built in found:
            teller.component(built.tried("BUILT", reason))
        return
    # The same examples in every run, and no time spent on which part of one breaks a law.
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    settings.register_profile("reqall-check", database=None, derandomize=True, phases=phases)
    settings.load_profile("reqall-check")
    for number, built in enumerate(found):
        CLASSES.clear()
        CLASSES["TestLaws"] = _laws_of(built)
        place = folder / f"laws{number}"
        place.mkdir()
        module, configuration = place / f"test_laws{number}.py", place / "pytest.ini"
        module.write_text(_MODULE, encoding="utf-8")
        configuration.write_text("[pytest]\n", encoding="utf-8")
        listener = Listener(built.offer, teller)
        arguments = ["-q", "-s", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
        arguments += ["-c", str(configuration), f"--rootdir={place}", f"--basetemp={place / 'temp'}", str(module)]
        code = int(pytest.main(arguments, plugins=[listener]))
        teller.component(listener.verdict(code))


class Listener:
    """A plugin of pytest that counts laws and keeps how they were broken."""

    def __init__(self, offer: Offer, teller: Teller) -> None:
        """Tell each law before it is tried: a crash is then known by its name."""
        self._offer = offer
        self._teller = teller
        self._passed = 0
        self._skipped = 0
        self._broken: list[Broken] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell which law comes."""
        kind, name = self._offer.kind, self._offer.registration.name
        self._teller.doing(f"in the law {nodeid.rpartition('::')[2]} of its {kind} {name!r}")

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        """Count a law that passed, and keep one that did not."""
        if report.failed:
            self._broken.append(Broken(report.nodeid.rpartition("::")[2], _message(report.longrepr)))
        elif report.skipped:
            self._skipped += 1
        elif report.when == "call":
            self._passed += 1

    def verdict(self, code: int) -> Tried:
        """Sum up; `code` is pytest's exit code, of which more than 1 is no verdict of a law."""
        kind, name = self._offer.kind, self._offer.registration.name
        if self._broken or code > 1 or not self._passed:
            reason = "" if self._broken else f"its laws could not be run: pytest ended with {code}"
            return Tried(kind, name, "FAILED", self._passed, self._skipped, tuple(self._broken), reason)
        return Tried(kind, name, "PASSED", self._passed, self._skipped)


def _laws_of(built: Built) -> type:
    """Derive a test class from the contracts of a component's kind and abilities."""
    import pytest

    from reqall.testing.contracts import FIXTURES, abilities_of, contract_for

    kind = built.offer.kind

    def provide(_laws: object) -> Any:
        return built.build if kind == "recaller" else built.component

    bases = (contract_for(kind), *abilities_of(built.component))
    unbounded = {"unbounded": True} if "unbounded" in built.offer.registration.traits else {}
    return type("TestLaws", bases, {FIXTURES[kind]: pytest.fixture(provide), **unbounded})


def _message(failure: Any) -> str:
    """Tell how a law was broken, without the traceback."""
    crash = getattr(failure, "reprcrash", None)
    text = str(crash.message if crash else failure).removeprefix("AssertionError: ")
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]} ..."
