"""Deprecated transfers that cannot be made: what is wrong with each, and that nothing moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    Ends,
    debited,
    ends,
    found,
    made,
    send,
    sound,
    transaction,
)
from conformance.verdict.decisions import ResourceMissing

REFUSED = (400, 422)
"""The statuses of a refusal for what a body says."""

ABSENT = (*REFUSED, 404)
"""Those for an account that the body names and nobody has."""

UNFIT = (*REFUSED, 409)
"""Those for two accounts that do not fit each other."""

ANONYMOUS = httpx.Auth()
ENDED = ("COMPLETED", "EXPIRED", *FAILED)

FAULTS: tuple[tuple[str, Direction, str, Any], ...] = (
    ("TRF-060", "out", "zero", 0),
    ("TRF-061", "out", "negative", -AMOUNT),
    ("TRF-062", "out", "fraction", AMOUNT + 0.5),
    ("TRF-063", "out", "word", "plenty"),
    ("TRF-064", "in", "zero", 0),
    ("TRF-065", "in", "negative", -AMOUNT),
    ("TRF-066", "in", "fraction", AMOUNT + 0.5),
    ("TRF-067", "in", "word", "plenty"),
)
"""Requirement, direction, name and amount of transfers that nobody can make."""

NOBODY: tuple[tuple[str, Direction, str], ...] = (
    ("TRF-054", "out", "source"),
    ("TRF-055", "out", "destination"),
    ("TRF-056", "in", "source"),
    ("TRF-057", "in", "destination"),
)
"""Requirement, direction, and the end that does not exist."""


@pytest.mark.parametrize(
    ("direction", "wrong"),
    [
        pytest.param(direction, wrong, marks=requirement(id_), id=f"{direction}-{name}")
        for id_, direction, name, wrong in FAULTS
    ],
)
def test_a_transfer_of_a_wrong_amount_is_refused(
    platform: Platform, direction: Direction, wrong: Any
) -> None:
    """Amounts are whole numbers of the smallest unit."""
    between = ends(platform, direction)

    refusal = send(platform, between, wrong)

    refusal.refused(*REFUSED, twin=sound(platform, between))


@requirement("TRF-068")
def test_a_negative_transfer_moves_nothing(platform: Platform) -> None:
    """It is no way to be credited."""
    between = ends(platform, "out")
    before, _ = platform.internal_accounts.balances(between.held)

    answer = send(platform, between, -AMOUNT)

    if answer.accepted:
        found(platform, between, answer)
    made(platform, ends(platform, "out"))
    assert platform.internal_accounts.balances(between.held)[0] == before


@pytest.mark.parametrize(
    ("direction", "end"),
    [
        pytest.param(direction, end, marks=requirement(id_), id=f"{direction}-{end}")
        for id_, direction, end in NOBODY
    ],
)
def test_a_transfer_that_names_an_unknown_account_is_refused(
    platform: Platform, direction: Direction, end: str
) -> None:
    """The id has the form of the target's own, and nobody has it."""
    between = ends(platform, direction)
    wrong = unknown_end(between, end)

    refusal = send(platform, wrong)

    refusal.refused(*ABSENT, twin=sound(platform, between))
    platform.observe(f"an unknown {end} of a transfer is refused with {refusal.status}")


@pytest.mark.parametrize(
    "direction",
    [
        pytest.param("out", marks=requirement("TRF-058"), id="out"),
        pytest.param("in", marks=requirement("TRF-059"), id="in"),
    ],
)
def test_a_transfer_converts_nothing(platform: Platform, direction: Direction) -> None:
    """Both accounts are in one currency."""
    between = ends(platform, direction)
    foreign = platform.quotes.corridor(same_currency=False)
    if direction == "out":
        other = platform.external_accounts.account({"id": between.owner}, foreign.account)
    else:
        other = platform.internal_accounts.account(other_currency(platform), amount=0)

    refusal = send(platform, replace(between, destination=other))

    refusal.refused(*UNFIT, twin=sound(platform, between))


@requirement("TRF-050", "TRF-051", "TRF-052")
def test_a_transfer_out_above_the_balance_is_not_made(platform: Platform, check: Check) -> None:
    """One smallest unit too much is too much."""
    between = ends(platform, "out", deposit=2 * AMOUNT)
    before = debited(platform, between)

    answer = send(platform, between, before + 1)
    status = None
    if answer.accepted:
        status = transaction(platform, between, answer, *ENDED).get("status")
    # What fails later may have been debited in between.
    left = platform.internal_accounts.wait_for_balance(between.held, before)
    twin = sound(platform, between, before)

    with check("TRF-050"):
        if not answer.accepted:
            answer.refused(twin=twin)
        assert status != "COMPLETED", answer
    with check("TRF-051"):
        assert left == before
    with check("TRF-052"):
        if answer.accepted:
            raise ResourceMissing(f"it is taken, and comes to {status} later")
        answer.refused(400, "INSUFFICIENT_FUNDS", twin=twin)


@pytest.mark.parametrize(
    ("direction", "options"),
    [
        pytest.param("out", "none", marks=requirement("TRF-070"), id="out-none"),
        pytest.param("out", "wrong", marks=requirement("TRF-071"), id="out-wrong"),
        pytest.param("in", "none", marks=requirement("TRF-072"), id="in-none"),
        pytest.param("in", "wrong", marks=requirement("TRF-073"), id="in-wrong"),
    ],
)
def test_a_transfer_without_the_right_credentials_is_refused(
    platform: Platform, direction: Direction, options: str
) -> None:
    """As any other request is."""
    between = ends(platform, direction)
    wrong = platform.api.client.credentials(client_secret="wrong")  # noqa: S106 - it is no secret
    auth = {"none": ANONYMOUS, "wrong": wrong}[options]

    refusal = send(platform, between, options={"auth": auth})

    refusal.refused(401, twin=sound(platform, between))


def unknown_end(between: Ends, end: str) -> Ends:
    """Return the ends of a transfer, one of which nobody has."""
    account: Resource = getattr(between, end)
    nobody = account.but(id=unknown_id(account.id))
    if end == "source":
        return replace(between, source=nobody)
    return replace(between, destination=nobody)


def other_currency(platform: Platform) -> str:
    """Return a currency that customers hold, beside that of transfers.

    Raises:
        ResourceMissing: the corridors name no other.
    """
    known = platform.quotes.corridor(same_currency=True).sending
    for corridor in platform.profile.resources.corridors:
        if corridor.sending != known:
            return corridor.sending
    raise ResourceMissing("resources.corridors of the profile names one sending currency alone")
