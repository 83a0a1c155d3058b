"""The plugin: whole runs of pytest, from their arguments to exit status and files."""

from __future__ import annotations

import json
import signal
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
import yaml

from conformance.contract.data import FIXTURES
from conformance.proof.patch import Patch
from conformance.reference.quotes import quotes
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.reporting.assemble import assemble
from conformance.selftest import standins
from conformance.selftest.collection import ROOT
from conformance.selftest.conftest import CLIENT_SECRET
from conformance.selftest.runs import (
    BROKEN,
    INTERRUPTED,
    OK,
    OPEN,
    TINY_SUITE,
    USAGE,
    Inside,
    read_report,
    run,
    run_within,
    start,
    write,
)
from conformance.selftest.standins import Behaviour, StandIn
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict, TargetVerdict

HANGING = """
    import os
    import threading
    from pathlib import Path

    from conformance.scenarios.kit.marks import requirement

    @requirement("QUO-083")
    def test_a_first(platform):
        assert platform.api.execute_quote(platform.quotes.pending()["id"]).accepted

    @requirement("QUO-084")
    def test_b_hanging(platform):
        quote = platform.quotes.pending()
        Path("url.part").write_text(platform.api.client._target.base_url)
        Path("url.part").rename("url")
        for _ in range(400):
            if Path("over").exists():
                break
            threading.Event().wait(0.05)
        assert quote["id"]
    """


@pytest.fixture
def patch() -> Iterator[Patch]:
    """Return what changes the reference of this process until the test ends."""
    patching = Patch()
    yield patching
    patching.revert()


class TestForeign:
    """In a session that does not run the suite the plugin does nothing."""

    FILES: ClassVar = {
        "test_theirs.py": """
            import sys

            def test_nothing_of_the_suite_is_loaded():
                ours = {name for name in sys.modules if name.startswith("conformance")}
                assert ours == {"conformance", "conformance.plugin"}

            def test_nothing_is_imported_for_it():
                assert not {"httpx", "schemathesis", "yaml"} & set(sys.modules)
            """,
        "conformance/test_of_the_same_name.py": "def test_x(): pass\n",
    }

    def test_nothing_is_imported_or_started(self, tmp_path: Path) -> None:
        """A foreign session imports the plugin alone, starts no server and writes no report."""
        write(tmp_path, self.FILES)

        status, output = run(
            tmp_path, "-p", "conformance.plugin", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        )

        assert status == OK, output
        assert "3 passed" in output
        assert "conformance =" not in output
        assert not (tmp_path / "reports").exists()

    def test_it_is_loaded_by_itself(self, tmp_path: Path) -> None:
        """The installed plugin registers its marker in a foreign session."""
        write(tmp_path, {"test_theirs.py": "def test_x(): pass\n"})

        status, output = run(tmp_path, "-p", "no:randomly", "--markers")

        assert status == OK, output
        assert "@pytest.mark.requirement(*ids): the requirements of the catalogue" in output

    def test_its_own_tests_are_left_out(self) -> None:
        """A run of the whole package collects the scenarios, no self-tests and no benchmarks."""
        status, output = run_within(
            ROOT, "--collect-only", "-q", "conformance", "--fuzz-examples=0"
        )

        assert status == OK, output
        assert "conformance/scenarios/quotes/test_quote_execution.py::" in output
        assert "selftest" not in output
        assert "bench" not in output


