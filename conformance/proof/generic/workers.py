"""Gives tasks to processes one by one, and outlives a process that hangs or breaks.

A process answers each task through a pipe of its own. One that does not answer in time is ended,
and so is one that says that its service is not to be trusted any more; another takes its place.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

import typer

from conformance.proof.host import copying_context
from conformance.reference.service import Service

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)

_START_SECONDS = 180.0
"""How long a process may take before it asks for its first task."""

_MAX_STARTS = 5
"""How many processes in a row may break down before their first task: a busy machine's do."""

_WORD_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """What came of one task; ``is_last`` where the process is not to get another."""

    result: R
    is_last: bool = False


class Serve(Protocol[T_contra, R]):
    """Answers tasks in a process of its own until there are no more."""

    def __call__(self, tasks: Iterator[T_contra], answer: Callable[[Answer[R]], None]) -> None:
        """Take each task, and answer it before the next one is taken."""


class Server(Generic[T, R]):
    """What a pytest plugin that answers tasks has: the service, its tasks, and where they go."""

    def __init__(
        self, service: Service, tasks: Iterator[T], answer: Callable[[Answer[R]], None]
    ) -> None:
        self._service = service
        self._tasks = tasks
        self._answer = answer
        self.results: list[None] = []


@dataclass
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    task: T | None = None
    deadline: float = 0.0


class Pool(Generic[T, R]):
    """Some processes and the tasks that are left for them.

    Args:
        serve: what each process does; it is sent to the process.
        lost: makes the result of a task whose process hung or broke; the text says which.
        processes: how many there are.
        seconds: after how long without an answer a process is ended.
    """

    def __init__(
        self,
        serve: Serve[T, R],
        lost: Callable[[T, str], R],
        processes: int,
        seconds: float,
    ) -> None:
        self._serve = serve
        self._lost = lost
        self._count = processes
        self._seconds = seconds
        self._context = copying_context()
        self._workers: list[_Worker[T]] = []
        self._failed_starts = 0
        self.left: list[T] = []
        """The tasks that nobody has; more may be put here while results are taken."""

    def results(self) -> Iterator[R]:
        """Yield the results as they come; ends when all processes have."""
        # A process that is ended removes no folder of its own.
        with tempfile.TemporaryDirectory() as folder:
            try:
                while self.left or self._workers:
                    while self.left and len(self._workers) < min(
                        self._count, len(self.left) + self._busy
                    ):
                        self._start(folder)
                    yield from self._answers()
            finally:
                for worker in list(self._workers):
                    self._end(worker)

    @property
    def _busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    def _start(self, folder: str) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_run, args=(self._serve, theirs, folder), daemon=True
        )
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, None, time.monotonic() + _START_SECONDS))

    def _answers(self) -> Iterator[R]:
        ready = wait([worker.pipe for worker in self._workers], timeout=_WORD_SECONDS)
        for worker in list(self._workers):
            if worker.pipe in ready:
                yield from self._hear(worker)
            elif time.monotonic() > worker.deadline:
                yield from self._give_up(worker, "it did not come to an end")
        _tell(len(self.left))

    def _hear(self, worker: _Worker[T]) -> Iterator[R]:
        try:
            answer: Answer[R] | None = worker.pipe.recv()
        except (EOFError, ConnectionError):
            yield from self._give_up(worker, "the process broke down")
            return
        worker.task = None
        self._failed_starts = 0
        if answer is not None:
            yield answer.result
        if self.left and not (answer is not None and answer.is_last):
            worker.task = self.left.pop(0)
            worker.deadline = time.monotonic() + self._seconds
            worker.pipe.send(worker.task)
        else:
            self._end(worker)

    def _give_up(self, worker: _Worker[T], why: str) -> Iterator[R]:
        self._end(worker)
        if worker.task is not None:
            yield self._lost(worker.task, why)
            return
        self._failed_starts += 1
        if self._failed_starts >= _MAX_STARTS:
            raise RuntimeError(f"no process of the measurement starts: {why}")

    def _end(self, worker: _Worker[T]) -> None:
        self._workers.remove(worker)
        worker.pipe.close()
        # It may hang in what the broken reference does.
        worker.process.kill()
        worker.process.join()


def _run(serve: Serve[Any, Any], pipe: Connection, folder: str) -> None:
    """Serve in this process; a first empty answer says that it is ready.

    Its temporary folders are made in ``folder``.
    """
    tempfile.tempdir = folder
    # A broken reference complains of itself in its log.
    logging.disable(logging.CRITICAL)

    def tasks() -> Iterator[Any]:
        pipe.send(None)
        while True:
            yield pipe.recv()

    serve(tasks(), pipe.send)


def _tell(left: int) -> None:
    """Tell a terminal how many tasks are left, over what it was told before."""
    if sys.stdout.isatty():
        typer.echo(f"\r{left} left \r", nl=False)
