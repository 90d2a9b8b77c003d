"""Which tools a server offers: every definition costs the client's model context in each conversation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reqall.core.errors import InputError
from reqall.core.protocols import SourceTool
from reqall.core.wording import did_you_mean, one_of

LEAN = "lean"
"""The toolset of those that every other task goes through, whatever group they are of."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Toolsets and single tools that are offered, then those that are not; nothing named = all."""

    toolsets: Sequence[str] = ()
    tools: Sequence[str] = ()
    without: Sequence[str] = ()


ALL = Selection()


def chosen(tools: Iterable[SourceTool], selection: Selection) -> list[SourceTool]:
    """Keep the selected tools, in their order. Raises InputError for a name that no tool and no toolset has."""
    tools = list(tools)
    names, groups = [tool.name for tool in tools], sorted({LEAN, *(tool.toolset for tool in tools)})
    for kind, given, known in (
        ("toolset", selection.toolsets, groups),
        ("tool", (*selection.tools, *selection.without), names),
    ):
        for name in given:
            if name not in known:
                raise InputError(
                    f"there is no {kind} {name!r}{did_you_mean(name, known)}", f"there are {one_of(known, 99)}"
                )
    everything = not selection.toolsets and not selection.tools
    return [
        tool
        for tool in tools
        if (everything or tool.name in selection.tools or _is_in(tool, selection.toolsets))
        and tool.name not in selection.without
    ]


def _is_in(tool: SourceTool, toolsets: Sequence[str]) -> bool:
    return tool.toolset in toolsets or (tool.lean and LEAN in toolsets)
