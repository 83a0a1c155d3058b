"""Which fields a currency requires of a customer, and that no payment comes about without them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
    listed_members,
    without_members,
)
from conformance.profile.resources import Corridor
from conformance.scenarios.configuration.settings import (
    REQUIRED_FIELDS,
    required_fields_by_currency,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.testdata.accounts import account_examples
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

End = Literal["within", "sent", "received"]
"""Which of the two currencies of a transfer asks for fields."""


@requirement("CFG-001", "CFG-003")
def test_the_configuration_lists_the_supported_currencies(platform: Platform, check: Check) -> None:
    """``supportedCurrencies`` is an array that is not empty, and its entries are objects."""
    answer = platform.api.get_config()

    with check("CFG-001"):
        answer.expect_accepted()
    with check("CFG-003"):
        assert listed_members({"data": answer.body["supportedCurrencies"]}), "no currency is listed"


@requirement("CFG-002", "CFG-800")
def test_each_currency_names_the_fields_it_needs_of_a_customer(
    platform: Platform, check: Check
) -> None:
    """Every supported currency has ``providerRequiredCustomerFields``; the list may be empty."""
    answer = platform.api.get_config()

    currencies = listed_members(
        {"data": answer.body.get("supportedCurrencies") if answer.accepted else None}
    )
    if not currencies:
        raise PreconditionFailed(f"no supported currency is listed: {answer}")
    with check("CFG-800"):
        silent = [currency for currency in currencies if currency.get(REQUIRED_FIELDS) is None]
        assert not silent, f"without {REQUIRED_FIELDS}: {silent}"
    with check("CFG-002"):
        named = [currency.get(REQUIRED_FIELDS) for currency in currencies]
        assert all(isinstance(names, list) for names in named), named


@requirement("CFG-049")
def test_each_currency_that_customers_pay_in_is_supported(platform: Platform) -> None:
    """Every currency from which a quote is created is among the supportedCurrencies."""
    corridors = {corridor.sending: corridor for corridor in platform.profile.resources.corridors}
    quoted = []
    for currency, corridor in corridors.items():
        with contextlib.suppress(ResourceMissing):
            source, destination = platform.quotes.ends(corridor)
            platform.quotes.pending(source, destination)
            quoted.append(currency)

    supported = required_fields_by_currency(platform, platform.configuration.read())

    if not quoted:
        raise ResourceMissing(f"customers have no account in any of {', '.join(corridors)}")
    assert set(quoted) <= supported.keys(), supported.keys()


@requirement("CFG-007")
@pytest.mark.parametrize(
    ("end", "needed_id"),
    [
        case("CFG-005", "within", "within", "CFG-005"),
        case("CFG-052", "sent", "sent", "CFG-052"),
        case("CFG-051", "received", "received", "CFG-051"),
    ],
)
def test_a_field_that_a_currency_needs_has_to_be_supplied(
    platform: Platform, check: Check, end: End, needed_id: str
) -> None:
    """A transfer is accepted with all fields; without any one of them it is refused or fails.

    A field counts where a customer without it pays in a currency that does not ask for it: then the
    refusal is not that of a review, which may ask for the same field. Such a customer may have
    begun there, and have added the other currency later.
    """
    corridor, fields = corridor_with_required_fields(platform, end)
    body = body_for(platform, corridor)

    complete_transfer = transfer_of(platform, body, corridor)
    with check("CFG-007"):
        complete_transfer[-1].expect_accepted()

    with check(needed_id):
        elsewhere = {name: found for name in fields if (found := pays_elsewhere(platform, name))}
        if not elsewhere:
            raise ResourceMissing(f"without {fields} a customer pays in no other currency either")
        for name, other in elsewhere.items():
            lacking = without_members(body, name)
            transfers = [transfer_of(platform, lacking, corridor)]
            with contextlib.suppress(ResourceMissing):
                begun = {**lacking, "currencies": other.currencies}
                transfers.append(
                    transfer_of(platform, begun, corridor, currencies=lacking["currencies"])
                )
            for answers in transfers:
                if answers[-1].operation.id == "updateCustomer":
                    answers[-1].refused(twin=update_with_field(platform, body, name, other))
                    continue
                if len(answers) < len(complete_transfer) or not failed_later(platform, answers):
                    answers[-1].refused(twin=complete_transfer[len(answers) - 1])


@requirement("CFG-050")
def test_a_field_that_a_currency_needs_is_needed_just_in_time_too(platform: Platform) -> None:
    """A quote that is funded just in time is accepted with all fields, and refused without one.

    Or what a payment for it starts does not complete. As above, a field counts where a customer
    without it pays in another currency.
    """
    corridor, fields = corridor_with_required_fields(platform, "received")
    body = body_for(platform, corridor)
    twins = transfer_of(platform, body, corridor, in_time=True)
    if not twins[-1].accepted:
        raise ResourceMissing(f"nothing is funded just in time to {corridor.account}: {twins[-1]}")
    name = next((name for name in fields if pays_elsewhere(platform, name)), None)
    if name is None:
        raise ResourceMissing(f"without {fields} a customer pays in no other currency either")

    answers = transfer_of(platform, without_members(body, name), corridor, in_time=True)

    answer = answers[-1]
    if len(answers) < len(twins):
        raise ResourceMissing(f"no customer without {name} comes to a quote: {answer}")
    if answer.accepted:
        quote = arranged_resource(answer)
        customer_id = answers[0].body["id"]
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer_id)
        status = platform.transactions.at_status(quote, "COMPLETED", *FAILED).get("status")
        assert status != "COMPLETED", answer
        return
    answer.refused(twin=twins[-1])


@requirement("CFG-006")
def test_a_field_that_a_currency_needs_may_be_supplied_later(platform: Platform) -> None:
    """A transfer is accepted after an update of the customer with the required fields."""
    corridor, fields = corridor_with_required_fields(platform, "received")
    body = body_for(platform, corridor)
    created = platform.api.create_customer(
        {**without_members(body, *fields), "currencies": [platform.profile.currency]}
    )
    if not created.accepted:
        raise ResourceMissing(f"no customer can be created without {fields}: {created}")
    missing_members = {name: body[name] for name in fields}
    platform.customers.change(created.body, **missing_members, currencies=body["currencies"])

    answers = transfer(platform, created.body, corridor)

    answers[-1].expect_accepted()


# --- Helpers --------------------------------------------------------------------------------


def corridor_with_required_fields(platform: Platform, end: End) -> tuple[Corridor, list[str]]:
    """Return the corridor that requires the most fields, and those that can be left out.

    They are those of a currency ``within`` which money moves, or else of the one that is ``sent``
    or ``received`` and that the other does not ask for, too. Their names may be in capitals or with
    underscores. Where no corridor of the profile requires any, others are tried, within the
    currencies that do and between them and its usual one, as long as the target pays there; so is
    the one of these that requires the most, where it requires more.

    Raises:
        ResourceMissing: no currency that is paid requires a field that can be left out.
    """
    required = required_fields_by_currency(platform, platform.configuration.read())
    members = {letters_of(name): name for name in platform.customers.body()}

    def fields_of(corridor: Corridor) -> list[str]:
        sent, received = (
            {
                members[known]
                for name in required.get(code, ())
                if (known := letters_of(name)) in members
            }
            for code in (corridor.sending, corridor.receiving)
        )
        if (corridor.sending == corridor.receiving) != (end == "within"):
            return []
        return sorted({"within": sent, "sent": sent - received, "received": received - sent}[end])

    most = max(
        platform.profile.resources.corridors,
        key=lambda corridor: len(fields_of(corridor)),
        default=None,
    )
    fewest = 0 if most is None else len(fields_of(most))
    richer = sorted(
        (one for one in unnamed_corridors(platform, required) if len(fields_of(one)) > fewest),
        key=lambda corridor: -len(fields_of(corridor)),
    )
    # That one field is enough shows where several are asked for; one such corridor is tried.
    for corridor in richer[:1] if fewest else richer:
        if is_paid_along(platform, corridor):
            return corridor, fields_of(corridor)
    if most is not None and fewest:
        return most, fields_of(most)
    raise ResourceMissing(
        f"no currency that is paid here has {REQUIRED_FIELDS} that the suite can leave out"
    )


def unnamed_corridors(platform: Platform, currencies: Iterable[str]) -> Iterator[Corridor]:
    """Yield corridors between the usual currency and others, in each direction."""
    usual = platform.quotes.corridor(same_currency=True)
    accounts = {one.currency: one.name for one in [*account_examples().values()][::-1]}
    for code in currencies:
        if code in accounts and code != usual.sending:
            yield Corridor(sending=code, receiving=code, account=accounts[code])
            yield Corridor(sending=usual.sending, receiving=code, account=accounts[code])
            yield Corridor(sending=code, receiving=usual.receiving, account=usual.account)


def is_paid_along(platform: Platform, corridor: Corridor) -> bool:
    """Return whether a customer who supplies everything can pay along a corridor."""
    try:
        answers = transfer_of(platform, body_for(platform, corridor), corridor)
    except (PreconditionFailed, ResourceMissing, TriggerFailed) as error:
        platform.observe(f"{corridor.sending} to {corridor.receiving} is not paid: {error}")
        return False
    return answers[-1].accepted


def body_for(platform: Platform, corridor: Corridor) -> Json:
    """Return the body of a customer who can move money along a corridor."""
    return platform.customers.body(
        currencies=corridor.currencies, endUserTermsConsent=platform.customers.terms_consent()
    )


def pays_elsewhere(platform: Platform, name: str) -> Corridor | None:
    """Return where a customer who lacks a field pays in currencies that do not ask for it."""
    required = required_fields_by_currency(platform, platform.configuration.read())
    asking = {
        currency
        for currency, names in required.items()
        if letters_of(name) in map(letters_of, names)
    }
    for corridor in platform.profile.resources.corridors:
        if asking.isdisjoint(corridor.currencies):
            body = without_members(body_for(platform, corridor), name)
            with contextlib.suppress(ResourceMissing):
                if transfer_of(platform, body, corridor)[-1].accepted:
                    return corridor
            return None
    return None


def update_with_field(platform: Platform, body: Json, name: str, other: Corridor) -> Answer:
    """Add a field and the currencies that ask for it to a customer who had neither."""
    begun = {**without_members(body, name), "currencies": other.currencies}
    created = arranged_resource(create_like(platform, begun))
    members = {name: body[name], "currencies": body["currencies"]}
    return platform.api.update_customer(created["id"], members)


def transfer_of(
    platform: Platform, body: Json, corridor: Corridor, *, in_time: bool = False, **changes: Any
) -> list[Answer]:
    """Create a customer and send money along a corridor; return the answers up to a refusal.

    With ``in_time`` the last one is to a quote that is funded just in time. ``changes`` are members
    of the customer that are updated before the transfer; a refusal of them takes the place of the
    answer to the creation.
    """
    created = create_like(platform, body)
    if changes and created.accepted:
        updated = platform.api.update_customer(created.body["id"], changes)
        if not updated.accepted:
            return [updated]
    if not created.accepted:
        return [created]
    return [created, *transfer(platform, created.body, corridor, in_time=in_time)]


def create_like(platform: Platform, body: Json) -> Answer:
    """Create a customer who has a reference and an email address of its own."""
    return platform.api.create_customer(platform.customers.alike(body))


def transfer(
    platform: Platform, customer: Resource, corridor: Corridor, *, in_time: bool = False
) -> list[Answer]:
    """Send money of a customer along a corridor; return the answers up to a refusal.

    With ``in_time`` the last one is to a quote that is funded just in time.

    Raises:
        ResourceMissing: the customer is not approved, and moves no money at all.
    """
    approved = platform.customers.read(platform.approved.approve(customer))
    if (
        platform.profile.features.declares("unregulated")
        and verification_status(approved) != "APPROVED"
    ):
        raise ResourceMissing(
            f"the customer is {verification_status(approved)}, and moves no money at all"
        )
    created = platform.api.create_external_account(
        platform.external_accounts.body(customer, corridor.account)
    )
    if not created.accepted:
        return [created]
    account = platform.external_accounts.activate(created.body)
    if in_time:
        body = platform.quotes.realtime_body(customer, account)
        return [created, platform.api.create_quote(body)]
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    return [created, *platform.quotes.create_and_execute(platform.quotes.body(source, account))]


def failed_later(platform: Platform, answers: list[Answer]) -> bool:
    """Return whether a transfer whose steps were all accepted failed afterwards."""
    if not answers[-1].accepted:
        return False
    status = platform.transactions.at_status(answers[-1].body, "COMPLETED", *FAILED).get("status")
    platform.observe(f"a payout in a currency that needs more of the customer ends at {status}")
    return status in FAILED


def letters_of(name: Any) -> str:
    """Return the letters of a name, in lower case."""
    return "".join(filter(str.isalpha, str(name))).lower()
