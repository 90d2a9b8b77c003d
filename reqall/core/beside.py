"""Work on a thread of its own whose error is raised where it is waited for."""

import threading
from collections.abc import Callable


class Beside(threading.Thread):
    """A daemon thread, which never keeps a process alive."""

    def __init__(self, work: Callable[[], object]) -> None:
        """Do nothing before `start`."""
        super().__init__(name="beside", daemon=True)
        self._work = work
        self._error: Exception | None = None

    def run(self) -> None:
        """Do the work and keep its error."""
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - raised by `ended`
            self._error = error

    def ended(self) -> None:
        """Wait for the end, and raise the error that there was."""
        self.join()
        if self._error is not None:
            raise self._error
