"""Where a profile offers several ways to a state, the next one is taken for one that is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.data import FIXTURES
from conformance.platform.given.verification import members_of_type
from conformance.platform.resource import merged
from conformance.reference.verification import documents, sandbox, verifications
from conformance.selftest.runs import Inside, read_report

SCENARIO = """
    from conformance.scenarios.kit.marks import requirement

    @requirement("ACC-013")
    def test_deposit(platform):
        account = platform.internal_accounts.account(amount=1000)
        assert platform.internal_accounts.balance(account) == 1000

    @requirement("EXT-047")
    def test_proof(platform):
        customer = platform.approved.customer()
        account = platform.ownership.unproven(customer)
        platform.ownership.prove(account)
        assert platform.external_accounts.read(account)["status"] == "ACTIVE"
    """


def profile(folder: Path, changes: dict[str, Any]) -> str:
    """Write the profile of the reference with some changes; return the option that takes it."""
    text = (FIXTURES / "profiles" / "reference.yaml").read_text(encoding="utf-8")
    content = merged(yaml.safe_load(text), changes)
    (folder / "profile.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return f"--profile={folder / 'profile.yaml'}"


def observed_by_both(output: str, reports: Path) -> str:
    """Assert that both tests of a run passed, and return what was observed."""
    assert "2 passed" in output, output
    return " ".join(one.text for one in read_report(reports).observations)


def test_the_next_way_is_taken(inside: Inside, against: tuple[str, str], tmp_path: Path) -> None:
    """A refused deposit goes by the sandbox operation, a proof without a signer by liveness."""
    broken = {
        "features": {"webhooks": False, "webhook_signatures": False},
        "bindings": {"ownership_signature": None},
        "triggers": {
            "deposit.arrive": {"http": {"url": "{origin}/control/nowhere/{accountId}"}},
            "ownership.sign": {"http": {"url": "{origin}/control/nowhere"}},
        },
    }

    _, output = inside(SCENARIO, against[0], profile(tmp_path, broken))

    observed = observed_by_both(output, tmp_path)
    assert "deposits arrive by the sandbox operation, as deposit.arrive is refused" in observed
    assert "a proof of ownership by signature did not work: trigger ownership.sign: " in observed


APPROVED = """
    import pytest
    from conformance.scenarios.kit.marks import requirement

    @requirement("VER-119")
    @pytest.mark.parametrize("business", [False, True])
    def test_approval(platform, business):
        platform.approved._memory.approval[business] = {first!r}
        platform.approved.of_type(business)
        assert platform.approved._memory.approval[business] == {then!r}
    """


REFUSED = {"triggers": {"customer.approve": {"http": {"url": "{origin}/control/nowhere"}}}}
"""No operator is told to approve: the sandbox does."""


def test_who_is_not_taken_directly_goes_by_the_hosted_flow(
    inside: Inside,
    against: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Individuals and businesses are approved, though no submission of them is accepted."""
    monkeypatch.setattr(sandbox, "outcome_of", lambda *_, **__: "APPROVED")

    def missing(_: object, packet: verifications.Packet) -> list[Any]:
        return [verifications.field_error(packet.customer.id, "nickname")]

    monkeypatch.setattr(verifications, "missing", missing)

    _, output = inside(
        APPROVED.format(first="directly", then="hosted"), against[0], profile(tmp_path, REFUSED)
    )

    observed = observed_by_both(output, tmp_path)
    assert "a customer does not come to its review directly: the review asks for" in observed


