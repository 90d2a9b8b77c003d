"""Deployment settings: process environment, then the user's `.env`, then defaults.

Nothing is ever read from the working directory.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reqall.core.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def config_folder() -> Path:
    """Return the user's configuration folder of reqall (REQALL_HOME overrides it)."""
    import platformdirs

    home = os.environ.get("REQALL_HOME")
    return Path(home) if home else Path(platformdirs.user_config_dir("reqall", appauthor=False))


def data_folder() -> Path:
    """Return the folder for databases (REQALL_HOME overrides it)."""
    import platformdirs

    home = os.environ.get("REQALL_HOME")
    return Path(home) if home else Path(platformdirs.user_data_dir("reqall", appauthor=False))


class MissingVariableError(ConfigError):
    """A `${VAR}` without default that is set nowhere."""

    def __init__(self, name: str, file: Path) -> None:
        """Name the variable and the places where it can be set."""
        super().__init__(f"{name} is not set", f"set it in the environment or in {file}")
        self.name = name


class Environment(Mapping[str, str]):
    """Variables with their origin; an empty value counts as not set. `emptied` names those of the process."""

    def __init__(self, process: Mapping[str, str] | None = None, file: Path | None = None) -> None:
        """Read `process` (default: os.environ) and `file` (default: the user's `.env`)."""
        self.file = file or config_folder() / ".env"
        given = os.environ if process is None else process
        self._process = {name: value for name, value in given.items() if value}
        self.emptied = frozenset(given) - frozenset(self._process)
        self._file = _read(self.file)

    def __getitem__(self, name: str) -> str:
        """Return the value with the highest precedence."""
        if name in self._process:
            return self._process[name]
        return self._file[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter({**self._file, **self._process})

    def __len__(self) -> int:
        """Count the names."""
        return len({**self._file, **self._process})

    def origin(self, name: str) -> str:
        """Say where a value comes from."""
        if name in self._process:
            return "environment"
        return str(self.file) if name in self._file else "not set"

    def expand(self, value: Any) -> Any:
        """Replace every `${VAR}` and `${VAR:-default}` in strings, lists and mappings.

        Raises MissingVariableError.
        """
        if isinstance(value, str):
            return _VARIABLE.sub(self._replace, value)
        if isinstance(value, list):
            return [self.expand(item) for item in value]
        if isinstance(value, dict):
            return {key: self.expand(item) for key, item in value.items()}
        return value

    def _replace(self, match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        found = self.get(name)
        if found is None and default is None:
            raise MissingVariableError(name, self.file)
        return default if found is None else found


def is_reference(value: object) -> bool:
    """Tell whether a value is nothing but one `${VAR}`; a default that is not empty makes it a literal."""
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return match is not None and not match["default"]


def has_variables(value: object) -> bool:
    """Tell whether a value is a string with a `${VAR}` in it."""
    return isinstance(value, str) and _VARIABLE.search(value) is not None


def variable_names(value: Any) -> list[str]:
    """List the variables in a value, in lists and mappings too."""
    if isinstance(value, str):
        return [match["name"] for match in _VARIABLE.finditer(value)]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [name for item in items for name in variable_names(item)]


def _read(file: Path) -> dict[str, str]:
    try:
        if not file.is_file():
            return {}
        from dotenv import dotenv_values

        values = dotenv_values(file, interpolate=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {type(error).__name__}", "make it a readable UTF-8 file") from error
    return {name: value for name, value in values.items() if value}
