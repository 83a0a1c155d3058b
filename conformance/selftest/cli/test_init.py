"""``payments-conformance init`` asks a target what can be asked, and writes a profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jsonschema_rs
import pytest
import yaml
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.data import FIXTURES
from conformance.profile.loading import read_profile
from conformance.proof.personas import running
from conformance.proof.planting import PROFILE
from conformance.reference.verification import sandbox
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn

APPROVAL = """
triggers:
  customer.approve:
    http: {url: "{origin}/control/customers/{customerId}/review", json: {decision: APPROVED}}
  webhook.register:
    http: {url: "{origin}/control/webhook-endpoint", json: {url: "{url}"}}
"""

PURPOSEFUL = """
implementation: {name: second}
environment: sandbox
triggers:
  customer.approve: {http: {url: "{origin}/backstage/customers/{customerId}/review/approve"}}
bindings:
  providers: {TZS: [VODACOM_TZ, AIRTEL_TZ]}
"""


def init(base_url: str, path: Path, *options: str) -> tuple[int, str]:
    """Run the command; return its exit status and output."""
    result = CliRunner().invoke(app, ["init", base_url, f"--output={path}", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "Traceback" not in result.output
    return result.exit_code, result.output


@pytest.fixture
def path(tmp_path: Path, credentials: None) -> Path:
    """Return the path of a profile that does not exist yet."""
    assert credentials is None
    return tmp_path / "profile.yaml"


@pytest.mark.slow
def test_it_writes_what_differs_from_the_defaults(path: Path, against: tuple[str, str]) -> None:
    """The profile is valid, holds no default, and asks where no request shows the answer."""
    status, output = init(against[0].removeprefix("--base-url="), path, "--sandbox")

    assert status == 0, output
    profile = read_profile(path)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert profile.environment == "sandbox"
    assert {"hosted_onboarding", "direct_onboarding", "stablecoins", "sca"} < set(
        content["features"]
    )
    assert "bindings" not in content
    text = path.read_text(encoding="utf-8")
    seen = "is UNVERIFIED when created, and PENDING after init asked for its review: how does"
    assert f"customer.approve: a new customer {seen}" in text
    assert "# POST /customers/{customerId}/kyc-link answered 201\n  hosted_onboarding: true" in text
    assert "# ? bindings: not tried: sca_code, sca_proofs, " in text
    assert "\nbindings: not tried: sca_code, sca_proofs, " in output
    assert "· bindings.list_cursor = cursor: listCustomerExternalAccounts with cursor= " in output


def test_editors_find_the_schema(path: Path, against: tuple[str, str]) -> None:
    """The first line leads to the JSON Schema, which takes the profile."""
    init(against[0].removeprefix("--base-url="), path, "--seconds=0")

    first, *_ = path.read_text(encoding="utf-8").splitlines()
    place = unquote(urlsplit(first.removeprefix("# yaml-language-server: $schema=")).path)
    schema = json.loads(Path(place).read_text(encoding="utf-8"))
    jsonschema_rs.validate(schema, yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["template", "second", "reference"])
def test_editors_find_the_schema_of_shipped_profiles(name: str) -> None:
    """A first line of the same kind leads from the folder of the profile to the schema."""
    file = FIXTURES / "profiles" / f"{name}.yaml"
    text = file.read_text(encoding="utf-8")
    (line,) = (x for x in text.splitlines() if x.startswith("# yaml-language-server: $schema="))

    schema = json.loads((file.parent / line.partition("=")[2]).read_text(encoding="utf-8"))

    jsonschema_rs.validate(schema, yaml.safe_load(text))


def test_a_review_that_ends_by_itself_needs_no_trigger(
    path: Path, against: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that does nothing stands for it, so that what needs the trigger is exercised."""
    monkeypatch.setattr(sandbox, "outcome_of", lambda *_, **__: "APPROVED")

    status, output = init(against[0].removeprefix("--base-url="), path, "--sandbox")

    assert status == 0, output
    assert read_profile(path).triggers["customer.approve"].command == ["true"]
    assert "was UNVERIFIED, and its review ended with APPROVED by itself" in output


