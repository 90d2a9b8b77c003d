import threading
import time

import pytest

from reqall.plugins.embedders.once import Once


def test_threads_that_ask_at_once_share_one_value():
    made = []
    barrier = threading.Barrier(4)

    def make():
        time.sleep(0.02)
        made.append(object())
        return made[-1]

    once = Once(make)
    got = []

    def ask():
        barrier.wait()
        got.append(once())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert got == made * 4


def test_what_fails_is_tried_again():
    outcomes = [OSError("no network"), "model"]

    def make():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    once = Once(make)
    with pytest.raises(OSError, match="no network"):
        once()
    assert not once.is_made
    assert once() == "model"
    assert once() == "model"
