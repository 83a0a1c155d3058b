"""Conforming variants of contact verification, hosted links and the blocking of money."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from conformance.proof.kit.builders import Json, around, before, edited, instead, recoded
from conformance.proof.mutants.customers.toolkit import accounts_with_approval
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import control, errors, routes, rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Customer, Quote
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import contact, kyc_links, verifications
from conformance.text.paths import value_at

_FIRST = "onboarding"
_SECOND = "other onboarding"
_OTHER_CODE = "999999"


def answers_with(operation: str, status: int) -> Apply:
    """Answer an operation with another success."""

    def apply(patch: Patch) -> None:
        patch.row(
            routes, "OPERATIONS", operation, replace(routes.OPERATIONS[operation], status=status)
        )

    return apply


for _operation, _status, _group in (
    ("sendEmailCode", 200, _FIRST),
    ("sendPhoneCode", 202, _FIRST),
    ("confirmEmail", 204, _FIRST),
    ("confirmPhone", 201, _FIRST),
    ("createKycLink", 200, _FIRST),
    ("createKycLink", 202, _SECOND),
):
    declare(
        "N069",
        f"{_operation}-{_status}",
        f"{_operation} answers with {_status}",
        answers_with(_operation, _status),
        _group,
    )


@variant("N422", "hosted links have their scheme in capitals", _FIRST, (kyc_links, "url_of"))
def scheme_in_capitals(url_of: Function, *arguments: Any) -> str:
    scheme, _, rest = url_of(*arguments).partition(":")
    return f"{scheme.upper()}:{rest}"


# --- Channels -------------------------------------------------------------------------------


def only(channel: str) -> Apply:
    """Ask for the verification of one channel alone."""

    def apply(patch: Patch) -> None:
        for region in rules.EU_COUNTRIES:
            patch.row(rules, "CONTACT_CHANNELS", region, (channel,))

    return apply


declare("N004", "email-alone", "the EU verifies the email alone", only("email"), "apart")
declare("N004", "phone-alone", "the EU verifies the phone alone", only("phone"), "other apart")


@variant("N004", "the United States verify channels too")
def in_america(patch: Patch) -> None:
    patch.row(rules, "CONTACT_CHANNELS", "US", ("email", "phone"))


@variant("N004", "the United States verify the email", "last apart")
def email_in_america(patch: Patch) -> None:
    patch.row(rules, "CONTACT_CHANNELS", "US", ("email",))


@variant(
    "N004",
    "a business from abroad that names no region is asked for the contact channels of its country",
    "apart",
    (contact, "missing_errors"),
)
def asked_by_the_country(missing_errors: Function, body: Any) -> Any:
    country = value_at(body, "businessInfo.country")
    if not isinstance(body, dict) or not isinstance(country, str) or country == "US":
        return missing_errors(body)
    return missing_errors({**body, "region": body.get("region") or country})


@variant("M75", "a contactVerification that is not required is null", _FIRST)
def null_contact(patch: Patch) -> None:
    patch.wrap(
        customers, "view", lambda view, customer: {"contactVerification": None, **view(customer)}
    )


@variant(
    "N001",
    "a contactVerification tells more than the channels",
    _SECOND,
    (customers, "contact_verification"),
    edited,
)
def more_about_channels(shown: Any) -> Json | None:
    return shown and {**shown, "attemptsLeft": 3, "requiredBy": "PROVIDER"}


@variant("M28", "addresses are asked for at the submission, and not at the creation", _FIRST)
def asked_at_submission(patch: Patch) -> None:
    missing_errors = contact.missing_errors

    def missing(original: Function, unit: Unit, packet: verifications.Packet) -> list[Json]:
        customer = packet.customer
        lacking = missing_errors(contact.members_after(customer, {}))
        asked = [verifications.field_error(customer.id, error["field"]) for error in lacking]
        return [*original(unit, packet), *asked]

    patch.replace(contact, "missing_errors", lambda _body: [])
    patch.wrap(verifications, "missing", missing)


@variant("M35", "a channel that is not verified is told beside what is missing", "last apart")
def channels_told_at_submission(patch: Patch) -> None:
    asked_at_submission(patch)

    def missing(original: Function, unit: Unit, packet: verifications.Packet) -> list[Json]:
        customer = packet.customer
        told = [
            {
                **verifications.field_error(customer.id, rules.CHANNEL_ADDRESS[channel]),
                "type": "CONTACT_NOT_VERIFIED",
            }
            for channel in customers.unverified_channels(customer)
        ]
        return [*original(unit, packet), *told]

    patch.replace(verifications, "refuse_unverified_contact", lambda _customer: None)
    patch.wrap(verifications, "missing", missing)


declare(
    "N150",
    "wrong-code-conflicts",
    "a wrong code is answered with 409",
    recoded(contact, "confirm", "CONFLICT", "INVALID_INPUT"),
    _FIRST,
)


@variant(
    "N150",
    "a wrong code is answered with 200, and leaves the channel pending",
    _SECOND,
    (contact, "confirm"),
)
def wrong_code_is_told(original: Function, unit: Unit, ask: Ask, channel: str) -> Json:
    customer = customers.get(unit, ask.params["customerId"])
    code = ask.body.get("code") if isinstance(ask.body, dict) else None
    known = channel in customer.contact and isinstance(code, str) and code
    if known and not contact.is_right_code(customer.contact[channel], str(code)):
        return customers.view(customer)
    confirmed: Json = original(unit, ask, channel)
    return confirmed


declare(
    "N150",
    "sent-at-creation",
    "a new customer is sent its codes without being asked for them",
    instead(contact, "fresh", lambda: {"status": "PENDING", "code": rules.SANDBOX_CODE}),
    _SECOND,
)


@variant("N150", "a wrong code uses up the right one", place=(contact, "confirm"))
def wrong_code_spoils(original: Function, unit: Unit, ask: Ask, channel: str) -> Json:
    customer = customers.get(unit, ask.params["customerId"])
    code = ask.body.get("code") if isinstance(ask.body, dict) else None
    entry = customer.contact.get(channel, {})
    if entry.get("code") is not None and isinstance(code, str) and code != entry["code"]:
        contact.put(unit, customer, channel, {"status": "PENDING", "code": _OTHER_CODE})
        return {}
    confirmed: Json = original(unit, ask, channel)
    return confirmed


@variant("N150", "a code works without having been sent", _FIRST)
def unsent_code(patch: Patch) -> None:
    patch.replace(contact, "fresh", lambda: {"status": "PENDING", "code": rules.SANDBOX_CODE})


@variant(
    "N150", "a used code is accepted again, and changes nothing", _FIRST, (contact, "is_right_code")
)
def used_code(original: Function, entry: Json, code: str) -> bool:
    used = entry["status"] == "VERIFIED" and code == rules.SANDBOX_CODE
    return used or bool(original(entry, code))


@variant(
    "N097",
    "a code for a channel that need not be verified is refused as wrong",
    _SECOND,
    (contact, "confirm"),
    before,
)
def unasked_code_is_wrong(unit: Unit, ask: Ask, channel: str) -> None:
    if channel not in customers.get(unit, ask.params["customerId"]).contact:
        raise errors.invalid_input(errors.field_error("code", "No code was sent."))


@variant(
    "N097",
    "the refusals of channels carry another code of 409",
    _SECOND,
    (contact, "refuse_not_required"),
    instead,
)
def other_conflict(customer: Customer, channel: str) -> None:
    if channel not in customer.contact:
        raise errors.Refusal("INVALID_STATE_TRANSITION", "Not required.")


# --- Hosted links ---------------------------------------------------------------------------


@variant("M32", "a repeated key brings the same link", _FIRST)
def same_link(patch: Patch) -> None:
    known: dict[tuple[str, str], Json] = {}

    def create(original: Function, unit: Unit, ask: Ask) -> Json:
        key = (ask.params["customerId"], ask.headers.get("idempotency-key", ""))
        if not key[1]:
            return dict(original(unit, ask))
        if key not in known:
            known[key] = original(unit, ask)
        return known[key]

    patch.wrap(kyc_links, "create", create)


@variant("M32", "a link needs an Idempotency-Key", _SECOND, (kyc_links, "refuse_long_key"), before)
def key_required(ask: Ask) -> None:
    if not ask.headers.get("idempotency-key"):
        raise errors.invalid_input(errors.field_error("Idempotency-Key", "Required."))


@variant("M58", "a key that is too long is refused with 422", _FIRST)
def long_key_unprocessable(patch: Patch) -> None:
    def refuse(ask: Ask) -> None:
        if len(ask.headers.get("idempotency-key", "")) > rules.MAX_IDEMPOTENCY_KEY_CHARS:
            raise errors.Refusal("UNPROCESSABLE", "The key is too long.")

    patch.row(rules, "ERROR_STATUS", "UNPROCESSABLE", 422)
    patch.replace(kyc_links, "refuse_long_key", refuse)


def _embedded(encode: Callable[[str], str]) -> Apply:
    def apply(patch: Patch) -> None:
        def url_of(provider: rules.HostedFlow, redirect_uri: str) -> str:
            return (
                f"{original(provider, '').partition('?')[0]}?return={encode(redirect_uri)}&lang=en"
            )

        original = kyc_links.url_of
        patch.replace(kyc_links, "url_of", url_of)

    return apply


declare(
    "N153",
    "redirect-plain",
    "the redirectUri stands plainly in the kycUrl",
    _embedded(str),
    _FIRST,
)
declare(
    "N153",
    "redirect-encoded-twice",
    "the redirectUri is encoded twice in the kycUrl",
    _embedded(lambda text: quote(quote(text, safe=""), safe="")),
    _SECOND,
)


def _link(change: Callable[[Json], Json]) -> Apply:
    return around(kyc_links, "view", lambda view, *arguments: change(dict(view(*arguments))))


def _without_token(body: Json) -> Json:
    return {name: value for name, value in body.items() if name != "token"}


for _name, _statement, _change, _group in (
    ("no-token", "no provider can be embedded", _without_token, _FIRST),
    (
        "null-token",
        "a token that is not given is null",
        lambda body: {"token": None, **body},
        _SECOND,
    ),
    (
        "more-of-links",
        "a link has more members",
        lambda body: {"id": "KycLink:1", "createdAt": "2026-01-15T09:00:00Z", **body},
        _SECOND,
    ),
    (
        "offset",
        "the expiry of a link is written with its offset",
        lambda body: {**body, "expiresAt": body["expiresAt"].replace("Z", "+00:00")},
        _FIRST,
    ),
):
    declare("M75", _name, _statement, _link(_change), _group)


# --- Platform models and the blocking of money ----------------------------------------------


declare(
    "M56",
    "accounts-with-approval",
    "internal accounts come with the approval",
    accounts_with_approval,
    _FIRST,
)


@variant("M81", "quotes can be created before an approval, and are not executed", "apart")
def refused_at_execution(patch: Patch) -> None:
    def started(start: Function, unit: Unit, quote: Quote, *action: Any) -> None:
        refuse_for(unit, quote)
        start(unit, quote, *action)

    def deposited(deposit: Function, unit: Unit, ask: Ask) -> None:
        refuse_for(unit, quotes.get(unit, ask.params["quoteId"]))
        deposit(unit, ask)

    def refuse_for(unit: Unit, quote: Quote) -> None:
        target = accounts.find(unit, quote.destination.get("accountId", ""))
        for owner in (quote.customer_id, target.customer_id if target else None):
            if owner is not None:
                customers.refuse_unverified(customers.get(unit, owner))

    careless = SimpleNamespace(**{**vars(customers), "refuse_unverified": lambda _customer: None})
    patch.replace(quotes, "customers", careless)
    patch.replace(parties, "refuse_unverified_receiver", lambda *_: None)
    patch.wrap(quotes, "start", started)
    patch.wrap(quotes, "perform", started)
    patch.wrap(control, "deposit", deposited)


@variant("M81", "deposits before an approval are taken and held back", _SECOND, (accounts, "fund"))
def held_back(fund: Function, unit: Unit, ask: Ask) -> Json:
    account = accounts.find(unit, ask.params["accountId"])
    owner = account and account.customer_id and customers.get(unit, account.customer_id)
    if account and owner and not customers.is_verified(owner):
        return accounts.view(unit, account)
    done: Json = fund(unit, ask)
    return done


@variant(
    "M81",
    "money before an approval is refused with 400",
    _FIRST,
    (customers, "refuse_unverified"),
    instead,
)
def refused_as_invalid(customer: Customer) -> None:
    if not customers.is_verified(customer):
        raise errors.Refusal("MISSING_MANDATORY_USER_INFO", "Not verified yet.")


@variant(
    "M81",
    "money is blocked while a review is PENDING, and at no other status",
    "codes",
    (customers, "refuse_unverified"),
)
def blocked_while_pending(refuse: Function, customer: Customer) -> None:
    if customer.status == "PENDING":
        refuse(customer)


@variant("N153", "the redirectUri stands in a token of the kycUrl", "apart", (kyc_links, "url_of"))
def redirect_in_a_token(url_of: Function, provider: rules.HostedFlow, redirect_uri: str) -> str:
    told = json.dumps({"redirect": redirect_uri}).encode()
    token = base64.urlsafe_b64encode(told).decode().rstrip("=")
    start = url_of(provider, "").partition("?")[0]
    return f"{start}?state=header.{token}.seal"