def test_it_proposes_changes_and_makes_none(path: Path, against: tuple[str, str]) -> None:
    """With a way to an approval it asks on; the file stays, and a diff adds what is new."""
    base_url = against[0].removeprefix("--base-url=")
    text = f"implementation: {{name: x}}  # mine\nenvironment: sandbox\n{APPROVAL}"
    path.write_text(text, encoding="utf-8")

    status, output = init(base_url, path)

    assert status == 0, output
    assert path.read_text(encoding="utf-8") == text
    diff = [line for line in output.splitlines() if line.startswith(("+", "-"))]
    assert {"+  hosted_onboarding: true", "+  realtime_funding: true"} < set(diff)
    assert "+  webhooks: true" in diff
    assert "+resources:" in diff
    sent = "+    - {sending: EUR, receiving: USD, account: usd_account}"
    assert [line for line in diff if "sending:" in line and "sending: USD" not in line] == [sent]
    assert not [line for line in diff if line.startswith("-") and not line.startswith("---")]


def test_nothing_is_changed_outside_of_a_sandbox(
    path: Path, stand_in: Callable[[Behaviour], StandIn]
) -> None:
    """Without --sandbox it reads alone, and asks whether it is one."""
    server = stand_in(standins.answers(200, {"data": []}))

    status, output = init(server.base_url, path)

    assert status == 0, output
    assert {request.method for request in server.received} == {"GET"}
    assert "# ? environment: is it a sandbox?" in path.read_text(encoding="utf-8")
    assert read_profile(path).environment == "production"


def test_the_time_is_bounded(path: Path, against: tuple[str, str]) -> None:
    """A look that is under way is broken off, and what was learned before is written."""
    base_url = against[0].removeprefix("--base-url=")

    status, output = init(base_url, path, "--sandbox", "--seconds=0.3")

    assert status == 0, output
    assert "could not be looked at: the time is over (--seconds)" in output
    assert "pages of lists: not looked at" in output
    assert read_profile(path).environment == "sandbox"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        pytest.param(standins.answers(200, {"supportedCurrencies": [[1], "x"]}), 0, id="shapes"),
        pytest.param(standins.answers(200, {"id": "\x1b[2J", "data": [1, 2]}), 0, id="escapes"),
        pytest.param(standins.answers(200, {}), 0, id="no id"),
        pytest.param(standins.answers(401, {}), 4, id="credentials"),
        pytest.param(standins.html(), 4, id="another site"),
        pytest.param(standins.dies_half_way(), 4, id="dies"),
    ],
)
def test_whatever_answers_nothing_breaks(
    path: Path, stand_in: Callable[[Behaviour], StandIn], behaviour: Behaviour, status: int
) -> None:
    """Hostile answers raise nothing, and what is written is a valid profile."""
    ended, output = init(stand_in(behaviour).base_url, path, "--sandbox", "--seconds=20")

    assert ended == status, output
    assert path.exists() is (status == 0)
    assert "\x1b" not in output
    if path.exists():
        assert read_profile(path).environment == "sandbox"


@pytest.mark.slow
def test_it_finds_the_names_of_another_implementation(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it learns of the second implementation is what the shipped profile of that says."""
    shipped = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))["bindings"]
    with running("late") as (base_url, environment):
        for name in ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET"):
            monkeypatch.setenv(name, environment[name])

        status, output = init(base_url, path, "--sandbox")

    assert status == 0, output
    bindings = yaml.safe_load(path.read_text(encoding="utf-8"))["bindings"]
    same = {"list_page_size", "list_cursor", "list_next", "config_currency", "terms_version"}
    assert {name: bindings[name] for name in same} == {name: shipped[name] for name in same}
    # What refusals taught is taken, and may hold more members than it has to.
    assert set(bindings) - same == {"providers", "stablecoin", "terms_consent"}
    assert bindings["terms_consent"]["version"] == "{version}"
    assert bindings["providers"]["KES"] == shipped["providers"]["KES"]


def test_it_finds_what_is_paid_for_a_purpose_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A corridor that needs a purpose is one, and quotes that are taken show the features."""
    with running("codes") as (base_url, environment):
        for name in ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET"):
            monkeypatch.setenv(name, environment[name])
        path.write_text(PURPOSEFUL, encoding="utf-8")

        status, output = init(base_url, path)

    assert status == 0, output
    added = [line for line in output.splitlines() if line.startswith("+")]
    assert "+  purpose_currencies: [MXN]" in added
    assert {"+  realtime_funding: true", "+  pullable_sources: true"} < set(added)
    # The second of two names is refused.
    assert "TZS: [VODACOM_TZ, TIGO]" in output


def test_it_finds_where_the_beneficiary_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accounts that are refused for want of one are tried with it elsewhere, and are known then."""
    with running("regulated") as (base_url, environment):
        for name in ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET"):
            monkeypatch.setenv(name, environment[name])

        status, output = init(base_url, path, "--sandbox")

    assert status == 0, output
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["bindings"]["beneficiary"] == (
        "beneficiary"
    )
    assert "or in need of other values" not in output
