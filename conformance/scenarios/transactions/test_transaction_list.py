"""Listing transactions, and the filters that the specification names."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, listed_members, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import FeatureUndeclared, ResourceMissing

NO_CARD = "Card:00000000-0000-4000-8000-000000000000"


@requirement("TRX-070")
def test_transactions_can_be_listed(platform: Platform) -> None:
    """No filter is needed."""
    answer = platform.api.list_transactions()

    assert answer.accepted, answer
    # Where in the answer the list stands is not shown.
    places = answer.body.values() if isinstance(answer.body, Mapping) else [answer.body]
    assert any(isinstance(place, list) for place in places), answer


@requirement("TRX-071", "TRX-072")
def test_a_status_keeps_to_the_transactions_at_it(platform: Platform, check: Check) -> None:
    """One transaction of the customer has arrived, another still waits."""
    source = platform.internal_accounts.account()
    arrived = platform.transactions.of_quote(
        platform.quotes.complete(platform.quotes.pending(source))
    )
    waiting = platform.transactions.of_quote(platform.quotes.pending(source))

    for known in (arrived, waiting):
        found = _filtered(
            platform, source, check, "TRX-072", status=require_member(known, "status")
        )

        with check("TRX-071"):
            assert {one.get("status") for one in found} <= {require_member(known, "status")}
        with check("TRX-072"):
            assert known["id"] in {one.get("id") for one in found}


@requirement("TRX-073", "TRX-074")
def test_a_type_keeps_to_the_transactions_of_it(platform: Platform, check: Check) -> None:
    """Among the card transactions, where there is such a type, there is no payout."""
    source = platform.internal_accounts.account()
    known = platform.transactions.of_quote(platform.quotes.pending(source))

    found = _filtered(platform, source, check, "TRX-074", type=require_member(known, "type"))

    with check("TRX-074"):
        assert known["id"] in {one.get("id") for one in found}
    with check("TRX-073"):
        assert {one.get("type") for one in found} <= {require_member(known, "type")}
        cards = platform.api.list_transactions({"type": "CARD"})
        if cards.accepted:
            assert {one.get("type") for one in listed_members(cards.body)} <= {"CARD"}


@requirement("TRX-800", "TRX-801")
def test_a_status_and_a_type_keep_to_the_transactions_of_both(
    platform: Platform, check: Check
) -> None:
    """One transaction of the customer has arrived, another of the same type still waits."""
    source = platform.internal_accounts.account()
    platform.quotes.complete(platform.quotes.pending(source))
    known = platform.transactions.of_quote(platform.quotes.pending(source))
    both = {name: require_member(known, name) for name in ("status", "type")}

    found = _filtered(platform, source, check, "TRX-801", **both)

    with check("TRX-801"):
        assert known["id"] in {one.get("id") for one in found}
    with check("TRX-800"):
        assert all({name: one.get(name) for name in both} == both for one in found), found


def test_what_an_unknown_type_or_status_finds_is_recorded(platform: Platform) -> None:
    """There may be nothing, or no such filter."""
    for name in ("type", "status"):
        unknown: dict[str, Any] = {name: "BURIED_TREASURE"}

        answer = platform.api.list_transactions(unknown)

        platform.observe(f"transactions of an unknown {name} are answered with {answer.status}")


@requirement("TRX-075")
def test_a_status_cannot_be_asked_of_card_transactions(platform: Platform) -> None:
    """The status filter is for payments, whose own type it may be combined with."""
    known = platform.transactions.of_quote(platform.quotes.pending())

    refusal = platform.api.list_transactions(
        {"status": require_member(known, "status"), "type": "CARD"}
    )

    refusal.refused(
        400,
        twin=platform.api.list_transactions(
            {"status": require_member(known, "status"), "type": require_member(known, "type")}
        ),
    )


@requirement("TRX-076")
def test_card_transactions_can_be_listed(platform: Platform) -> None:
    """The type alone is a filter like any other."""
    answer = platform.api.list_transactions({"type": "CARD"})

    broken = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if not answer.accepted and not broken and not platform.profile.features.cards:
        raise FeatureUndeclared("cards", because=f"their type is refused: {answer}")
    assert answer.accepted, answer


@requirement("TRX-077")
def test_a_card_keeps_to_its_own_transactions(platform: Platform) -> None:
    """A payout from an internal account was not made with a card."""
    source = platform.internal_accounts.account()
    payout = platform.quotes.complete(platform.quotes.pending(source))

    answer = platform.api.list_transactions({"cardId": NO_CARD})

    if not answer.accepted:
        raise ResourceMissing(f"the target does not list by a card that it does not know: {answer}")
    found = platform.transactions.of_customer(source["customerId"], cardId=NO_CARD)
    assert payout["transactionId"] not in {one.get("id") for one in found}


def _filtered(
    platform: Platform, source: Resource, check: Check, name: str, **filters: Any
) -> list[Json]:
    """Return the customer's transactions under ``filters``, and see that those are taken."""
    answer = platform.api.list_transactions(filters)
    with check(name):
        assert answer.accepted, answer
    return (
        list(platform.transactions.of_customer(source["customerId"], **filters))
        if answer.accepted
        else []
    )
