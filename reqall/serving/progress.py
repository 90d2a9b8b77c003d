"""Progress notifications of a call that takes longer."""

from typing import Any

from anyio import from_thread
from mcp.server.mcpserver import Context


class Progress:
    """Sends what a tool reports as progress notifications, from the tool's thread.

    The protocol wants numbers that only grow: a phase that counts from 0 again is counted on top, and news
    without a number add a trifle (modelcontextprotocol.io, utilities/progress).
    """

    def __init__(self, context: Context[Any, Any]) -> None:
        """Send to the client of one call."""
        self._context = context
        self._last: tuple[int, int, str] = (0, 0, "")
        self._before = 0.0
        self._sent = 0.0

    def __call__(self, done: int, total: int, message: str) -> None:
        """Send what is new; ends the call when its client has given it up."""
        from_thread.check_cancelled()
        if (done, total, message) == self._last:
            return
        if done < self._last[0]:
            self._before = self._sent
        self._last = (done, total, message)
        self._sent = max(self._before + done, self._sent + 0.001)
        whole = self._before + total if total else None
        from_thread.run(self._context.report_progress, self._sent, whole, message)