def test_whom_the_hosted_flow_leads_nowhere_is_taken_directly(
    inside: Inside,
    against: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Individuals and businesses are approved, though nobody can complete the hosted flow."""
    monkeypatch.setattr(sandbox, "outcome_of", lambda *_, **__: "APPROVED")
    nowhere = {"hosted_flow.complete": {"http": {"url": "{origin}/control/nowhere"}}}
    broken = merged(REFUSED, {"triggers": nowhere})

    _, output = inside(
        APPROVED.format(first="hosted", then="directly"), against[0], profile(tmp_path, broken)
    )

    observed = observed_by_both(output, tmp_path)
    assert "a customer does not come to its review by the hosted flow: trigger" in observed


def test_who_is_in_review_already_goes_no_other_way(
    inside: Inside,
    against: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Where the decision of a review does not come, no hosted link is asked for."""
    monkeypatch.setattr(sandbox, "outcome_of", lambda *_, **__: None)
    changes = {"timing": {"state": 0.3, "event": 0.3}, **REFUSED}

    inside(APPROVED.format(first="directly", then=""), against[0], profile(tmp_path, changes))

    asked = {line["operation"] for line in journal(tmp_path)}
    assert "createVerification" in asked
    assert "createKycLink" not in asked


def test_another_document_is_uploaded_for_one_that_is_refused(
    inside: Inside,
    against: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A business whose utility bill is not taken proves its address by the next type of proof."""
    kept = {name: it for name, it in documents.DOCUMENT_TYPES.items() if name != "UTILITY_BILL"}
    monkeypatch.setattr(documents, "DOCUMENT_TYPES", kept)

    _, output = inside(APPROVED.format(first="directly", then="directly"), *against)

    observed = observed_by_both(output, tmp_path)
    assert "a UTILITY_BILL is not taken, and another document is uploaded" in observed


def test_a_trigger_that_may_have_done_something_is_not_done_again(
    inside: Inside, against: tuple[str, str], tmp_path: Path
) -> None:
    """Where the second request of a deposit is refused, money may be there already."""
    calls = [
        {
            "url": "{base_url}/sandbox/internal-accounts/{accountId}/fund",
            "json": {"amount": "{amount}"},
        },
        {"url": "{origin}/control/nowhere"},
    ]
    broken = {
        "features": {"webhooks": False, "webhook_signatures": False},
        "triggers": {"deposit.arrive": {"http": calls}},
    }

    _, output = inside(SCENARIO, against[0], profile(tmp_path, broken), "-k", "deposit")

    assert "1 inconclusive" in output, output


ONE_SHOT = """
    from conformance.scenarios.kit.marks import requirement

    @requirement("TRX-016")
    def test_only_the_payout_that_is_meant_fails(platform):
        source = platform.internal_accounts.account(amount=100_000)
        sound = platform.external_accounts.account(source.owner)
        failing = platform.external_accounts.account(source.owner, trigger="payout.screen")
        quotes = [
            platform.quotes.pending(source, account) for account in (failing, sound)
        ]
        for quote in reversed(quotes):
            platform.quotes.execute(quote)

        def statuses():
            return [platform.transactions.of_quote(quote)["status"] for quote in quotes]

        def is_over(seen):
            return not {"PENDING", "PROCESSING"} & set(seen)

        failed, completed = platform.until(statuses, is_over)
        assert completed == "COMPLETED", completed
        assert failed != "COMPLETED", failed
    """


def test_a_one_shot_trigger_meets_its_payout(
    inside: Inside, against: tuple[str, str], tmp_path: Path
) -> None:
    """A payout to another account goes through before; a told answer is counted apart."""
    text = (FIXTURES / "profiles" / "reference.yaml").read_text(encoding="utf-8")
    screen = yaml.safe_load(text)["triggers"]["payout.screen"]
    changes = {
        "features": {"webhooks": False, "webhook_signatures": False},
        "triggers": {"payout.screen": {**screen, "scope": "next", "by": "answer"}},
    }

    _, output = inside(ONE_SHOT, against[0], profile(tmp_path, changes))

    assert "1 passed" in output, output
    report = read_report(tmp_path)
    assert report.run.told_answers == ("payout.screen",)
    sent = [line for line in journal(tmp_path) if line["operation"] in ("trigger", "executeQuote")]
    assert [line["operation"] for line in sent][-3:] == ["executeQuote", "trigger", "executeQuote"]


def journal(folder: Path) -> list[dict[str, Any]]:
    """Return the exchanges of the latest run in a folder."""
    path = folder / "reports" / "latest" / "journal" / "main.jsonl"
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [entry for entry in entries if entry["kind"] == "exchange"]


@pytest.mark.parametrize(
    ("magic", "of_individual", "of_business"),
    [
        ({"fullName": "Jane 002"}, {"fullName": "Jane 002"}, {}),
        ({"businessInfo": {"dba": "2"}}, {}, {"businessInfo": {"dba": "2"}}),
        ({"email": "no@example.com"}, {"email": "no@example.com"}, {"email": "no@example.com"}),
        ({"fullName": "J", "businessInfo": {}}, {"fullName": "J"}, {"businessInfo": {}}),
    ],
)
def test_a_magic_value_has_members_of_either_type(
    magic: dict[str, Any], of_individual: dict[str, Any], of_business: dict[str, Any]
) -> None:
    """A customer is created with those members of a magic value that its type has."""
    assert members_of_type(magic, business=False) == of_individual
    assert members_of_type(magic, business=True) == of_business
