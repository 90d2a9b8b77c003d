"""Install the distributions of examples/ into this environment, run their tests, and remove them again.

    python scripts/examples.py [--kind KIND]

They are installed together, beside reqall: so they must get on with each other. Then a package that
`reqall new-plugin` writes goes through the commands of its own README. Whatever came is uninstalled at
the end, and neither pip nor reqall may name it any more.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent
PIP = ("pip", "--disable-pip-version-check")

Versions = Mapping[str, str]
"""What is installed: versions by the names of distributions."""


class Run:
    """Runs commands of this environment, tells each with its seconds, and ends at the first that fails."""

    def __init__(self, home: str) -> None:
        """Keep what reqall writes in `home`; a plugin that cannot be loaded is an error."""
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_"))},
            "PATH": os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", "")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "REQALL_HOME": home,
            "REQALL_STRICT_PLUGINS": "1",
        }

    def __call__(self, *command: str, cwd: Path = ROOT, expect: str = "") -> str:
        """Run one; its output is returned, and must hold `expect`."""
        begun = time.monotonic()
        words = [str(SCRIPTS / command[0]), *command[1:]]
        done = subprocess.run(  # noqa: S603 - the commands of this script, and of a README that reqall wrote
            words, cwd=cwd, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        print(f"{time.monotonic() - begun:6.1f} s  {shlex.join(command)}", flush=True)
        if done.returncode or expect not in done.stdout:
            wanted = f"; {expect!r} was to be in its output" if expect else ""
            sys.exit(f"{done.stdout}{done.stderr}\nfailed in {cwd}: {shlex.join(command)}{wanted}")
        return done.stdout

    def suite(self, folder: Path, *command: str) -> None:
        """Run the tests of a package; what they print is shown as it comes, as they may take minutes."""
        print(f"          {folder.name}: {shlex.join(command)}", flush=True)
        words = [str(SCRIPTS / command[0]), *command[1:]]
        if subprocess.run(words, cwd=folder, env=self._environment, stdin=subprocess.DEVNULL, check=False).returncode:  # noqa: S603 - as above
            sys.exit(f"the tests of {folder.name} fail")

    def installed(self) -> Versions:
        """Ask pip what is installed."""
        listed = json.loads(self(*PIP, "list", "--format", "json"))
        return {each["name"]: each["version"] for each in listed}

    def offering(self) -> set[str]:
        """Ask reqall whose components can be used."""
        listed = json.loads(self("reqall", "plugins", "--json"))
        return {each["distribution"] for each in listed["components"]}


@contextmanager
def as_it_was(run: Run) -> Iterator[None]:
    """Uninstall what comes meanwhile, and require that everything is as before."""
    before, offering = run.installed(), run.offering()
    try:
        yield
    finally:
        came = sorted(run.installed().keys() - before.keys())
        if came:
            run(*PIP, "uninstall", "--yes", *came)
    after = run.installed()
    changed = sorted({name for name, _ in before.items() ^ after.items()})
    if changed:
        sys.exit(f"the environment is not as it was: {', '.join(changed)}; delete it and run `make test` again")
    if still := run.offering() ^ offering:
        sys.exit(f"reqall does not name the same plugins as before: {', '.join(sorted(still))}")


def check_examples(run: Run, folders: Sequence[Path]) -> None:
    """Install all examples at once, see that reqall offers what they bring, and run their tests."""
    with as_it_was(run):
        run(*PIP, "install", "--quiet", *(f"{folder}[test]" for folder in folders))
        run(*PIP, "check")
        if missing := {folder.name for folder in folders} - run.offering():
            sys.exit(f"reqall offers nothing of {', '.join(sorted(missing))}")
        for folder in folders:
            run.suite(folder, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
        run.suite(ROOT / "examples" / "together", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")


def check_template(run: Run, kind: str, folder: Path) -> None:
    """Write a package, and do what its README says, from install to uninstall."""
    name = "reqall-trial"
    with as_it_was(run):
        run("reqall", "new-plugin", kind, "trial", cwd=folder)
        package = folder / name
        install, suite, sync, search, uninstall = _commands(package / "README.md")
        run(*install, cwd=package)
        if name not in run.offering():
            sys.exit(f"reqall offers nothing of {name}")
        run.suite(package, *suite)
        run(*sync, cwd=package, expect="6 changed")
        run(*search, cwd=package, expect="EX-")
        run(*uninstall, "--yes", cwd=package)
        if name in run.installed():
            sys.exit(f"{name} is still installed")


def _commands(readme: Path) -> list[list[str]]:
    """Read the commands of a README's one block of a terminal."""
    (block,) = re.findall(r"```console\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    return [shlex.split(line) for line in block.splitlines()]


def main() -> None:
    """Check the examples, then the template."""
    parser = argparse.ArgumentParser(description="Install, test and remove the examples.")
    parser.add_argument("--kind", default="recaller", help="kind of the package that is written (default: recaller)")
    kind = parser.parse_args().kind
    folders = sorted(file.parent for file in (ROOT / "examples").glob("*/pyproject.toml"))
    if not folders:
        sys.exit(f"no examples under {ROOT / 'examples'}")
    with TemporaryDirectory() as home:
        run = Run(home)
        check_examples(run, folders)
        check_template(run, kind, Path(home))
    print(f"{len(folders)} examples and a new {kind} were installed, tested and removed")


if __name__ == "__main__":
    main()
