"""SIGTERM, by which schedulers and the clocks of CI jobs end a run: it ends as by Ctrl-C.

Without it a run that is cut off would say nothing, although most of it may be decided.
"""

from __future__ import annotations

import signal
import threading
from typing import Any, NoReturn


class Termination:
    """What becomes of this process when it is asked to end, until it is released."""

    def __init__(self) -> None:
        self._before: Any = None

    def interrupt(self) -> None:
        """Interrupt the run as Ctrl-C does, so that it ends with its report."""
        self._handle(_interrupt)

    def ignore(self) -> None:
        """Go on, as whoever started this process gets the signal too, and ends it."""
        self._handle(signal.SIG_IGN)

    def release(self) -> None:
        """Let the signal do what it did before."""
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
            self._before = None

    def _handle(self, handler: Any) -> None:
        # Python hands signals to no other thread.
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, handler)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    # A second one, as a scheduler may send to each process of a group, would cut off the report.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt("SIGTERM")
