"""Payments that decide whether a beneficiary is refused, and payments of the platform itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource, without_members
from conformance.profile.resources import Corridor
from conformance.scenarios.cards.holdings import platform_account
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import SETTLING, Check
from conformance.scenarios.kit.refusals import REFUSED
from conformance.testdata.beneficiaries import BeneficiaryExample
from conformance.testdata.examples import Change
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

REGISTER = "platform_account.register"
_UNPAID = (*REFUSED, 409)
"""The statuses of a refused payment to an account that was created with a fault."""

TRANSFERRED = 10_000
"""What one customer sends to another, in the smallest unit."""

EXPIRED_CODES = ("QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE")
"""What may refuse the execution of a quote whose time is over."""

US_ACCOUNT = "usd_account"


def expect_refused_or_unpaid(
    platform: Platform,
    refusal: Answer,
    twin: Answer,
    example: BeneficiaryExample,
    fault: tuple[str, Change],
) -> None:
    """Assert that a fault of a beneficiary is refused with the account, or with a payment to it.

    The specification says what currencies require of a beneficiary, and not at which step it is
    checked; the payment may also be taken, and fail.

    Args:
        platform: the suite in the part of a platform.
        refusal: the answer to the creation of the account with the fault.
        twin: the answer to the creation of the account without it.
        example: the beneficiary without the fault.
        fault: the currency of the account, and the change that is the fault.

    Raises:
        ResourceMissing: no payment in the currency can be made, or not by the sender of the fault,
            or it comes to no end; or a trigger decides about the account, and not the target.
    """
    __tracebackhide__ = True
    if not refusal.accepted:
        refusal.refused(*REFUSED, twin=twin)
        return
    currency, change = fault
    customer = platform.approved.of_type(
        None if example.sender is None else example.sender == "BUSINESS"
    )
    sender = _approved_unregistered_business(platform) if example.unregistered_sender else customer
    account_answer, account_twin = (
        platform.api.create_external_account(
            platform.external_accounts.body_with_beneficiary(owner, currency, beneficiary),
            valid=False,
        )
        for owner, beneficiary in ((sender, example.changed(change)), (customer, example.twin))
    )
    if not account_answer.accepted:
        # The account of an approved customer is refused, though that of the first was not.
        account_answer.refused(*REFUSED, twin=account_twin)
        return
    twin_source = platform.internal_accounts.account(customer=customer, amount=100_000)
    source = (
        platform.internal_accounts.account(customer=sender, amount=100_000)
        if example.unregistered_sender
        else twin_source
    )
    faulty = arranged_resource(account_answer)
    if platform.external_accounts.waits_for_trigger(faulty):
        raise ResourceMissing(
            f"an account with the fault has the status {faulty['status']}: the trigger "
            "external_account.approve would decide about it in the place of the target"
        )
    twin_steps = _pay(platform, twin_source, arranged_resource(account_twin))
    if not twin_steps[-1].accepted:
        raise ResourceMissing(f"a payment in {currency} cannot be made: {twin_steps[-1]}")
    steps = _pay(platform, source, faulty)
    for answer, twin_step in zip(steps, twin_steps, strict=False):
        if not answer.accepted:
            answer.refused(*_UNPAID, twin=twin_step)
            return
    status = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED).get("status")
    if status in FAILED:
        platform.observe(f"a payment in {currency} is executed with the fault, and is {status}")
        return
    if status != "COMPLETED":
        raise ResourceMissing(f"whether the payment in {currency} arrives is not seen: {status}")
    raise AssertionError(
        f"an account in {currency} was created with the fault and paid to: {account_answer}"
    )


def _approved_unregistered_business(platform: Platform) -> Resource:
    """Return a business that may move money and has told no registrationNumber of its own.

    Raises:
        ResourceMissing: no business is approved without one, or its review has brought it one.
    """
    business = platform.customers.read(
        platform.approved.individual(**platform.customers.unregistered_business_members())
    )
    if verification_status(business) != "APPROVED":
        raise ResourceMissing("no business is approved without a registrationNumber")
    if (business.get("businessInfo") or {}).get("registrationNumber"):
        raise ResourceMissing("the review of the business has brought it a registrationNumber")
    return business


def _pay(platform: Platform, source: Resource, account: Resource) -> list[Answer]:
    """Quote a payment to an account and execute it; return the answer of each step."""
    return platform.quotes.create_and_execute(
        platform.quotes.body(source, platform.external_accounts.activate(account), amount=10_000)
    )


def paid_by(platform: Platform, customer_id: str) -> dict[str, Any]:
    """Return the status of each known payment of a customer, by the id of its transaction.

    A deposit may be a transaction too, and be listed late; it is none of these.
    """
    return {
        row["id"]: row.get("status")
        for row in platform.transactions.known_of_customer(customer_id)
        if row.get("quoteId") or row.get("type") == "OUTGOING" or row.get("direction") == "DEBIT"
    }


AMOUNT = 10_000


def fund_platform_account(platform: Platform) -> Resource:
    """Return an internal account of the platform that has ``AMOUNT`` at least to spend.

    Other tests may pay in and out at the same moment, so its balance is not known.

    Raises:
        ResourceMissing: no deposit to an account of the platform can be made.
        PreconditionFailed: the deposit did not arrive.
    """
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)
    try:
        platform.internal_accounts.settle_deposit(account, 2 * AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error
    platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance > before
    )
    if platform.internal_accounts.balances(account)[0] < AMOUNT:
        raise PreconditionFailed(f"the deposit to {account['id']} did not arrive")
    return account


def fund_usual_platform_account(platform: Platform) -> Resource:
    """Return an account of :func:`fund_platform_account` in the usual currency.

    Raises:
        ResourceMissing: the platform has none in it.
    """
    account = fund_platform_account(platform)
    if account["balance"]["currency"]["code"] != platform.profile.currency:
        raise ResourceMissing(f"the platform has no account in {platform.profile.currency}")
    return account


def corridor_from(platform: Platform, account: Resource) -> Corridor:
    """Return the first corridor of the profile that sends the currency of an account."""
    return platform.quotes.corridors_from(account["balance"]["currency"]["code"])[0]


def create_platform_external_account(platform: Platform, name: str) -> Resource:
    """Create an external account that belongs to the platform and to no customer.

    Args:
        platform: the suite in the part of a platform.
        name: an example of ``fixtures/accounts``.

    Raises:
        ResourceMissing: a request without ``customerId`` is refused, and the profile has no other
            way.
    """
    body = platform.external_accounts.body({"id": ""}, name)
    answer = platform.api.create_external_account(without_members(body, "customerId"))
    if answer.accepted:
        return platform.external_accounts.activate_platforms(arranged_resource(answer))
    if not platform.triggers.maps(REGISTER):
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    asked = platform.triggers.ask(
        REGISTER, currency=body["currency"], accountInfo=body["accountInfo"]
    )
    if not asked.accepted:
        raise ResourceMissing(f"the platform has no account of its own: {asked}")
    registered = str(asked.results()["externalAccountId"])
    row = platform.until(lambda: platform.external_accounts.listed_for_platform(registered), bool)
    if row is None:
        raise PreconditionFailed(
            f"{registered} is not listed among the platform's accounts", breaks=["EXT-087"]
        )
    return platform.external_accounts.activate_platforms(row)


def readable_platform_account(platform: Platform, name: str | None = None) -> Resource:
    """Create an external account of the platform that can be read by its id.

    Args:
        platform: the suite in the part of a platform.
        name: an example of ``fixtures/accounts``; that of the usual corridor by default.

    Raises:
        ResourceMissing: a request without ``customerId`` is refused, or the path of customers'
            accounts has none of the platform's.
    """
    try:
        account = create_platform_external_account(
            platform, name or platform.profile.usual_corridor.account
        )
    except PreconditionFailed as error:
        raise ResourceMissing(
            f"the platform's accounts are not read one by one: {error}"
        ) from error
    if not platform.api.get_external_account(account["id"]).accepted:
        raise ResourceMissing("the platform's accounts are not read by the path of customers")
    return account


def pulling_body(platform: Platform, customer: Resource) -> Json:
    """Return the body of a quote from a customer's external account to its internal account."""
    source = {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}
    return platform.quotes.body(
        source, platform.internal_accounts.account(amount=0, customer=customer)
    )


