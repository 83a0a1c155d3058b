"""The sandbox: the reference in a process of its own, which ends with its user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from conformance.run import load_profile, reference_target
from conformance.sut import sandbox as module
from conformance.sut.sandbox import Sandbox, SandboxError

USER = """
import os, time
from conformance.sut.sandbox import Sandbox
sandbox = Sandbox()
print(sandbox.base_url, sandbox._process.pid, flush=True)
time.sleep(60)
"""


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that ended and was not waited for yet is a zombie.
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_it_is_a_target_and_stops() -> None:
    """The sandbox passes the check of a target, and after ``stop`` it cannot be reached."""
    sandbox = Sandbox()
    process = sandbox._process
    try:
        target = reference_target(sandbox, load_profile("reference"))
        target.check()
    finally:
        sandbox.stop()

    assert target.base_url == sandbox.base_url
    assert process.poll() is not None
    with pytest.raises(httpx.ConnectError):
        httpx.get(target.base_url, trust_env=False)


def test_two_have_different_credentials() -> None:
    """Each sandbox has a token id and a client secret of its own."""
    first, second = Sandbox(), Sandbox()
    first.stop()
    second.stop()

    assert first.token_id != second.token_id
    assert first.client_secret != second.client_secret


def test_stopping_twice_does_no_harm() -> None:
    """``stop`` may be called before the start has ended, and twice."""
    sandbox = Sandbox()

    sandbox.stop()
    sandbox.stop()

    assert sandbox._process.poll() is not None


def test_one_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that ends at its start raises SandboxError with its exit status."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    sandbox = Sandbox()

    with pytest.raises(SandboxError, match=r"ended at its start \(exit 1\)"):
        _ = sandbox.base_url
    sandbox.stop()


def test_one_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that prints no URL in time raises SandboxError; the test lowers the time."""
    monkeypatch.setattr(module, "_START_SECONDS", 0.0)
    sandbox = Sandbox()

    with pytest.raises(SandboxError, match="did not start within 0 s"):
        _ = sandbox.base_url
    sandbox.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_its_user(number: signal.Signals) -> None:
    """The sandbox ends within ten seconds after its user got SIGTERM or SIGKILL."""
    with subprocess.Popen([sys.executable, "-c", USER], stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        url, process = user.stdout.readline().split()
        assert httpx.get(url, trust_env=False).status_code == 401
        user.send_signal(number)
        user.wait()

    until = time.monotonic() + 10
    while is_alive(int(process)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(int(process))
