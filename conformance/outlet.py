"""What pytest shows and hands on: without secrets, and without what steers a terminal.

The journal and all that is made of it pass the redactor of their own accord. What pytest itself
writes (terminal, logging, JUnit, Allure) is made of exceptions, reports and records of logging:
these are cleaned here, before anybody reads them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import IO, Any

import pytest

from conformance.exchange.redaction import Redactor
from conformance.text.characters import visible

_FORMATTER = logging.Formatter()
_COLOUR = re.compile("(\x1b\\[[0-9;]{0,20}m)")


class Outlet:
    """Cleans what leaves the process.

    ``redactor`` may be replaced as long as the secrets of the run are not known yet.
    """

    def __init__(self) -> None:
        self.redactor = Redactor(())
        self._in_colours = False
        self._undo: list[Callable[[], None]] = []

    def text(self, text: str) -> str:
        """Return a text without secrets, with escapes for what could steer a terminal.

        Colours stay where pytest prints in colours, as it colours what assertions compare.
        """
        cleaned = self.redactor.remark(text)
        if not self._in_colours:
            return visible(cleaned)
        pieces = _COLOUR.split(cleaned)
        return "".join(
            piece if number % 2 else visible(piece) for number, piece in enumerate(pieces)
        )

    def install(self, config: pytest.Config) -> None:
        """Clean from now on what is logged in this process and what pytest prints."""
        self._in_colours = config.get_terminal_writer().hasmarkup
        factory = logging.getLogRecordFactory()
        logging.setLogRecordFactory(lambda *args, **named: self._record(factory(*args, **named)))
        self._undo.append(lambda: logging.setLogRecordFactory(factory))
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            # Warnings and internal errors come without a report that could be cleaned before.
            writer, stream = reporter._tw, reporter._tw._file  # noqa: SLF001 - no public way to it
            writer._file = _Stream(stream, self._without_secrets)  # noqa: SLF001
            self._undo.append(lambda: setattr(writer, "_file", stream))

    def uninstall(self) -> None:
        """Leave logging and terminal as they were."""
        while self._undo:
            self._undo.pop()()

    def clean_error(self, call: pytest.CallInfo[None]) -> None:
        """Clean the exception that a test ended with, for those who read its message.

        Its class stays where the message can be replaced within it.
        """
        if call.excinfo is None:
            return
        error: BaseException | None = call.excinfo.value
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            error.args = tuple(self._argument(argument) for argument in error.args)
            error = error.__cause__ or error.__context__
        error = call.excinfo.value
        if (message := self.text(str(error))) != str(error):
            told = RuntimeError(f"{type(error).__name__}: {message}")
            told.__traceback__ = call.excinfo.tb
            call.excinfo = pytest.ExceptionInfo.from_exception(told)

    def clean_report(self, report: pytest.TestReport) -> None:
        """Clean the report of a test: what it ended with, and what was captured meanwhile."""
        if isinstance(report.longrepr, tuple):
            path, line, reason = report.longrepr
            report.longrepr = (path, line, self.text(reason))
        elif report.longrepr is not None:
            shown = report.longreprtext
            if (cleaned := self.text(shown)) != shown:
                report.longrepr = cleaned
        report.sections = [(name, self.text(content)) for name, content in report.sections]

    def _without_secrets(self, text: str) -> str:
        return self.redactor.remark(text)

    def _argument(self, argument: object) -> object:
        return self.text(argument) if isinstance(argument, str) else argument

    def _record(self, record: logging.LogRecord) -> logging.LogRecord:
        record.msg, record.args = self.text(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = self.text(_FORMATTER.formatException(record.exc_info))
        return record


class _Stream:
    """A text stream that cleans what is written to it; in all else it is the one behind it."""

    def __init__(self, stream: IO[str], clean: Callable[[str], str]) -> None:
        self._stream = stream
        self._clean = clean

    def write(self, text: str) -> int:
        return self._stream.write(self._clean(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
