"""One component of the file: its options with variables expanded, and what identifies it."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from reqall.core.config import ComponentConfig, model_problems
from reqall.core.environment import Environment, MissingVariableError, has_variables
from reqall.core.errors import ConfigError
from reqall.core.registration import PluginOptions, Reference, Registration, Stored


def expand_options(
    model: type[BaseModel], given: dict[str, Any], environment: Environment
) -> tuple[dict[str, Any], dict[str, MissingVariableError]]:
    """Expand what is given and what defaults name; the values, and the options left without one."""
    raw = dict(given)
    for name, info in model.model_fields.items():
        default = info.default.get_secret_value() if isinstance(info.default, SecretStr) else info.default
        if name not in raw and has_variables(default):
            raw[name] = default
    values: dict[str, Any] = {}
    unset: dict[str, MissingVariableError] = {}
    for name, value in raw.items():
        try:
            values[name] = environment.expand(value)
        except MissingVariableError as error:
            unset[name] = error
    return values, unset


def references(model: type[PluginOptions]) -> list[tuple[str, str]]:
    """List (option, kind) of the options that name another component of the file."""
    return [
        (name, marker.kind)
        for name, info in model.model_fields.items()
        for marker in info.metadata
        if isinstance(marker, Reference)
    ]


def build_options(
    registration: Registration[Any], config: ComponentConfig, environment: Environment, where: str
) -> Any:
    """Expand variables and validate: the options as `build` receives them. Raises ConfigError."""
    values, unset = expand_options(registration.options, config.options, environment)
    for name, missing in unset.items():
        raise ConfigError(f"{missing.message}, which {where} needs for {name!r}", missing.remedy)
    try:
        return registration.options.model_validate(values)
    except ValidationError as error:
        lines = [problem.message for problem in model_problems(error, (), registration.options)]
        raise ConfigError(
            f"{where}: {'; '.join(lines)}", "mend the option, or the variable that it is taken from"
        ) from error


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
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
