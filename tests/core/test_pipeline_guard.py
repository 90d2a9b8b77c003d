"""The guard: a call that fails is told, one that hangs is left behind, and threads are few."""

import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from reqall import EmbedderError, PluginError, ReqallError
from reqall.core.guard import Component, Guard, Workers

SOON = 0.05
NEVER = 100.0
PATIENCE = 30


class Panic(BaseException):
    """What a native extension raises when it panics."""


class Big:
    """Something that can be watched."""


class OwnError(ReqallError):
    """A plugin's own kind of our error, with a constructor of its own."""

    def __init__(self):
        super().__init__("no licence", "buy one")


@pytest.fixture
def gate():
    """What a hanging call waits for; opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def workers():
    return Workers(idle_seconds=0.5)


def guard_of(workers, timeout=NEVER):
    return Guard(Component("index 'words'", timeout), workers)


def eventually(condition):
    """Wait for what another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def raising(error):
    def work():
        raise error

    return work


def test_a_call_returns_what_the_work_returns(workers):
    assert guard_of(workers).call(lambda: None) is None
    assert guard_of(workers).call(lambda: [1]) == [1]


@pytest.mark.parametrize("error", [ValueError("x"), EmbedderError("down", "start it"), TimeoutError()])
def test_a_call_raises_what_the_work_raises(workers, error):
    with pytest.raises(type(error)) as caught:
        guard_of(workers).call(raising(error))
    assert caught.value is error


@pytest.mark.parametrize("error", [SystemExit(3), Panic("native"), KeyboardInterrupt(), GeneratorExit()])
def test_what_would_end_a_process_ends_a_call_only(workers, error):
    with pytest.raises(PluginError, match=f"it raised {type(error).__name__}"):
        guard_of(workers).call(raising(error))
    assert guard_of(workers).call(lambda: 1) == 1


def test_a_call_that_hangs_is_given_up_and_not_made_again_until_it_returns(workers, gate):
    guard = guard_of(workers, SOON)
    with pytest.raises(PluginError, match=r"it did not answer within 0\.05 s"):
        guard.call(gate.wait)
    made = []
    with pytest.raises(PluginError, match="an earlier call of it has not returned for 0 s"):
        guard.call(lambda: made.append(1))
    assert made == []
    gate.set()
    eventually(lambda: not guard.hangs())
    assert guard.call(lambda: 7) == 7


def test_a_component_that_hangs_costs_one_thread(workers, gate):
    guard, others = guard_of(workers, SOON), guard_of(workers)
    used = set()
    for _ in range(30):
        with pytest.raises(PluginError):
            guard.call(gate.wait)
        used.add(others.call(threading.get_ident))
    assert len(used) == 1


def test_calls_that_began_before_one_was_given_up_still_answer(workers, gate):
    guard = guard_of(workers, 0.5)
    hanging = guard.begin(lambda _call: gate.wait())
    other = guard.begin(lambda _call: 5)
    with pytest.raises(PluginError):
        hanging.result()
    assert other.result() == 5


def test_a_call_that_goes_on_is_waited_for(workers):
    """Twenty steps, together far longer than the time to wait."""

    def work(call):
        for _ in range(20):
            time.sleep(0.05)
            call.progress()
        return "done"

    assert guard_of(workers, 0.4).begin(work).result() == "done"


def test_who_is_given_up_lets_go_of_what_it_holds(workers, gate):
    released = []

    def work(call):
        call.when_left(lambda: released.append(1))
        gate.wait()
        call.when_left(lambda: released.append(2))

    with pytest.raises(PluginError):
        guard_of(workers, SOON).begin(work).result()
    assert released == [1]


def test_who_takes_hold_after_it_was_given_up_is_refused(workers, gate):
    held = []

    def work(call):
        gate.wait()
        try:
            call.when_left(lambda: None)
        except PluginError as error:
            held.append(str(error))

    call = guard_of(workers, SOON).begin(work)
    with pytest.raises(PluginError):
        call.result()
    gate.set()
    eventually(lambda: held)
    assert "nobody waits" in held[0]


def test_calls_in_turn_share_a_thread(workers):
    first, second = guard_of(workers), guard_of(workers)
    assert len({guard.call(threading.get_ident) for _ in range(200) for guard in (first, second)}) == 1


def test_calls_at_once_get_what_is_theirs(workers):
    guard = guard_of(workers)
    with ThreadPoolExecutor(8) as callers:
        numbers = list(callers.map(lambda number: guard.call(lambda: (time.sleep(0.001), number)[1]), range(300)))
    assert numbers == list(range(300))


def test_an_idle_thread_ends_and_the_next_call_has_another():
    workers = Workers(idle_seconds=0.01)
    guard = guard_of(workers)
    thread = guard.call(threading.current_thread)
    assert thread.daemon
    eventually(lambda: not thread.is_alive())
    assert guard.call(threading.current_thread) is not thread


def test_nothing_of_a_call_is_kept():
    guard = guard_of(Workers())
    watched = weakref.ref(guard.call(Big))
    eventually(lambda: watched() is None)


@pytest.mark.parametrize(
    ("error", "kind", "message", "remedy"),
    [
        (EmbedderError("down", "start it"), EmbedderError, "index 'words': down", "start it"),
        (PluginError("NaN"), PluginError, "index 'words': NaN", "`reqall plugins`"),
        (OwnError(), PluginError, "index 'words': no licence", "buy one"),
        (
            ValueError("text of an item"),
            PluginError,
            "index 'words': unexpected ValueError; the log",
            "`reqall plugins`",
        ),
    ],
)
def test_an_error_that_ends_the_search_names_the_component(workers, error, kind, message, remedy, caplog):
    guard = guard_of(workers)
    failure = guard.failure(error, guard.told(error))
    assert type(failure) is kind
    assert failure.message.startswith(message)
    assert remedy in failure.remedy
    assert "text of an item" not in str(failure)
    assert ("text of an item" in caplog.text) == isinstance(error, ValueError)
