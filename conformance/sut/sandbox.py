"""Starts the reference implementation in a process of its own, as the target of a run."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # A run starts the reference before it reads anything else, so that both happen at once.
    from conformance.profile.model import Profile

_START_SECONDS = 30.0
_STOP_SECONDS = 5.0


class SandboxError(Exception):
    """The reference implementation did not start."""


class Sandbox:
    """The reference implementation, running on a free loopback port with fresh credentials.

    It ends with this process in any case: it watches its standard input, which closes when this
    process is gone.

    Args:
        options: further options of the reference's server.
    """

    def __init__(self, *options: str) -> None:
        self.token_id = f"token-{secrets.token_hex(8)}"
        self.client_secret = secrets.token_urlsafe(32)
        self._base_url: str | None = None
        self._process = subprocess.Popen(  # noqa: S603 - words of our own
            [
                sys.executable,
                "-m",
                "conformance.reference.server",
                "--port",
                "0",
                "--exit-with-parent",
                *options,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PAYMENTS_API_TOKEN_ID": self.token_id,
                "PAYMENTS_API_CLIENT_SECRET": self.client_secret,
            },
            # Ctrl-C is for the run, which then stops the server in order.
            start_new_session=True,
        )

    @property
    def base_url(self) -> str:
        """Where it listens; waits until it does.

        Raises:
            SandboxError: it ended, or said nothing within half a minute.
        """
        if self._base_url is None:
            self._base_url = json.loads(self._first_line())["base_url"]
        return self._base_url

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def credentials(self, profile: Profile) -> dict[str, str]:
        """Return its credentials by the names of the variables that a profile gives them."""
        names = profile.credentials
        return {names.token_id: self.token_id, names.client_secret: self.client_secret}

    def dismiss(self) -> None:
        """Ask it to end, which takes it a moment; :meth:`stop` waits until it has."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.terminate()

    def stop(self) -> None:
        """Stop it, if need be by force."""
        self.dismiss()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _first_line(self) -> str:
        out = self._process.stdout
        if out is None:
            raise SandboxError("the reference implementation has no standard output")
        until = time.monotonic() + _START_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            if not selector.select(max(0.0, until - time.monotonic())):
                raise SandboxError(f"the reference did not start within {_START_SECONDS:.0f} s")
        line = out.readline().decode()
        if not line.startswith("{"):
            code = self._process.wait()
            raise SandboxError(f"the reference implementation ended at its start (exit {code})")
        return line
