"""A pytest plugin that notes which planted bugs of the second implementation each test can meet.

The second implementation notes each bug that it was asked for while it answered. After each test
this plugin takes what was noted, and adds a JSON line to a file: the node id of the test and the
names of the bugs. Where a bug was not asked for, planting it changes nothing in that test.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

ORIGIN = "SECOND_ORIGIN"
"""The environment variable that holds scheme, host and port of the second implementation."""

NOTES = "SECOND_NOTES"
"""The environment variable that holds the path of the file."""

CREDENTIALS = ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET")


class _Notes:
    """Takes what was noted after each test."""

    def __init__(self) -> None:
        token_id, secret = (os.environ[name] for name in CREDENTIALS)
        self._client = httpx.Client(
            base_url=os.environ[ORIGIN], auth=(token_id, secret), trust_env=False, timeout=60
        )
        self._notes = Path(os.environ[NOTES])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._client.get("/backstage/asked")
        result = yield
        bugs = self._client.get("/backstage/asked").json()["bugs"]
        with self._notes.open("a", encoding="utf-8") as notes:
            notes.write(json.dumps([item.nodeid, bugs]) + "\n")
        return result

    def pytest_unconfigure(self) -> None:
        self._client.close()


def pytest_configure(config: pytest.Config) -> None:
    """Take notes during this session."""
    config.pluginmanager.register(_Notes())
