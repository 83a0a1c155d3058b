"""Where a profile offers several ways to a state, the next one is taken for one that is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from conformance.contract.data import FIXTURES
from conformance.platform.resource import merged
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

    assert "2 passed" in output, output
    observed = " ".join(one.text for one in read_report(tmp_path).observations)
    assert "deposits arrive by the sandbox operation, as deposit.arrive is refused" in observed
    assert "a proof of ownership by signature did not work: trigger ownership.sign: " in observed


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
