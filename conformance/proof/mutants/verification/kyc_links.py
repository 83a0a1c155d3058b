"""Mutants of hosted links: who gets one, what it holds, and how long it is valid."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, after, around, before, edited, instead
from conformance.proof.kit.edits import Edit, put, without
from conformance.proof.kit.identifiers import declare_lookups, owner_of
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import key_without_marks
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import control, errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer, KycLink
from conformance.reference.unit import Ask, Unit
from conformance.reference.unit import after as moment_after
from conformance.reference.verification import kyc_links

Check = Callable[[Customer], None]


SHOWN: tuple[tuple[str, str, Edit], ...] = (
    ("KYC-001", "url-missing", without("kycUrl")),
    ("KYC-001", "url-number", put("kycUrl", 17)),
    ("KYC-001", "url-relative", put("kycUrl", "/start/8d0cf2a4")),
    ("KYC-002", "expiry-missing", without("expiresAt")),
    ("KYC-002", "expiry-seconds", put("expiresAt", 1_990_000_000)),
    ("KYC-002", "expiry-zoneless", put("expiresAt", "2099-01-15T09:00:00")),
    ("KYC-004", "provider-missing", without("provider")),
    ("KYC-004", "provider-number", put("provider", 17)),
    ("KYC-005", "token-number", put("token", 17)),
    ("KYC-005", "token-object", put("token", {"value": "8d0cf2a4"})),
)
"""Requirement, name and edit of links that are shown in another form."""

for _requirement, _name, _edit in SHOWN:
    declare(_requirement, _name, f"of a link: {_name}", edited(kyc_links, "view", _edit))


def customer_of(unit: Unit, ask: Ask) -> Customer:
    """Return the customer that a request names."""
    return customers.get(unit, ask.params["customerId"])


def refused_to(kind: str, patch: Patch) -> None:
    """Refuse links to one type of customer."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        if customer_of(unit, ask).customer_type == kind:
            raise errors.Refusal("CONFLICT", "Not for this type of customer.")
        return original(unit, ask)

    patch.wrap(kyc_links, "create", create)


def same_for(kind: str, patch: Patch) -> None:
    """Give a customer of one type the same link each time."""
    known: dict[str, Json] = {}

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customer_of(unit, ask)
        if customer.customer_type != kind:
            return original(unit, ask)
        if customer.id not in known:
            known[customer.id] = original(unit, ask)
        return known[customer.id]

    patch.wrap(kyc_links, "create", create)


