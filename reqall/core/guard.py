"""Calls a component on a thread of its own: one that fails is named, one that hangs is left behind.

Every stage of a search is called through a Guard, with one set of rules. A thread cannot be ended
from outside, so a call that hangs keeps its thread; until it returns the component is not called
again, and no further thread is lost to it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from reqall.core import errors
from reqall.core.errors import PluginError, ReqallError

T = TypeVar("T")

TIMEOUT_SECONDS = 30.0
"""How long a component may be silent: a cold model needs some seconds, MCP clients give up after 60."""

IDLE_SECONDS = 60.0

_REMEDY = "`reqall plugins` says which package it comes from; the log has the details"

BLAME = "see the log; tell the author of the package"
"""What is to be done about a component whose own code fails while it is built."""

_log = logging.getLogger("reqall.pipeline")

_Task: TypeAlias = tuple[Callable[[], None], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Component:
    """Who is called: the name that warnings give it, and the seconds that it may be silent."""

    name: str
    timeout: float = TIMEOUT_SECONDS


class Workers:
    """Daemon threads, kept for the next task; one that was idle for so many seconds ends.

    A thread keeps its connection to the database, so the one that worked last works next.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """Begin without any thread."""
        self._idle_seconds = idle_seconds
        self._idle: list[SimpleQueue[_Task]] = []
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """Begin `work` at once; `then` is called when its thread is free again. Neither may raise."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="reqall-component", daemon=True).start()
        inbox.put((work, then))

    def _serve(self, inbox: "SimpleQueue[_Task]") -> None:
        while (task := self._next(inbox)) is not None:
            work, then = task
            work()
            with self._lock:
                self._idle.append(inbox)
            then()
            del task, work, then  # an idle thread holds nothing of its last search

    def _next(self, inbox: "SimpleQueue[_Task]") -> _Task | None:
        try:
            return inbox.get(timeout=self._idle_seconds)
        except Empty:
            with self._lock:
                if inbox in self._idle:
                    self._idle.remove(inbox)
                    return None
            return inbox.get()  # it was chosen in this moment


class Call(Generic[T]):
    """One call that was begun."""

    def __init__(self, work: "Callable[[Call[T]], T]", timeout: float) -> None:
        """Hold the work; a Guard has it run."""
        self._work = work
        self._timeout = timeout
        self._lock = threading.Lock()
        self._release: Callable[[], None] | None = None
        self._has_ended = False
        self.begun = self._alive = time.monotonic()
        self.is_left = False
        self.returned = threading.Event()
        self.value: Any = None
        self.error: Exception | None = None

    def progress(self) -> None:
        """Tell, from within the work, that it goes on: the time to wait begins anew."""
        self._alive = time.monotonic()

    def when_left(self, release: Callable[[], None]) -> None:
        """Name, from within the work, what frees the resources that it holds, should nobody wait any longer."""
        with self._lock:
            if self.is_left:
                raise PluginError("nobody waits for this call any longer")
            self._release = release

    def run(self) -> None:
        """Do the work and keep what it returns or raises."""
        try:
            self.value = self._work(self)
        except Exception as error:  # noqa: BLE001 - for `result` to raise
            self.error = error
        except BaseException as error:  # noqa: BLE001 - sys.exit, or the panic of a native extension
            self.error = PluginError(f"it raised {type(error).__name__}")
        with self._lock:
            self._has_ended = True

    def result(self) -> T:
        """Wait for what the work returns, and raise what it raises; PluginError when it is silent for too long."""
        while not self.returned.wait(max(self._alive + self._timeout - time.monotonic(), 0)):
            if time.monotonic() >= self._alive + self._timeout and self._leave():
                raise PluginError(f"it did not answer within {round(self._timeout, 2):g} s")
        if self.error is not None:
            raise self.error
        value: T = self.value
        return value

    def _leave(self) -> bool:
        """Give the call up, unless it has ended in this moment."""
        with self._lock:
            self.is_left = not self._has_ended
            if self.is_left and self._release is not None:
                self._release()
            return self.is_left


class Guard:
    """Calls one component, `subject` in messages, and waits for it no longer than `timeout` seconds."""

    def __init__(self, component: Component, workers: Workers) -> None:
        """Let `workers` do the calls."""
        self.subject = component.name
        self.timeout = component.timeout
        self._workers = workers
        self._lock = threading.Lock()
        self._open: list[Call[Any]] = []

    def begin(self, work: Callable[[Call[T]], T], within: float = inf) -> Call[T]:
        """Begin a call; while an earlier one hangs, its result is a PluginError.

        `within` are the seconds that the search itself has left: the call may be silent for no longer.
        """
        call = Call(work, min(self.timeout, within))
        if (since := self.hangs()) is not None:
            call.error = PluginError(f"an earlier call of it has not returned for {call.begun - since:.0f} s")
            call.returned.set()
        else:
            with self._lock:
                self._open.append(call)
            self._workers.run(call.run, lambda: self._end(call))
        return call

    def hangs(self) -> float | None:
        """Return since when (monotonic seconds) a call hangs that nobody waits for any more; None where none does."""
        with self._lock:
            return min((call.begun for call in self._open if call.is_left), default=None)

    def _end(self, call: Call[Any]) -> None:
        with self._lock:
            self._open.remove(call)
        call.returned.set()

    def call(self, work: Callable[[], T]) -> T:
        """Call and wait. Raises whatever the work raises, and PluginError when it does not answer."""
        return self.begin(lambda _call: work()).result()

    def told(self, error: Exception) -> str:
        """Say what failed: our own errors in words; of others the kind alone, as their text may hold content."""
        if isinstance(error, ReqallError):
            return error.message
        _log.error("%s failed", self.subject, exc_info=error)
        return f"unexpected {type(error).__name__}; the log has the details"

    def failure(self, error: Exception, told: str) -> ReqallError:
        """Make an error that ends the search; it names the component, and is of the same kind if that is ours."""
        kind = type(error) if isinstance(error, ReqallError) and type(error) in vars(errors).values() else PluginError
        remedy = error.remedy if isinstance(error, ReqallError) else ""
        return kind(f"{self.subject}: {told}", remedy or _REMEDY)


@contextmanager
def blamed(message: str) -> Iterator[None]:
    """Turn whatever a plugin's own code raises, sys.exit too, into an error that names it."""
    try:
        yield
    except (ReqallError, KeyboardInterrupt):
        raise
    except BaseException as error:
        _log.error("%s", message, exc_info=error)
        raise PluginError(f"{message}: {type(error).__name__}", BLAME) from error
