"""The simulator's switches as JSON: checked when they come in, readable when they go out."""

import re
from dataclasses import fields
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, create_model

from reqall.testing.jama_simulator.clock import Clock, parse_jama_time
from reqall.testing.jama_simulator.faults import FAILURE_WORDS, Failure, Faults

# A hook is code, and failures have an endpoint of their own.
_NO_JSON = ("before_page", "fail_next")
_SETTABLE = [one for one in fields(Faults) if not one.name.startswith("_") and one.name not in _NO_JSON]


def checked_pattern(text: str) -> str:
    """Return a regular expression as it is. Raises ValueError when it is none."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text


def _moment(text: str) -> str:
    parse_jama_time(text)
    return text


def _kind(kind: int | str) -> int | str:
    if not (kind in FAILURE_WORDS if isinstance(kind, str) else 400 <= kind <= 599):  # noqa: PLR2004 - HTTP's errors
        raise ValueError(f"a failure is a status from 400 to 599 or one of {', '.join(FAILURE_WORDS)}")
    return kind


Pattern = Annotated[str, AfterValidator(checked_pattern)]
_NARROWER: dict[str, Any] = {
    "fail_path": Pattern,
    "forbidden_paths": list[Pattern],
    "relationship_history_since": Annotated[str, AfterValidator(_moment)],
    "rate_limit_per_second": Annotated[int, Field(ge=0)] | None,
    "page_delay": Annotated[float, Field(ge=0)],
    "slow_seconds": Annotated[float, Field(ge=0)],
}
_FIELDS: dict[str, Any] = {one.name: (_NARROWER.get(one.name, one.type), None) for one in _SETTABLE}
_Switches: type[BaseModel] = create_model("_Switches", __config__=ConfigDict(extra="forbid"), **_FIELDS)


class Failures(BaseModel):
    """Failures for the next requests whose path matches."""

    model_config = ConfigDict(extra="forbid")

    kinds: Annotated[list[Annotated[int | str, AfterValidator(_kind)]], Field(min_length=1)]
    path: Pattern = Field(default="", description="Regular expression; empty: any request but those for tokens")


class Before(BaseModel):
    """The page before which edits are made: its path, and its `startAt` or `lastId`."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[Pattern, Field(min_length=1)]
    start: int | None = Field(default=None, description="Without it the next page, wherever it starts")


class ClockSetting(BaseModel):
    """A new time for the world: a moment at which its clock stops, or seconds to go forward."""

    model_config = ConfigDict(extra="forbid")

    set: AwareDatetime | None = Field(default=None, description="Stop the clock here")
    advance: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Seconds to go forward")

    def apply(self, clock: Clock) -> None:
        """Set the clock, then move it."""
        if self.set is not None:
            clock.set(self.set)
        clock.advance(timedelta(seconds=self.advance).total_seconds())


def switches_from(body: dict[str, Any]) -> dict[str, Any]:
    """Return the switches that a JSON object sets. Raises pydantic's ValidationError."""
    return _Switches.model_validate(body).model_dump(exclude_unset=True)


def shown_switches(faults: Faults) -> dict[str, Any]:
    """Return every switch with its present value, as JSON data."""
    shown = {one.name: getattr(faults, one.name) for one in _SETTABLE}
    entries = [one if isinstance(one, Failure) else Failure(one) for one in faults.fail_next]
    return {**shown, "fail_next": [{"kind": one.kind, "path": one.path} for one in entries]}
