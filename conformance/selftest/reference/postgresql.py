"""Runs the suite against the reference on a PostgreSQL of its own, which ends with it.

``python -m conformance.selftest.reference.postgresql``; whatever follows goes to pytest. It needs
the programs of PostgreSQL (``apt-get install postgresql``) and the extra ``postgresql``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.run import load_profile
from conformance.sut.sandbox import Sandbox

_INSTALLED = Path("/usr/lib/postgresql")
_OWNER = "postgres"
"""PostgreSQL does not run as root; this is the user that its package makes."""


def main() -> int:
    """Start database and reference, run pytest, and return its exit status."""
    with database() as url:
        sandbox = Sandbox(f"--database-url={url}")
        try:
            environment = {**os.environ, **sandbox.credentials(load_profile("reference"))}
            target = (f"--base-url={sandbox.base_url}", "--profile=reference")
            words = [sys.executable, "-m", "pytest", *target, *sys.argv[1:]]
            return subprocess.run(words, env=environment, check=False).returncode
        finally:
            sandbox.stop()


@contextmanager
def database() -> Iterator[str]:
    """Start PostgreSQL in a new folder on a free port; the result is its SQLAlchemy URL.

    Raises:
        SystemExit: it is not installed.
    """
    programs = _programs()
    owner = _OWNER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if owner is not None:
            shutil.chown(folder, owner)
        port = _free_port()

        def run(program: str, *words: str) -> None:
            subprocess.run([programs / program, *words], user=owner, cwd=folder, check=True)

        data = str(folder / "data")
        run("initdb", f"--pgdata={data}", "--auth=trust", f"--username={_OWNER}")
        # What it holds is of no use to anybody afterwards, so that nothing need be on the disk.
        options = f"-p {port} -k {folder} -c fsync=off -c synchronous_commit=off"
        log = str(folder / "log")
        run("pg_ctl", f"--pgdata={data}", f"--options={options}", f"--log={log}", "-w", "start")
        try:
            yield f"postgresql+psycopg://{_OWNER}@localhost:{port}/postgres"
        finally:
            run("pg_ctl", f"--pgdata={data}", "--mode=immediate", "stop")


def _programs() -> Path:
    """Return the folder of PostgreSQL's programs, those of the latest version there is."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    installed = [path.parent for path in _INSTALLED.glob("*/bin/initdb")]
    if not installed:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql")
    return max(installed, key=lambda path: float(path.parent.name))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
