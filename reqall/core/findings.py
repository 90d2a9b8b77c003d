"""What a check found: a line each, with a few examples."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["problem", "note"]

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found; `examples` are ids, never texts. A note needs no repair."""

    level: Level
    subject: str
    message: str
    examples: tuple[str, ...] = ()


@dataclass
class Findings:
    """The findings of one check, in order."""

    listed: list[Finding] = field(default_factory=list)

    def problem(self, subject: str, message: str) -> None:
        """Add a problem."""
        self.listed.append(Finding("problem", subject, message))

    def note(self, subject: str, message: str) -> None:
        """Add a note."""
        self.listed.append(Finding("note", subject, message))

    def problems(self, subject: str, message: str, keys: Collection[str | int]) -> None:
        """Add a problem with its number in the place of `{}`, if there is any."""
        self._count("problem", subject, message, keys)

    def notes(self, subject: str, message: str, keys: Collection[str | int]) -> None:
        """Add a note with its number in the place of `{}`, if there is any."""
        self._count("note", subject, message, keys)

    def _count(self, level: Level, subject: str, message: str, keys: Collection[str | int]) -> None:
        if keys:
            examples = tuple(sorted(map(str, keys))[:EXAMPLES])
            self.listed.append(Finding(level, subject, message.format(len(keys)), examples))