class TestRuns:
    """From the arguments to the exit status."""

    def test_a_conformant_target(self, tiny: Path) -> None:
        """Two workers in random order against a reference of the run: exit status 0."""
        status, output = run(
            tiny,
            *(*TINY_SUITE, "-n2", "-p", "randomly", "-p", "no:logging", "scenarios"),
            "--randomly-seed=7",
            "--junitxml=junit.xml",
            "--alluredir=allure",
        )

        assert status == OK, output
        report = read_report(tiny)
        assert report.verdict is TargetVerdict.CONFORMANT
        assert {entry.id: entry.verdict for entry in report.requirements} == {
            "QUO-083": RequirementVerdict.PASSED,
            "QUO-084": RequirementVerdict.PASSED,
            "QUO-015": RequirementVerdict.WARNED,
        }
        assert report.run.workers == 2
        self.check_junit(tiny / "junit.xml")
        self.check_allure(tiny / "allure")

    def check_junit(self, path: Path) -> None:
        """Assert that each test case has its requirements and their section as properties."""
        cases = {
            case.attrib["name"]: {
                (p.attrib["name"], p.attrib["value"]) for p in case.iter("property")
            }
            for case in ET.parse(path).iter("testcase")
        }
        assert cases == {
            "test_execution": {
                ("requirement", "QUO-083"),
                ("epic", "Quotes"),
                ("feature", "Endpoints / Quotes"),
            },
            "test_quote": {
                ("requirement", "QUO-084"),
                ("requirement", "QUO-015"),
                ("epic", "Quotes"),
                ("feature", "Resources / Quote"),
            },
        }

    def check_allure(self, folder: Path) -> None:
        """Assert that each result has its requirements and their section as labels."""
        results = [json.loads(path.read_text()) for path in folder.glob("*-result.json")]
        labels = {
            result["name"]: {(label["name"], label["value"]) for label in result["labels"]}
            for result in results
        }
        assert {("epic", "Quotes"), ("severity", "critical"), ("tag", "QUO-083")} <= labels[
            "test_execution"
        ]
        assert {("feature", "Resources / Quote"), ("tag", "QUO-084"), ("tag", "QUO-015")} <= labels[
            "test_quote"
        ]

    def test_the_order_makes_no_difference(self, tiny: Path, against: tuple[str, str]) -> None:
        """Another order, one process and a target that runs already: exit status 0."""
        status, output = run(tiny, *TINY_SUITE, "--randomly-seed=2", *against, "scenarios")

        assert status == OK, output
        assert read_report(tiny).verdict is TargetVerdict.CONFORMANT

    @pytest.mark.parametrize("name", ["/a/b/bin/pytest", "/a/b/pytest/__main__.py"])
    def test_the_command_is_one_to_type(
        self, name: str, inside: Inside, against: tuple[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However pytest was started, the report has the command that starts it."""
        monkeypatch.setattr("sys.argv", [name, "-k", "a b"])

        inside("def test_nothing(): pass", *against)

        assert read_report(inside.folder).run.command == "pytest -k 'a b'"

    @pytest.mark.slow
    def test_the_suite_itself(self, tmp_path: Path) -> None:
        """A few scenarios pass against the reference; what is left out is open (6)."""
        status, output = run(
            ROOT,
            *("-n1", "-p", "randomly", "--randomly-seed=3", "-p", "unraisableexception"),
            f"--report-dir={tmp_path}",
            "conformance/scenarios/customers/test_customers.py",
        )

        assert status == OPEN, output
        verdicts = {entry.verdict for entry in assemble(tmp_path).requirements}
        assert RequirementVerdict.PASSED in verdicts
        assert RequirementVerdict.FAILED not in verdicts

    def test_a_broken_target(self, inside: Inside, against: tuple[str, str], patch: Patch) -> None:
        """Exit status 1, with transcript, script and the failed assertion, without secrets."""
        patch.replace(quotes, "has_funds", lambda *_: False)

        status, output = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_execution(platform):
                answer = platform.api.execute_quote(platform.quotes.pending()["id"])
                assert answer.accepted, answer
            """,
            *against,
        )

        assert status == BROKEN, output
        entry = inside.entries()["QUO-083"]
        assert entry.verdict is RequirementVerdict.FAILED
        assert entry.detail.startswith("expected answer.accepted, got False; executeQuote → 400")
        for heading in ("- transcript -", "- reproduce -"):
            assert heading in output
        assert "POST http://127" in output
        assert "api -X POST \"${BASE_URL}\"'/quotes'" in output
        assert "assert answer.accepted, answer" in output
        assert CLIENT_SECRET not in output
        assert "is not conformant: it breaks 1 requirement of" in output

    def test_a_secret_that_is_an_ordinary_word_is_refused(
        self, inside: Inside, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A secret like "password" is a usage error; the token id may be any word."""
        monkeypatch.setenv("PAYMENTS_API_TOKEN_ID", "test")
        monkeypatch.setenv("PAYMENTS_API_CLIENT_SECRET", "password")

        with BackgroundServer(
            Settings(api_token_id="test", api_client_secret="password")
        ) as server:
            status, output = inside(
                """
                def test_nothing():
                    pass
                """,
                f"--base-url={server.base_url}",
                "--profile=reference",
            )

        assert status == USAGE, output
        assert "the secret in PAYMENTS_API_CLIENT_SECRET cannot be told from" in output
        assert "password" not in output

    def test_a_selection_is_open(self, inside: Inside, against: tuple[str, str]) -> None:
        """A passed requirement is reported and the deselected one is open: exit status 6."""
        status, output = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_execution(platform):
                assert platform.api.execute_quote(platform.quotes.pending()["id"]).accepted

            @requirement("QUO-110")
            def test_left_out(platform):
                pass
            """,
            *against,
            "-k=test_execution",
        )

        assert status == OPEN, output
        entries = inside.entries()
        assert entries["QUO-083"].verdict is RequirementVerdict.PASSED
        assert entries["QUO-110"].reason is Reason.DESELECTED

    def test_an_early_end_loses_what_was_to_come(
        self, inside: Inside, against: tuple[str, str]
    ) -> None:
        """With ``-x`` the requirement of the test after the failed one is lost."""
        status, _ = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_a(platform):
                assert platform.quotes.pending() is None

            @requirement("QUO-110")
            def test_b(platform):
                pass
            """,
            *against,
            "-x",
        )

        assert status == BROKEN
        assert inside.entries()["QUO-110"].reason is Reason.LOST

    def test_what_breaks_beside_the_test_leaves_it_open(
        self, inside: Inside, against: tuple[str, str]
    ) -> None:
        """Errors in set-up, tear-down and the suite leave requirements without a verdict."""
        status, output = inside(
            """
            import pytest
            from conformance.scenarios.kit.marks import requirement
            from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

            @pytest.fixture
            def no_set_up():
                raise OSError("set-up")

            @pytest.fixture
            def refused_set_up():
                raise PreconditionFailed("refused")

            @pytest.fixture
            def no_tear_down():
                yield
                raise OSError("tear-down")

            @requirement("QUO-001")
            def test_set_up(no_set_up):
                pass

            @requirement("QUO-002")
            def test_refused(refused_set_up):
                pass

            @requirement("QUO-003")
            def test_tear_down(no_tear_down):
                pass

            @requirement("QUO-004")
            def test_mistake():
                raise OSError("call")

            @requirement("QUO-005", "QUO-006")
            def test_undecided(platform, check):
                with check("QUO-005"):
                    assert platform.approved.customer()

            @requirement("QUO-008", "QUO-009")
            def test_unasked(check):
                with check("QUO-008", "QUO-009"):
                    pass

            @requirement("QUO-007")
            def test_not_offered():
                raise ResourceMissing("customers get no internal account in XTS")

            @requirement("QUO-010", "QUO-011")
            def test_neither_offered(check):
                with check("QUO-010", "QUO-011"):
                    raise ResourceMissing("the profile binds neither")
            """,
            *against,
            "-rs",
        )

        assert status == OPEN, output
        entries = inside.entries()
        assert {
            name: (entries[name].verdict, entries[name].reason)
            for name in (f"QUO-0{number:02}" for number in range(1, 12))
        } == {
            "QUO-001": (RequirementVerdict.INCONCLUSIVE, Reason.HARNESS),
            "QUO-002": (RequirementVerdict.INCONCLUSIVE, Reason.PRECONDITION),
            "QUO-003": (RequirementVerdict.INCONCLUSIVE, Reason.HARNESS),
            "QUO-004": (RequirementVerdict.INCONCLUSIVE, Reason.HARNESS),
            "QUO-005": (RequirementVerdict.PASSED, None),
            "QUO-006": (RequirementVerdict.INCONCLUSIVE, Reason.NOT_REACHED),
            "QUO-007": (RequirementVerdict.NOT_EXERCISED, Reason.RESOURCE_MISSING),
            "QUO-008": (RequirementVerdict.INCONCLUSIVE, Reason.HARNESS),
            "QUO-009": (RequirementVerdict.INCONCLUSIVE, Reason.HARNESS),
            "QUO-010": (RequirementVerdict.NOT_EXERCISED, Reason.RESOURCE_MISSING),
            "QUO-011": (RequirementVerdict.NOT_EXERCISED, Reason.RESOURCE_MISSING),
        }
        assert "1 inconclusive, a step before the check failed: QUO-002" in output
        assert ": the target does not offer what the check needs: customers get" in output

    def test_what_the_profile_does_not_offer_is_skipped(
        self, inside: Inside, against: tuple[str, str], tmp_path: Path
    ) -> None:
        """A test whose trigger is not mapped is skipped with that reason, and not run."""
        profile = yaml.safe_load((FIXTURES / "profiles" / "reference.yaml").read_text())
        del profile["triggers"]["quote.expire"]
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(profile))

        status, output = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-110")
            def test_expired(platform):
                raise AssertionError("never run")
            """,
            against[0],
            f"--profile={tmp_path / 'own.yaml'}",
            "-rs",
        )

        assert status == OPEN, output
        assert "the profile maps no way to bring it about: quote.expire" in output
        assert inside.entries()["QUO-110"].verdict is RequirementVerdict.NOT_EXERCISED

    def test_people_of_a_production_target_are_masked(
        self, inside: Inside, stand_in: Callable[[Behaviour], StandIn], credentials: None
    ) -> None:
        """Neither journal nor report nor terminal tell who the customers of a target are."""
        assert credentials is None
        person = {"fullName": "Ada Lindqvist", "email": "no-address-of-ada", "birthDate": "1815"}
        server = stand_in(standins.answers(200, {"id": "Customer:1", **person}))
        write_production_profile(inside.folder / "own.yaml")

        status, output = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("CUS-001")
            def test_reading(platform):
                answer = platform.api.call("getCustomer", path={"customerId": "Customer:1"})
                assert answer.body["fullName"] == "Charles", answer
            """,
            f"--base-url={server.base_url}",
            f"--profile={inside.folder / 'own.yaml'}",
            f"--junitxml={inside.folder / 'junit.xml'}",
        )

        assert status == BROKEN, output
        folder = inside.folder / "reports" / "latest"
        written = (*folder.rglob("*"), inside.folder / "junit.xml")
        texts = [output, *(path.read_text("utf-8") for path in written if path.is_file())]
        assert len(texts) > 4
        assert not [value for value in person.values() for text in texts if value in text]
        assert "Charles" in output

    def test_a_production_target_is_only_read(
        self, inside: Inside, stand_in: Callable[[Behaviour], StandIn], credentials: None
    ) -> None:
        """In production only GET is sent, whatever triggers the profile maps."""
        assert credentials is None
        server = stand_in(standins.answers(200, {"id": "PlatformConfig:1"}))
        write_production_profile(inside.folder / "own.yaml")

        status, output = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_execution(platform):
                platform.api.create_customer(platform.customers.body())

            @requirement("CFG-001")
            def test_reading(platform):
                assert platform.api.call("getConfig").accepted
            """,
            f"--base-url={server.base_url}",
            f"--profile={inside.folder / 'own.yaml'}",
        )

        assert status in (BROKEN, OPEN), output
        assert {request.method for request in server.received} == {"GET"}
        assert inside.entries()["QUO-083"].reason is Reason.READ_ONLY

    @pytest.mark.slow
    def test_a_lost_worker_is_no_verdict(self, tiny: Path, against: tuple[str, str]) -> None:
        """The requirement of a worker that dies is lost; the other one passes."""
        dying = """
            import os
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_dying(platform):
                platform.quotes.pending()
                os._exit(3)

            @requirement("QUO-084")
            def test_living(platform):
                assert platform.quotes.pending()["id"]
            """
        write(tiny, {"scenarios/test_tiny.py": dying})

        status, output = run(tiny, *TINY_SUITE, "-p", "no:randomly", "-n1", *against, "scenarios")

        assert status == OPEN, output
        entries = {entry.id: entry for entry in read_report(tiny).requirements}
        assert entries["QUO-083"].reason is Reason.LOST
        assert entries["QUO-084"].verdict is RequirementVerdict.PASSED


