"""One component of the file: its options with variables expanded, and what identifies it."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from reqall.core.environment import Environment, MissingVariableError, has_variables, variable_names
from reqall.core.errors import ConfigError, PluginError
from reqall.core.problems import Path_, Problem, model_problems
from reqall.core.registration import ComponentConfig, Nested, PluginOptions, Reference, Registration, Stored


def expand_options(
    model: type[BaseModel], given: dict[str, Any], environment: Environment
) -> tuple[dict[str, Any], dict[str, MissingVariableError]]:
    """Expand what is given and what defaults name; the values, and the options left without one."""
    # Variables of a component inside are its own: they are expanded when that is built.
    values: dict[str, Any] = {name: given[name] for name, _ in nested(model) if name in given}
    unset: dict[str, MissingVariableError] = {}
    for name, value in _templates(model, given).items():
        if name in values:
            continue
        try:
            values[name] = environment.expand(value)
        except MissingVariableError as error:
            unset[name] = error
    return values, unset


def _templates(model: type[BaseModel], given: dict[str, Any]) -> dict[str, Any]:
    """Return what is given, and the defaults that hold a variable."""
    templates = dict(given)
    for name, info in model.model_fields.items():
        default = info.default.get_secret_value() if isinstance(info.default, SecretStr) else info.default
        if name not in templates and has_variables(default):
            templates[name] = default
    return templates


def option_problems(
    error: ValidationError, path: Path_, model: type[BaseModel], given: dict[str, Any]
) -> list[Problem]:
    """Say what is wrong with options; of a value that is not written there, the variable it comes from."""
    templates = _templates(model, given)
    found = []
    for problem in model_problems(error, path, model):
        names = variable_names([templates.get(str(option)) for option in problem.path[len(path) :][:1]])
        source = f" (from the variable {', '.join(names)})" if names else ""
        found.append(Problem(problem.path, problem.message + source, problem.at_key))
    return found


def references(model: type[BaseModel]) -> list[tuple[str, str]]:
    """List (option, kind) of the options that name another component of the file."""
    return _marked(model, Reference)


def nested(model: type[BaseModel]) -> list[tuple[str, str]]:
    """List (option, kind) of the options that are a component of their own."""
    return _marked(model, Nested)


def _marked(model: type[BaseModel], kind: type[Reference] | type[Nested]) -> list[tuple[str, str]]:
    fields = model.model_fields.items()
    return [(name, mark.kind) for name, info in fields for mark in info.metadata if isinstance(mark, kind)]


def build_options(
    registration: Registration[Any], config: ComponentConfig, environment: Environment, where: str
) -> Any:
    """Expand variables and validate: the options as `build` receives them. Raises ConfigError, PluginError."""
    model = registration.options
    values, unset = expand_options(model, config.options, environment)
    if unset:
        names = list(dict.fromkeys(missing.name for missing in unset.values()))
        told = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not set"
        options = ", ".join(repr(name) for name in unset)
        raise ConfigError(f"{told}, which {where} needs for {options}", next(iter(unset.values())).remedy)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [problem.message for problem in option_problems(error, (), model, config.options)]
        remedy = "mend the option, or the variable that it is taken from"
    except Exception as error:  # noqa: BLE001 - a plugin's own validator may raise anything
        raise PluginError(f"{where}: {unchecked(registration, error)}", "report it to the plugin's author") from None
    # Raised out here, as pydantic's own error holds the values, and so perhaps a secret.
    raise ConfigError(f"{where}: {'; '.join(lines)}", remedy)


def unchecked(registration: Registration[Any], error: Exception) -> str:
    """Say that a plugin's own check of its options failed; not how, as that may hold their values."""
    return f"the options of {registration.name!r} cannot be checked: its own code raises {type(error).__name__}"


def digest(config: ComponentConfig) -> str:
    """Identify a component by what is written of it; variables count by name."""
    return hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:12]


def fingerprint(registration: Registration[Any], options: PluginOptions, *identities: str) -> str:
    """Identify what a component stores: name, index version, stored options, further identities.

    Neither the package's version nor a batch size nor a secret is part of it: an upgrade rebuilds
    nothing unless the component says so by its `index_version`.
    """
    stored = {
        name: getattr(options, name)
        for name, info in registration.options.model_fields.items()
        if any(isinstance(marker, Stored) for marker in info.metadata)
    }
    parts = [registration.name, registration.index_version, stored, *identities]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=_plain).encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump()
    # A set has no order of its own: sorted, it is the same in every process.
    return sorted(str(item) for item in value) if isinstance(value, (set, frozenset)) else str(value)
