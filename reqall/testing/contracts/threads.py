"""Runs one call in four threads at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

COUNT = 4


def in_threads(call: Callable[[], T]) -> list[T]:
    """Return what four threads got that began together; an error of one of them is raised."""
    ready = threading.Barrier(COUNT)

    def run() -> T:
        ready.wait()
        return call()

    with ThreadPoolExecutor(COUNT) as pool:
        return [future.result() for future in [pool.submit(run) for _ in range(COUNT)]]
