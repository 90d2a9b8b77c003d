"""Builds a component as it is tried: with its defaults, with options that are given, and with a fake embedder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reqall.core.components import build_options, expand_options, references
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.errors import ReqallError
from reqall.core.plugin import Offer
from reqall.core.registration import ComponentConfig, Services
from reqall.plugin_check.report import Tried, Verdict
from reqall.testing.fake_reranker import SharedWordsReranker
from reqall.testing.fakes import HashingEmbedder

PREFIX = "ix_check"

_FAKE = "check"


@dataclass(frozen=True, slots=True)
class Built:
    """A component that can be built; `build` builds it anew."""

    offer: Offer
    component: Any
    build: Callable[[Services], Any]

    def tried(self, verdict: Verdict, reason: str = "") -> Tried:
        """Say what came of it."""
        return tried(self.offer, verdict, reason)


def tried(offer: Offer, verdict: Verdict, reason: str = "") -> Tried:
    """Say what came of a component."""
    return Tried(offer.kind, offer.registration.name, verdict, reason=reason)


def build(offer: Offer, given: Mapping[str, Any], environment: Environment, services: Services) -> Built | Tried:
    """Build a component, or say why that cannot be done."""
    registration, model = offer.registration, offer.registration.options
    options = dict.fromkeys((name for name, _ in references(model)), _FAKE) | dict(given)
    _, unset = expand_options(model, options, environment)
    missing = [name for name, field in model.model_fields.items() if field.is_required() and name not in options]
    if unset or missing:
        ways = " ".join(f"--with {registration.name}.{option}=VALUE" for option in (*unset, *missing))
        return tried(offer, "NOT CHECKED", f"it has options without a value; give {ways}")
    try:
        config = ComponentConfig.model_validate({"use": registration.name, "with": options})
        checked = build_options(registration, config, environment, f"{offer.kind} {registration.name!r}")
        component = registration.build(checked, services)
    except Exception as error:  # noqa: BLE001 - what a plugin raises is what is to be told
        text = error.message if isinstance(error, ReqallError) else f"{type(error).__name__}: {error}"
        return tried(offer, "FAILED", f"it cannot be built: {text}")
    if offer.kind == "source" and model.model_fields and not given:
        reason = "its laws walk a project many times: name a small one, "
        return tried(offer, "BUILT", f"{reason}--with {registration.name}.OPTION=VALUE")
    return Built(offer, component, lambda lent: registration.build(checked, lent))


def lend(folder: Path, database: Database) -> Services:
    """Make services whose embedder and reranker, by whatever name, are ones without a model."""
    return Services(
        "check", folder, PREFIX, database, lambda _name: HashingEmbedder(), lambda _config: SharedWordsReranker()
    )