def expect_uncovered(platform: Platform, check: Check, source: Resource, body: Json) -> None:
    """Decide whether a source pays all that it has, and not one smallest unit more.

    Args:
        platform: the suite in the part of a platform.
        check: decides a requirement.
        source: an internal account that holds ``TRANSFERRED``.
        body: that of a quote from it.

    Raises:
        ResourceMissing: what the source holds is not paid either.
    """
    __tracebackhide__ = True
    before, _ = platform.internal_accounts.balances(source)
    body = {**body, "lockedCurrencySide": "SENDING"}

    steps = platform.quotes.create_and_execute({**body, "lockedCurrencyAmount": before + 1})

    balance_left, _ = platform.internal_accounts.balances(source)
    twin = platform.quotes.create_and_execute({**body, "lockedCurrencyAmount": before})
    if not twin[-1].accepted:
        raise ResourceMissing(f"what the source holds is not paid either: {twin[-1]}")
    with check("QUO-098"):
        assert all(status_of(step) not in SETTLING for step in steps), steps[-1]
    with check("QUO-099"):
        assert balance_left == before
    with check("ERR-001"):
        steps[-1].refused(400, "INSUFFICIENT_FUNDS", twin=twin[: len(steps)][-1])


def status_of(answer: Answer) -> Any:
    """Return the status of the quote in an answer, or None without a quote."""
    return answer.body.get("status") if isinstance(answer.body, Mapping) else None


def body_with_rail(platform: Platform, rail: str | None = None) -> Json:
    """Return the body of a quote to a US account by a rail, by default the first that it lists.

    Raises:
        ResourceMissing: no corridor leads to a US account, or the account does not list the rail.
    """
    source, destination = platform.quotes.ends(platform.quotes.corridor_to(US_ACCOUNT))
    return having_rail(platform.quotes.body(source, destination, side="SENDING"), destination, rail)


def having_rail(body: Json, destination: Json, rail: str | None = None) -> Json:
    """Return the body of a quote with a rail of its destination, by default the first.

    Raises:
        ResourceMissing: the account does not list the rail.
    """
    rails = value_at(destination, "accountInfo.paymentRails") or []
    if not rails or rail not in (None, *rails):
        raise ResourceMissing(f"{rail or 'no rail'} is not among the paymentRails {rails}")
    return having("destination.paymentRail", rail or rails[0])(body)
