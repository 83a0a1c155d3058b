"""A thread that runs jobs at their time."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)


class Worker:
    """One daemon thread and a heap of jobs; a job that raises is logged and dropped."""

    def __init__(self, name: str) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._condition = threading.Condition()
        self._running = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._running = True
        self._thread.start()

    def stop(self) -> None:
        """Drop the waiting jobs and wait for the running one."""
        with self._condition:
            self._running = False
            self._heap.clear()
            self._condition.notify_all()
        self._thread.join()

    def clear(self) -> None:
        """Drop the waiting jobs and wait for the running one, whose follow-ups are dropped too."""
        with self._condition:
            self._heap.clear()
            self._condition.wait_for(lambda: not self._busy)
            self._heap.clear()

    def after(self, seconds: float, job: Callable[[], None]) -> None:
        """Run ``job`` in ``seconds``; jobs due at the same time run in order."""
        with self._condition:
            due = time.monotonic() + seconds
            heapq.heappush(self._heap, (due, next(self._order), job))
            self._condition.notify_all()

    def _run(self) -> None:
        while True:
            job = self._next()
            if job is None:
                return
            try:
                job()
            except Exception:  # noqa: BLE001 - one bad job must not end the others
                _log.exception("A background job failed.")

    def _next(self) -> Callable[[], None] | None:
        with self._condition:
            self._busy = False
            self._condition.notify_all()
            while self._running:
                if not self._heap:
                    self._condition.wait()
                    continue
                wait = self._heap[0][0] - time.monotonic()
                if wait <= 0:
                    self._busy = True
                    return heapq.heappop(self._heap)[2]
                self._condition.wait(wait)
            return None
