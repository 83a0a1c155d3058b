"""The honest variants of contact verification, hosted links and the blocking of money.

What a group holds can be applied together, as in the other modules of variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    accounts,
    contact,
    customers,
    errors,
    kyc_links,
    quotes,
    routes,
    rules,
)
from conformance.reference.store import Customer, Json, Quote
from conformance.reference.unit import Ask, Unit

Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_CONTACT = f"{_REFERENCE}.contact"
_LINKS = f"{_REFERENCE}.kyc_links"
_OPERATIONS = f"{_REFERENCE}.routes:OPERATIONS"
_CHANNELS = f"{_REFERENCE}.rules:CONTACT_CHANNELS"

_FIRST = "onboarding"
_SECOND = "other onboarding"
_OTHER_CODE = "999999"


def answers_with(operation: str, status: int, patch: Patch) -> None:
    """Answer an operation with another success."""
    patch.row(_OPERATIONS, operation, replace(routes.OPERATIONS[operation], status=status))


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
        partial(answers_with, _operation, _status),
        _group,
    )


# --- Channels -------------------------------------------------------------------------------


def only(channel: str, patch: Patch) -> None:
    """Ask for the verification of one channel alone."""
    for region in rules.EU_COUNTRIES:
        patch.row(_CHANNELS, region, (channel,))


declare("N004", "email-alone", "the EU verifies the email alone", partial(only, "email"), "apart")
declare(
    "N004", "phone-alone", "the EU verifies the phone alone", partial(only, "phone"), "other apart"
)


@variant("N004", "no region verifies channels", "further apart")
def nowhere(patch: Patch) -> None:
    patch.replace(_CHANNELS, {})


@variant("N004", "the United States verify channels too")
def in_america(patch: Patch) -> None:
    patch.row(_CHANNELS, "US", ("email", "phone"))


@variant("N004", "the United States verify the email", "last apart")
def email_in_america(patch: Patch) -> None:
    patch.row(_CHANNELS, "US", ("email",))


@variant("M75", "a contactVerification that is not required is null", _FIRST)
def null_contact(patch: Patch) -> None:
    def wrapper(view: Function) -> Function:
        return lambda customer: {"contactVerification": None, **view(customer)}

    patch.wrap(f"{_REFERENCE}.customers:view", wrapper)


@variant("N001", "a contactVerification tells more than the channels", _SECOND)
def more_about_channels(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def told(customer: Customer) -> Json | None:
            shown = original(customer)
            return shown and {**shown, "attemptsLeft": 3, "requiredBy": "PROVIDER"}

        return told

    patch.wrap(f"{_REFERENCE}.customers:contact_verification", wrapper)


@variant("M28", "addresses are asked for at the submission, and not at the creation", _FIRST)
def asked_at_submission(patch: Patch) -> None:
    patch.replace(f"{_CONTACT}:missing_errors", lambda _body: [])


@variant("N150", "a wrong code is answered with 409", _FIRST)
def wrong_code_conflicts(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def confirm(unit: Unit, ask: Ask, channel: str) -> Json:
            try:
                confirmed: Json = original(unit, ask, channel)
            except errors.Refusal as refusal:
                if refusal.code != "INVALID_INPUT":
                    raise
                raise errors.Refusal("CONFLICT", refusal.reason) from refusal
            return confirmed

        return confirm

    patch.wrap(f"{_CONTACT}:confirm", wrapper)


@variant("N150", "a wrong code is answered with 200, and leaves the channel pending", _SECOND)
def wrong_code_is_told(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def confirm(unit: Unit, ask: Ask, channel: str) -> Json:
            customer = customers.get(unit, ask.params["customerId"])
            code = ask.body.get("code") if isinstance(ask.body, dict) else None
            known = channel in customer.contact and isinstance(code, str) and code
            if known and not contact.is_right_code(customer.contact[channel], str(code)):
                return customers.view(customer)
            confirmed: Json = original(unit, ask, channel)
            return confirmed

        return confirm

    patch.wrap(f"{_CONTACT}:confirm", wrapper)


@variant("N150", "a wrong code uses up the right one")
def wrong_code_spoils(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def confirm(unit: Unit, ask: Ask, channel: str) -> Json:
            customer = customers.get(unit, ask.params["customerId"])
            code = ask.body.get("code") if isinstance(ask.body, dict) else None
            entry = customer.contact.get(channel, {})
            if entry.get("code") is not None and isinstance(code, str) and code != entry["code"]:
                contact.put(unit, customer, channel, {"status": "PENDING", "code": _OTHER_CODE})
                return {}
            confirmed: Json = original(unit, ask, channel)
            return confirmed

        return confirm

    patch.wrap(f"{_CONTACT}:confirm", wrapper)


@variant("N150", "a code works without having been sent", _FIRST)
def unsent_code(patch: Patch) -> None:
    patch.replace(f"{_CONTACT}:fresh", lambda: {"status": "PENDING", "code": rules.SANDBOX_CODE})


@variant("N150", "a used code is accepted again, and changes nothing", _FIRST)
def used_code(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def is_right(entry: Json, code: str) -> bool:
            used = entry["status"] == "VERIFIED" and code == rules.SANDBOX_CODE
            return used or bool(original(entry, code))

        return is_right

    patch.wrap(f"{_CONTACT}:is_right_code", wrapper)


@variant("N097", "a code for a channel that need not be verified is refused as wrong", _SECOND)
def unasked_code_is_wrong(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def confirm(unit: Unit, ask: Ask, channel: str) -> Json:
            if channel not in customers.get(unit, ask.params["customerId"]).contact:
                raise errors.invalid_input(errors.field_error("code", "No code was sent."))
            confirmed: Json = original(unit, ask, channel)
            return confirmed

        return confirm

    patch.wrap(f"{_CONTACT}:confirm", wrapper)


@variant("N097", "the refusals of channels carry another code of 409", _SECOND)
def other_conflict(patch: Patch) -> None:
    def refuse(customer: Customer, channel: str) -> None:
        if channel not in customer.contact:
            raise errors.Refusal("INVALID_STATE_TRANSITION", "Not required.")

    patch.replace(f"{_CONTACT}:refuse_not_required", refuse)


# --- Hosted links ---------------------------------------------------------------------------


@variant("M32", "a repeated key brings the same link", _FIRST)
def same_link(patch: Patch) -> None:
    known: dict[tuple[str, str], Json] = {}

    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Json:
            key = (ask.params["customerId"], ask.headers.get("idempotency-key", ""))
            if not key[1]:
                return dict(original(unit, ask))
            if key not in known:
                known[key] = original(unit, ask)
            return known[key]

        return create

    patch.wrap(f"{_LINKS}:create", wrapper)


@variant("M32", "a link needs an Idempotency-Key", _SECOND)
def key_required(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def refuse(ask: Ask) -> None:
            if not ask.headers.get("idempotency-key"):
                raise errors.invalid_input(errors.field_error("Idempotency-Key", "Required."))
            original(ask)

        return refuse

    patch.wrap(f"{_LINKS}:refuse_long_key", wrapper)


@variant("M58", "a key that is too long is refused with 422", _FIRST)
def long_key_unprocessable(patch: Patch) -> None:
    def refuse(ask: Ask) -> None:
        if len(ask.headers.get("idempotency-key", "")) > rules.LONGEST_IDEMPOTENCY_KEY:
            raise errors.Refusal("UNPROCESSABLE", "The key is too long.")

    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "UNPROCESSABLE", 422)
    patch.replace(f"{_LINKS}:refuse_long_key", refuse)


def _embedded(encode: Callable[[str], str], patch: Patch) -> None:
    def url_of(provider: rules.HostedFlow, redirect_uri: str) -> str:
        return f"{original(provider, '').partition('?')[0]}?return={encode(redirect_uri)}&lang=en"

    original = kyc_links.url_of
    patch.replace(f"{_LINKS}:url_of", url_of)


declare(
    "N153",
    "redirect-plain",
    "the redirectUri stands plainly in the kycUrl",
    partial(_embedded, str),
    _FIRST,
)
declare(
    "N153",
    "redirect-encoded-twice",
    "the redirectUri is encoded twice in the kycUrl",
    partial(_embedded, lambda text: quote(quote(text, safe=""), safe="")),
    _SECOND,
)


def _link(change: Callable[[Json], Json], patch: Patch) -> None:
    def wrapper(view: Function) -> Function:
        return lambda *arguments: change(dict(view(*arguments)))

    patch.wrap(f"{_LINKS}:view", wrapper)


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
    declare("M75", _name, _statement, partial(_link, _change), _group)


# --- Platform models and the blocking of money ----------------------------------------------


@variant("M56", "internal accounts come with the approval", _FIRST)
def accounts_with_approval(patch: Patch) -> None:
    def providing(provide: Function) -> Function:
        def provided(unit: Unit, customer_id: str, wanted: list[str]) -> None:
            unit.session.flush()
            if customers.is_verified(customers.get(unit, customer_id)):
                provide(unit, customer_id, wanted)

        return provided

    def reaching(reach: Function) -> Function:
        def reached(unit: Unit, customer: Customer, status: str) -> None:
            reach(unit, customer, status)
            accounts.provision_for_customer(unit, customer.id, customer.currencies)

        return reached

    patch.wrap(f"{_REFERENCE}.accounts:provision_for_customer", providing)
    patch.wrap(f"{_REFERENCE}.onboarding:reach", reaching)


@variant("M81", "quotes can be created before an approval, and are not executed", "apart")
def refused_at_execution(patch: Patch) -> None:
    def starting(start: Function) -> Function:
        def started(unit: Unit, quote: Quote, *action: Any) -> None:
            refuse_for(unit, quote)
            start(unit, quote, *action)

        return started

    def depositing(deposit: Function) -> Function:
        def deposited(unit: Unit, ask: Ask) -> None:
            refuse_for(unit, quotes.get(unit, ask.params["quoteId"]))
            deposit(unit, ask)

        return deposited

    def refuse_for(unit: Unit, quote: Quote) -> None:
        target = accounts.find(unit, quote.destination.get("accountId", ""))
        for owner in (quote.customer_id, target.customer_id if target else None):
            if owner is not None:
                customers.refuse_unverified(customers.get(unit, owner))

    careless = SimpleNamespace(**{**vars(customers), "refuse_unverified": lambda _customer: None})
    patch.replace(f"{_REFERENCE}.quotes:customers", careless)
    patch.replace(f"{_REFERENCE}.parties:refuse_unverified_receiver", lambda *_: None)
    patch.wrap(f"{_REFERENCE}.quotes:start", starting)
    patch.wrap(f"{_REFERENCE}.control:deposit", depositing)


@variant("M81", "deposits before an approval are taken and held back", _SECOND)
def held_back(patch: Patch) -> None:
    def wrapper(fund: Function) -> Function:
        def funded(unit: Unit, ask: Ask) -> Json:
            account = accounts.find(unit, ask.params["accountId"])
            owner = account and account.customer_id and customers.get(unit, account.customer_id)
            if account and owner and not customers.is_verified(owner):
                return accounts.view(unit, account)
            done: Json = fund(unit, ask)
            return done

        return funded

    patch.wrap(f"{_REFERENCE}.accounts:fund", wrapper)


@variant("M81", "money before an approval is refused with 400", _FIRST)
def refused_as_invalid(patch: Patch) -> None:
    def refuse(customer: Customer) -> None:
        if not customers.is_verified(customer):
            raise errors.Refusal("MISSING_MANDATORY_USER_INFO", "Not verified yet.")

    patch.replace(f"{_REFERENCE}.customers:refuse_unverified", refuse)
