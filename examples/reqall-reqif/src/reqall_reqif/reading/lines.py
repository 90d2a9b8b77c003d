"""Lines of text under construction, with the markers of lists before them."""

from dataclasses import dataclass, field

_DEEPEST_INDENT = 8


@dataclass(slots=True)
class Lines:
    """Takes pieces of text and ends of lines."""

    _lines: list[str] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _numbers: list[int | None] = field(default_factory=list)
    _markers: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return all lines so far."""
        self.end()
        return "\n".join(self._lines)

    def write(self, text: str, *, kept: bool = False) -> None:
        """Add text to the line; the line ends in it count only where they are `kept`."""
        if not kept:
            self._pieces.append(text)
            return
        first, *others = text.split("\n")
        self._pieces.append(first)
        for line in others:
            self.end(blank=True)
            self._pieces.append(line)

    def end(self, *, blank: bool = False) -> None:
        """Finish the line; an empty one stays only where it is meant to be `blank`."""
        words = " ".join("".join(self._pieces).split())
        self._pieces.clear()
        if words:
            self._lines.append(f"{self._start()}{words}")
        elif blank:
            self._lines.append("")

    def here(self) -> tuple[int, int]:
        """Return a mark of the place where the next piece comes."""
        return len(self._lines), len(self._pieces)

    def since(self, mark: tuple[int, int]) -> str:
        """Return what was written since a mark was made."""
        lines, pieces = mark
        return "".join([*self._lines[lines:], *self._pieces[pieces if lines == len(self._lines) else 0 :]])

    def open_list(self, *, numbered: bool) -> None:
        """Begin a list."""
        self._numbers.append(1 if numbered else None)

    def close_list(self) -> None:
        """End a list."""
        self._numbers.pop()

    def open_item(self) -> None:
        """Begin an item of the list that is open, if there is one."""
        number = self._numbers[-1] if self._numbers else None
        if number is not None:
            self._numbers[-1] = number + 1
        self._markers.append("- " if number is None else f"{number}. ")

    def close_item(self) -> None:
        """End an item."""
        self._markers.pop()

    def _start(self) -> str:
        """Return what stands before the words: the marker before an item's first line, else as many spaces."""
        if not self._markers:
            return ""
        marker = self._markers[-1]
        self._markers[-1] = " " * len(marker)
        return "  " * min(len(self._markers) - 1, _DEEPEST_INDENT) + marker
