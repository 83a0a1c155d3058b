"""Runs commands, whatever they do: bounded in time and in what is read of them."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

MAX_OUTPUT_BYTES = 1024 * 1024
_PAUSE_SECONDS = 0.05
_CHUNK_BYTES = 65536


class OutputTooLong(Exception):
    """A command wrote more than anybody is going to read."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended: its exit status, and what it wrote to both streams."""

    status: int
    out: bytes
    err: bytes


def run(command: Sequence[str], seconds: float) -> Finished:
    """Run a command without a shell and with nothing to read, and return how it ended.

    What it leaves running in the background is not waited for, unless it goes on writing.

    Raises:
        OSError, ValueError: it cannot be started.
        TimeoutError: it took longer; it was killed with all that it started.
        OutputTooLong: it wrote more than a mebibyte to a stream; it was killed likewise.
    """
    with subprocess.Popen(  # noqa: S603 - the profile's author chose the command
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # The head of a process group of its own, which can be killed as a whole.
        start_new_session=True,
    ) as process:
        try:
            out, err = _read(process, time.monotonic() + seconds)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        return Finished(process.returncode, out, err)


def _read(process: subprocess.Popen[bytes], until: float) -> tuple[bytes, bytes]:
    """Return what a process writes to both streams, once it has ended."""
    assert process.stdout is not None
    assert process.stderr is not None
    kept: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream, content in kept.items():
            selector.register(stream, selectors.EVENT_READ, content)
        while selector.get_map():
            ready = selector.select(_PAUSE_SECONDS)
            # Whatever it left behind may hold the streams open for ever.
            if not ready and process.poll() is not None:
                break
            if time.monotonic() > until:
                raise TimeoutError
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
                if len(key.data) > MAX_OUTPUT_BYTES:
                    raise OutputTooLong(f"it wrote more than {MAX_OUTPUT_BYTES} bytes")
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    out, err = kept.values()
    return bytes(out), bytes(err)