class TestUsage:
    """A wrong configuration is one message and exit status 4, before any test."""

    PASSING = """
        from conformance.scenarios.kit.marks import requirement

        @requirement("QUO-083")
        def test_x():
            pass
        """

    def test_an_unknown_id(self, inside: Inside, against: tuple[str, str]) -> None:
        """The message has the test, the unknown id and the nearest one."""
        status, output = inside(self.PASSING.replace("QUO-083", "QUO-083Q"), *against)

        assert status == USAGE, output
        assert "::test_x names QUO-083Q, which is not in the catalogue" in output
        assert "the nearest id is QUO-083" in output

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--profile=absent"], "profile absent: no such file, nor a shipped one (reference"),
            (["--base-url=http://127.0.0.1:1/"], "does not end in the version segment"),
            (["--base-url=http://127.0.0.1:1/2025-10-13"], "connection refused; is the server"),
            (["--base-url=http://absent.invalid/2025-10-13"], "cannot reach http://absent.invalid"),
        ],
    )
    def test_a_wrong_option(
        self, inside: Inside, credentials: None, arguments: list[str], message: str
    ) -> None:
        """The message says what is wrong with the profile or the base URL."""
        assert credentials is None

        status, output = inside(self.PASSING, *arguments)

        assert status == USAGE, output
        assert message in output
        assert "Traceback" not in output

    def test_a_wrong_key_of_the_profile(self, inside: Inside, against: tuple[str, str]) -> None:
        """The message has the unknown key and the nearest valid one."""
        path = inside.folder / "own.yaml"
        path.write_text("implementation: {name: x}\ntimings: {}\n")

        status, output = inside(self.PASSING, against[0], f"--profile={path}")

        assert status == USAGE, output
        assert "timings: unknown key; the nearest valid one is 'timing'" in output

    def test_missing_credentials(
        self, inside: Inside, reference: BackgroundServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The message names the environment variables to export."""
        monkeypatch.delenv("PAYMENTS_API_TOKEN_ID", raising=False)
        monkeypatch.delenv("PAYMENTS_API_CLIENT_SECRET", raising=False)

        status, output = inside(self.PASSING, f"--base-url={reference.base_url}")

        assert status == USAGE, output
        assert "export PAYMENTS_API_TOKEN_ID and PAYMENTS_API_CLIENT_SECRET" in output

    def test_wrong_credentials(
        self, inside: Inside, against: tuple[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The message says that the target refuses them, and does not show them."""
        monkeypatch.setenv("PAYMENTS_API_CLIENT_SECRET", "wrong-but-long-enough")

        status, output = inside(self.PASSING, *against)

        assert status == USAGE, output
        assert "refuses the credentials (GET /config answered 401)" in output
        assert "wrong-but-long-enough" not in output

    def test_a_listener_that_cannot_listen(self, inside: Inside, against: tuple[str, str]) -> None:
        """The message names the key ``webhooks.listen`` of the profile."""
        profile = yaml.safe_load((FIXTURES / "profiles" / "reference.yaml").read_text())
        profile["webhooks"]["listen"] = "192.0.2.1:0"
        path = inside.folder / "own.yaml"
        path.write_text(yaml.safe_dump(profile))

        status, output = inside(self.PASSING, against[0], f"--profile={path}")

        assert status == USAGE, output
        assert "webhooks.listen of the profile" in output

    @pytest.mark.slow
    def test_a_target_that_drips(
        self, inside: Inside, stand_in: Callable[[Behaviour], StandIn], credentials: None
    ) -> None:
        """The run ends within fifteen seconds of the first request."""
        assert credentials is None
        server = stand_in(standins.drips_header())

        status, output = inside(self.PASSING, f"--base-url={server.base_url}")

        assert status == USAGE, output
        assert f"cannot reach {server.base_url}: no complete answer within 10 seconds" in output
        assert time.monotonic() - server.received[0].at < 15


class TestEndings:
    """However a run ends, it leaves no server, and its decisions are kept."""

    @pytest.fixture
    def hanging(self, tiny: Path) -> Path:
        """Return the folder of the tiny suite, with a second test that hangs."""
        return write(tiny, {"scenarios/test_tiny.py": HANGING})

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("number", "workers"),
        [
            pytest.param(signal.SIGINT, "-n0", id="Ctrl-C"),
            pytest.param(signal.SIGINT, "-n1", id="Ctrl-C with a worker"),
            pytest.param(signal.SIGTERM, "-n0", id="a timeout"),
            pytest.param(signal.SIGTERM, "-n1", id="a timeout with a worker"),
            pytest.param(signal.SIGKILL, "-n1", id="kill -9 with a worker"),
        ],
    )
    def test_by_a_signal(self, hanging: Path, number: signal.Signals, workers: str) -> None:
        """After a signal the server ends, and a report can be made of the journal."""
        with start(hanging, *TINY_SUITE, "-p", "no:randomly", workers, "scenarios") as process:
            url = wait_for_content(hanging / "url")
            assert httpx.get(f"{url}/config", trust_env=False).status_code == 401
            process.send_signal(number)
            (hanging / "over").touch()
            output, _ = process.communicate(timeout=60)

        assert is_gone(url), output
        killed = number is signal.SIGKILL
        told = {signal.SIGINT: "KeyboardInterrupt", signal.SIGTERM: "SIGTERM"}
        assert process.returncode == (-signal.SIGKILL if killed else INTERRUPTED), output
        report = assemble(hanging / "reports" / "latest")
        assert report.run.interrupted == told.get(number, "the run was killed")
        assert report.verdict is TargetVerdict.INCONCLUSIVE
        # The test that hangs may come to its end in a worker before that is stopped.
        verdicts = {entry.id: entry.verdict for entry in report.requirements}
        assert verdicts["QUO-083"] is RequirementVerdict.PASSED
        assert verdicts["QUO-084"] is RequirementVerdict.INCONCLUSIVE or workers != "-n0"
        assert (hanging / "reports/latest/report.html").exists() is not killed


def write_production_profile(path: Path) -> None:
    """Write the profile of the reference as that of a target in production."""
    profile = yaml.safe_load((FIXTURES / "profiles" / "reference.yaml").read_text())
    path.write_text(yaml.safe_dump({**profile, "environment": "production"}))


def wait_for_content(path: Path) -> str:
    """Wait for a file and return its content."""
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return path.read_text(encoding="utf-8")


def is_gone(url: str) -> bool:
    """Return whether a server ends within 15 seconds."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        try:
            httpx.get(url, trust_env=False)
        except httpx.HTTPError:
            return True
        time.sleep(0.05)
    return False
