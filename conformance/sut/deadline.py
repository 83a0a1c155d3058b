"""A limit on the time of a call that knows none of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, action: Callable[[], T]) -> T:
    """Return what ``action`` returns.

    The time-outs of an HTTP client count from byte to byte, so that a server which sends a byte
    now and then can keep it for ever. This one counts from the start.

    Raises:
        TimeoutError: it took longer than ``seconds``; its thread is left behind, and does not
            keep the process from ending.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)

    threading.Thread(target=run, name="deadline", daemon=True).start()
    return future.result(seconds)