def used_for(kind: str, patch: Patch) -> None:
    """Give a customer of one type the used link, once the flow is completed."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customer_of(unit, ask)
        shown = original(unit, ask)
        query = select(KycLink.url).where(KycLink.customer_id == customer.id, KycLink.used)
        used = unit.session.scalar(query.limit(1))
        return {**shown, "kycUrl": used} if used and customer.customer_type == kind else shown

    patch.wrap(kyc_links, "create", create)


def superseded(kind: str, patch: Patch) -> None:
    """Ignore what customers of one type do by another link than their last."""

    def complete(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customer_of(unit, ask)
        query = select(KycLink.url).where(KycLink.customer_id == customer.id)
        last = unit.session.scalar(query.order_by(KycLink.created_at.desc()).limit(1))
        if customer.customer_type == kind and ask.body["kycUrl"] != last:
            return None
        return original(unit, ask)

    patch.wrap(control, "complete_flow", complete)


def placeless(kind: str, patch: Patch) -> None:
    """Leave the redirectUri out of the links of one type of customer."""

    def url_of(original: Callable[..., str], provider: rules.HostedFlow, redirect_uri: str) -> str:
        url = original(provider, redirect_uri)
        return url.partition("?")[0] if provider == rules.HOSTED_FLOWS[kind] else url

    patch.wrap(kyc_links, "url_of", url_of)


def unchecked(kind: str, patch: Patch) -> None:
    """Give customers of one type links whatever their channels say."""

    def refuse(original: Check, customer: Customer) -> None:
        if customer.customer_type != kind:
            original(customer)

    patch.wrap(kyc_links, "refuse_unverified_contact", refuse)


def locked(kind: str, patch: Patch) -> None:
    """Refuse links to customers of one type who had a channel to verify, also afterwards."""

    def refuse(original: Check, customer: Customer) -> None:
        original(customer)
        if customer.customer_type == kind and customer.contact:
            raise errors.Refusal("CONFLICT", "Not verified yet.")

    patch.wrap(kyc_links, "refuse_unverified_contact", refuse)


def reviewed_again(kind: str, patch: Patch) -> None:
    """Begin another review of an approved customer of one type who follows any link."""

    def complete(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customer_of(unit, ask)
        if customer.customer_type != kind or customer.status != "APPROVED":
            return original(unit, ask)
        return onboarding.reach(unit, customer, "PENDING")

    patch.wrap(control, "complete_flow", complete)


def approved_again(kind: str, patch: Patch) -> None:
    """Begin such a review, and end it at once."""
    reviewed_again(kind, patch)

    def complete(original: Handler, unit: Unit, ask: Ask) -> Any:
        was_approved = customer_of(unit, ask).status == "APPROVED"
        answer = original(unit, ask)
        if was_approved:
            customer_of(unit, ask).status = "APPROVED"
        return answer

    patch.wrap(control, "complete_flow", complete)


BY_TYPE: tuple[tuple[str, str, str, Callable[[str, Patch], None]], ...] = (
    ("KYC-006", "KYC-007", "get no link", refused_to),
    ("KYC-008", "KYC-009", "get the same link each time", same_for),
    ("KYC-008", "KYC-009", "get the used link again after the flow", used_for),
    ("KYC-011", "KYC-012", "cannot use any link but their last", superseded),
    ("KYC-013", "KYC-014", "get links that lead nowhere afterwards", placeless),
    ("KYC-020", "KYC-025", "get links before their channels are verified", unchecked),
    ("KYC-035", "KYC-036", "are reviewed again by a used link", reviewed_again),
    ("KYC-035", "KYC-036", "are reviewed and approved again by a used link", approved_again),
    ("KYC-024", "KYC-026", "get no link after their channels are verified", locked),
)
"""The requirement for individuals, that for businesses, what becomes of them, and the patch."""

for _individual, _business, _statement, _make in BY_TYPE:
    for _requirement, _kind in ((_individual, "INDIVIDUAL"), (_business, "BUSINESS")):
        declare(
            _requirement,
            _make.__name__,
            f"customers of the type {_kind} {_statement}",
            partial(_make, _kind),
        )


LIVES = (
    ("expired-long-ago", "expired a day before it was made", 86_400),
    ("expired-an-hour-ago", "expired an hour before it was made", 3_600),
    ("expired-a-moment-ago", "expired two seconds before it was made", 2),
)


def expired(seconds: int) -> Apply:
    """Let links expire some seconds before they are made."""
    return instead(kyc_links, "expiry_of", lambda unit: moment_after(unit.now, -seconds))


for _name, _statement, _seconds in LIVES:
    declare("KYC-003", _name, f"a link {_statement}", expired(_seconds))


@mutant("KYC-003", "the second link of a customer has expired", (kyc_links, "create"))
def second_expired(original: Handler, unit: Unit, ask: Ask) -> Any:
    query = select(KycLink).where(KycLink.customer_id == ask.params["customerId"])
    is_second = unit.session.scalar(query.limit(1)) is not None
    link = original(unit, ask)
    return {**link, "expiresAt": "2020-01-15T09:00:00Z"} if is_second else link


@mutant(
    "KYC-010", "links that are made in the same second are the same", (kyc_links, "url_of"), instead
)
def by_the_second(provider: rules.HostedFlow, redirect_uri: str) -> str:
    return f"{provider.url}/{int(time.time())}?redirectUri={quote(redirect_uri, safe='')}"


@mutant("KYC-015", "links lead to places in lower case", (kyc_links, "url_of"))
def lower_case_place(
    original: Callable[..., str], provider: rules.HostedFlow, redirect_uri: str
) -> str:
    return original(provider, redirect_uri.lower())


@mutant("KYC-015", "links lead to the top of a page", (kyc_links, "url_of"))
def top_of_page(original: Callable[..., str], provider: rules.HostedFlow, redirect_uri: str) -> str:
    return original(provider, redirect_uri.partition("#")[0])


@mutant("KYC-015", "every link leads to the place that the first one named")
def first_place(patch: Patch) -> None:
    places: list[str] = []

    def url_of(original: Callable[..., str], provider: rules.HostedFlow, redirect_uri: str) -> str:
        places.append(redirect_uri)
        return original(provider, places[0])

    patch.wrap(kyc_links, "url_of", url_of)


@mutant("KYC-018", "customers who do not exist get links", (kyc_links, "create"))
def unknown_served(original: Handler, unit: Unit, ask: Ask) -> Any:
    if unit.session.get(Customer, ask.params["customerId"]) is not None:
        return original(unit, ask)
    return {
        "kycUrl": "https://kyc.reference.example/start/8d0cf2a4",
        "expiresAt": "2099-01-15T09:00:00Z",
        "provider": "REFERENCE_KYC",
    }


@mutant("KYC-018", "a link for an unknown customer is refused with 400")
def unknown_is_invalid(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "CUSTOMER_NOT_FOUND", 400)


@mutant(
    "KYC-019", "the code for an unknown customer is that of a quote", (customers, "get"), instead
)
def unknown_quote(unit: Unit, customer_id: str) -> Customer:
    customer = unit.session.get(Customer, customer_id)
    if customer is None:
        raise errors.Refusal("QUOTE_NOT_FOUND", "There is none.")
    return customer


@mutant(
    "KYC-021",
    "a channel counts as verified once a code was sent to it",
    (customers, "unverified_channels"),
    instead,
)
def sent_counts(customer: Customer) -> list[str]:
    untouched = {"status": "PENDING", "code": None}
    return [name for name, entry in customer.contact.items() if entry == untouched]


def one_is_enough(channel: str) -> Apply:
    """Ask for the verification of one channel alone."""
    return around(
        customers,
        "unverified_channels",
        lambda original, customer: [name for name in original(customer) if name == channel],
    )


for _requirement, _channel in (("KYC-022", "email"), ("KYC-023", "phone")):
    declare(
        _requirement,
        "one-is-enough",
        f"the {_channel} is enough for a link",
        one_is_enough(_channel),
    )

for _number in (20, 21, 22, 23, 25):
    declare(
        f"KYC-0{_number}",
        "other-status",
        "the refusal is a 400",
        with_status("CONFLICT", 400),
    )


@mutant(
    "KYC-027",
    "a link needs a verified channel, also where none is asked for",
    (kyc_links, "refuse_unverified_contact"),
    after,
)
def channel_everywhere(customer: Customer) -> None:
    if not customer.contact:
        raise errors.Refusal("CONFLICT", "Verify a channel first.")


@mutant("KYC-017", "the review of a business begins with its link", (kyc_links, "create"), after)
def begun(unit: Unit, ask: Ask) -> None:
    customer = customer_of(unit, ask)
    if customer.customer_type == "BUSINESS":
        customer.status = "PENDING"


declare_lookups((("KYC-800", "linked", (kyc_links, "create"), "customerId", owner_of),))


@mutant("KYC-034", "a key brings the same link whoever it is sent for")
def link_by_key(patch: Patch) -> None:
    links: dict[str, Json] = {}

    def creating(create: Function, unit: Unit, ask: Ask) -> Json:
        answer = create(unit, ask)
        return links.setdefault(ask.headers["idempotency-key"], answer)

    patch.wrap(kyc_links, "create", creating)


@mutant("KYC-028", "a link works as often as it is followed", (kyc_links, "use"), after)
def reusable(unit: Unit, customer: Customer, url: str) -> None:
    query = select(KycLink).where(KycLink.customer_id == customer.id, KycLink.url == url)
    for link in unit.session.scalars(query):
        link.used = False


def _of_persons(original: Callable[..., list[str]], customer: Customer) -> list[str]:
    waiting = original(customer)
    some_verified = len(waiting) < len(customer.contact)
    return [] if customer.customer_type == "BUSINESS" and some_verified else waiting


for _requirement in ("KYC-022", "KYC-023"):
    declare(
        _requirement,
        "of-a-business",
        "a business needs one verified channel alone",
        around(customers, "unverified_channels", _of_persons),
    )


@mutant("KYC-020", "the channels of the region in which a customer was created are looked at")
def region_of_creation(patch: Patch) -> None:
    wanted: set[str] = set()

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = original(unit, ask)
        if customer.get("contactVerification"):
            wanted.add(customer["id"])
        return customer

    def refuse(original: Function, customer: Customer) -> None:
        if customer.id in wanted:
            original(customer)

    patch.wrap(onboarding, "create", create)
    patch.wrap(kyc_links, "refuse_unverified_contact", refuse)


declare("KYC-037", "marks", "a key has no marks", before(kyc_links, "create", key_without_marks))
