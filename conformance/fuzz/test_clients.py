"""Several clients at once: what they are answered is what some order of their requests brings."""

from __future__ import annotations

from functools import partial

import pytest

from conformance.platform.platform import Platform
from conformance.platform.waiting import at_once
from conformance.verdict.decisions import PreconditionFailed, expect


@pytest.mark.requirement("QUO-971")
def test_payments_of_several_clients_are_explained_by_an_order(
    platform: Platform, pytestconfig: pytest.Config, seeds: list[int]
) -> None:
    """Two to four clients pay from one account and execute the same quotes, beside deposits."""
    from conformance.fuzz.model import clients  # noqa: PLC0415 - only where fuzzing is asked for

    problem = clients.search(
        partial(clients.payments_problem, platform),
        [f"{seed}/payments" for seed in seeds],
        ("execute", "execute", "pay", "transfer", "transfer", "deposit", "deposit"),
        2 * pytestconfig.getoption("model_examples"),
        pytestconfig.getoption("budget"),
    )

    expect(problem is None, "what some order of the requests brings", problem)


@pytest.mark.requirement("CUS-970")
def test_changes_of_several_clients_are_explained_by_an_order(
    platform: Platform, pytestconfig: pytest.Config, seeds: list[int]
) -> None:
    """Two to four clients change members of one customer; none of their changes is lost."""
    from conformance.fuzz.model import clients  # noqa: PLC0415 - only where fuzzing is asked for

    problem = clients.search(
        partial(clients.changes_problem, platform),
        [f"{seed}/changes" for seed in seeds],
        tuple(clients.VALUES),
        pytestconfig.getoption("model_examples"),
        pytestconfig.getoption("budget"),
    )

    expect(problem is None, "what some order of the requests brings", problem)


@pytest.mark.requirement("EXT-970")
def test_accounts_that_several_clients_register_are_all_listed(platform: Platform) -> None:
    """Four clients register an external account of one customer; each is listed."""
    from conformance.fuzz.model import clients  # noqa: PLC0415 - only where fuzzing is asked for

    owner = platform.approved.customer()
    bodies = [platform.external_accounts.body(owner) for _ in range(clients.AT_ONCE)]

    answers = at_once(*(partial(platform.api.create_external_account, body) for body in bodies))

    registered = [answer.body["id"] for answer in answers if answer.accepted]
    if not registered:
        raise PreconditionFailed(f"no account was registered: {answers[0]}")
    # Whether one account may be registered twice is open, so that ids may be the same.
    listed = platform.until(
        lambda: {account.id for account in platform.external_accounts.of_customer(owner)},
        lambda ids: set(registered) <= ids,
    )
    expect(
        set(registered) <= listed,
        f"{', '.join(registered)} in the list",
        ", ".join(sorted(listed)),
    )
