"""What pytest prints and hands on holds no secret and no control character."""

from __future__ import annotations

import logging
from collections.abc import Callable

from conformance.selftest import standins
from conformance.selftest.conftest import CLIENT_SECRET
from conformance.selftest.runs import BROKEN, Inside
from conformance.selftest.standins import Behaviour, StandIn

SUITE_WITH_SECRETS = """
    import logging

    from conformance.scenarios.kit.marks import requirement

    SECRET = {secret!r}

    @requirement("QUO-001")
    def test_assertion(platform):
        platform.api.call("getConfig", judged=False)
        assert SECRET == "another"

    @requirement("QUO-002")
    def test_message(platform):
        platform.api.call("getConfig", judged=False)
        raise AssertionError(f"expected nothing, got {{SECRET}} \\x1b[31m \\u202e")

    @requirement("QUO-003")
    def test_mistake(platform):
        platform.api.call("getConfig", judged=False)
        {{}}[SECRET]

    @requirement("QUO-004")
    def test_logging(platform, capsys):
        platform.api.call("getConfig", judged=False)
        logging.getLogger("x").warning("told %s", SECRET)
        try:
            raise OSError(SECRET)
        except OSError:
            logging.getLogger("x").exception("again")
        print(SECRET)
        raise OSError(SECRET)
    """


def test_no_secret_gets_out(
    inside: Inside,
    stand_in: Callable[[Behaviour], StandIn],
    credentials: None,
) -> None:
    """Terminal, locals, log, captured output, JUnit, Allure and report have no secret."""
    assert credentials is None
    server = stand_in(standins.echoes())

    status, output = inside(
        SUITE_WITH_SECRETS.format(secret=CLIENT_SECRET),
        f"--base-url={server.base_url}",
        f"--junitxml={inside.folder / 'junit.xml'}",
        f"--alluredir={inside.folder / 'allure'}",
        "--log-level=DEBUG",
        f"--log-file={inside.folder / 'log.txt'}",
        "--showlocals",
        "-rA",
        *("-o", "junit_logging=all"),
    )

    assert status == BROKEN, output
    assert "***" in output
    texts = {
        path.relative_to(inside.folder): path.read_text(encoding="utf-8")
        for path in inside.folder.rglob("*")
        if path.is_file() and path.parent.name != "scenarios" and path.suffix != ".pyc"
    }
    names = {path.name for path in texts}
    assert names >= {"report.html", "report.json", "main.jsonl", "log.txt", "junit.xml"}
    assert any(name.endswith("-result.json") for name in names)
    assert [str(path) for path, text in texts.items() if CLIENT_SECRET in text] == []
    assert CLIENT_SECRET not in output
    assert "\u202e" not in output
    assert "\x1b[31m \\u202e" not in output


def test_records_of_logging_are_as_before_afterwards(
    inside: Inside, stand_in: Callable[[Behaviour], StandIn], credentials: None
) -> None:
    """After a run within a program, logging makes its records as before."""
    assert credentials is None
    before = logging.getLogRecordFactory()

    inside(
        SUITE_WITH_SECRETS.format(secret="x"), f"--base-url={stand_in(standins.echoes()).base_url}"
    )

    assert logging.getLogRecordFactory() is before
