"""Several clients at once: what they are answered is what some order of their requests brings."""

from __future__ import annotations

from functools import partial

import pytest

from conformance.platform.platform import Platform
from conformance.verdict.decisions import expect


@pytest.mark.requirement("QUO-971")
def test_payments_of_several_clients_are_explained_by_an_order(
    platform: Platform, pytestconfig: pytest.Config
) -> None:
    """Two to four clients pay from one account and execute the same quotes, beside deposits."""
    from conformance.fuzz.model import clients  # noqa: PLC0415 - only where fuzzing is asked for

    problem = clients.search(
        partial(clients.payments_problem, platform),
        f"{pytestconfig.getoption('run_seed')}/payments",
        ("execute", "execute", "pay", "pay", "deposit"),
        pytestconfig.getoption("model_examples"),
        pytestconfig.getoption("budget"),
    )

    expect(problem is None, "what some order of the requests brings", problem)


@pytest.mark.requirement("CUS-970")
def test_changes_of_several_clients_are_explained_by_an_order(
    platform: Platform, pytestconfig: pytest.Config
) -> None:
    """Two to four clients change members of one customer; none of their changes is lost."""
    from conformance.fuzz.model import clients  # noqa: PLC0415 - only where fuzzing is asked for

    problem = clients.search(
        partial(clients.changes_problem, platform),
        f"{pytestconfig.getoption('run_seed')}/changes",
        tuple(clients.VALUES),
        pytestconfig.getoption("model_examples"),
        pytestconfig.getoption("budget"),
    )

    expect(problem is None, "what some order of the requests brings", problem)
