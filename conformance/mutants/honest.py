"""The honest variants: other choices than the reference makes where the specification is open.

What a group holds can be applied together: no two of its variants change the same thing, and none
leaves the others nothing to show.
"""

from __future__ import annotations

import itertools
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import partial
from types import SimpleNamespace
from typing import Any

from conformance.mutants.fields import answering
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    accounts,
    customers,
    errors,
    externals,
    fields,
    money,
    pages,
    parties,
    quotes,
    rules,
    sca,
    settlement,
    transactions,
)
from conformance.reference.deliveries import Deliveries
from conformance.reference.store import Customer, ExternalAccount, InternalAccount, Quote
from conformance.reference.unit import Ask, Unit, clock

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_CODES = f"{_REFERENCE}.rules:ERROR_STATUS"
_TRANSITIONS = f"{_REFERENCE}.rules:QUOTE_TRANSITIONS"

_QUOTE = f"{_REFERENCE}.quotes:view"
_CHALLENGE = f"{_REFERENCE}.sca:view"
_TRANSACTION = f"{_REFERENCE}.transactions:view"
_INTERNAL_ACCOUNT = f"{_REFERENCE}.accounts:_view"
_EXTERNAL_ACCOUNT = f"{_REFERENCE}.externals:view"
_CUSTOMER = f"{_REFERENCE}.customers:view"
_CURRENCY = f"{_REFERENCE}.money:currency_view"
_CONFIG = f"{_REFERENCE}.platform:view"
_FIELD_ERROR = f"{_REFERENCE}.errors:field_error"

_A_MOMENT = 0.1
_SLOWER = 0.2


def shown(place: str, change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which a resource is shown as ``change`` returns it."""

    def wrapper(original: Function) -> Function:
        def view(*arguments: Any, **named: Any) -> Any:
            body = original(*arguments, **named)
            return body if body is None else change(dict(body))

        return view

    return lambda patch: patch.wrap(place, wrapper)


def without(name: str, body: Json) -> Json:
    """Return a resource without a member."""
    return {key: value for key, value in body.items() if key != name}


def with_null(name: str, body: Json) -> Json:
    """Return a resource with null in the place of a member."""
    return {**body, name: None}


def is_young(row: InternalAccount | ExternalAccount) -> bool:
    """Return whether an account was created a moment ago."""
    moment = _A_MOMENT if isinstance(row, ExternalAccount) else _A_MOMENT / 2
    return clock() - row.created_at < moment * 1_000_000


# --- Members that need not be there ---------------------------------------------------------

OPTIONAL: dict[str, tuple[str, tuple[str, ...]]] = {
    "quote": (_QUOTE, ("description", "rateDetails")),
    "challenge": (_CHALLENGE, ("availableFactors", "purpose")),
    "transaction": (
        _TRANSACTION,
        ("direction", "exchangeRate", "description", "source", "customerId", "reference"),
    ),
    "internal-account": (
        _INTERNAL_ACCOUNT,
        (
            "totalBalance",
            "fundingPaymentInstructions",
            "label",
            "sweepRule",
            "createdAt",
            "updatedAt",
        ),
    ),
    "external-account": (_EXTERNAL_ACCOUNT, ("platformAccountId",)),
    "customer": (
        _CUSTOMER,
        ("customerType", "fullName", "address", "currencies", "endUserTermsConsent", "region"),
    ),
    "currency": (_CURRENCY, ("name", "symbol")),
    "field-error": (_FIELD_ERROR, ("message",)),
    "configuration": (_CONFIG, ("feeConfigs",)),
}


def _optional(member: str, change: Function) -> Function:
    """Return a change of a member that need not be there; a rule-based account has its number."""

    def edit(body: Json) -> Json:
        needed = member == "fundingPaymentInstructions" and body["type"] == "RULE_BASED"
        return body if needed else change(member, body)

    return edit


for _resource, (_place, _members) in OPTIONAL.items():
    for _member in _members:
        declare(
            "M75",
            f"{_resource}-without-{_member}",
            f"no {_resource} shows {_member}",
            shown(_place, _optional(_member, without)),
            "absent",
        )
        declare(
            "M75",
            f"{_resource}-with-null-{_member}",
            f"{_member} of every {_resource} is null",
            shown(_place, _optional(_member, with_null)),
            "null",
        )


@variant("M75", "members without a value are shown as null", "null")
def null_for_no_value(patch: Patch) -> None:
    for module in ("accounts", "customers", "externals", "quotes", "transactions"):
        patch.replace(f"{_REFERENCE}.{module}:present", lambda view: view)


@variant("M75", "platformFeesIncluded is left out where the platform takes no fee", "absent")
def no_platform_fee_no_member(patch: Patch) -> None:
    def change(body: Json) -> Json:
        return body if body["platformFeesIncluded"] else without("platformFeesIncluded", body)

    shown(_QUOTE, change)(patch)


@variant("M31", "the status of the other kind of customer is there as null", "null")
def other_status_null(patch: Patch) -> None:
    shown(_CUSTOMER, lambda body: {"kycStatus": None, "kybStatus": None, **body})(patch)


@variant("M85", "the constraint of a field error is null, and so are details without a use", "null")
def null_details(patch: Patch) -> None:
    shown(_FIELD_ERROR, lambda body: {"constraint": None, **body})(patch)
    shown(f"{_REFERENCE}.errors:view", lambda body: {"details": None, **body})(patch)


def _owner(patch: Patch, change: Callable[[Json], Json]) -> None:
    shown(_INTERNAL_ACCOUNT, lambda body: body if body["customerId"] else change(body))(patch)


@variant("M55", "the customerId of the platform's accounts is null", "forms")
def platform_account_of_null(patch: Patch) -> None:
    _owner(patch, partial(with_null, "customerId"))


@variant("N057", "the platform's accounts have no customerId", "other forms")
def platform_account_of_none(patch: Patch) -> None:
    _owner(patch, partial(without, "customerId"))


# --- Forms of values ------------------------------------------------------------------------


def extended(value: Any) -> Any:
    """Return a JSON value with a further member in each of its objects."""
    if isinstance(value, list):
        return [extended(item) for item in value]
    if isinstance(value, dict):
        return {**{k: extended(v) for k, v in value.items()}, "furtherMember": {"of": ["any"]}}
    return value


@variant("N001", "every object of every answer has a member that nobody knows", "forms")
def further_members(patch: Patch) -> None:
    def wrapper(respond: Function) -> Function:
        return lambda status, body, headers=None: respond(status, extended(body), headers)

    patch.wrap(f"{_REFERENCE}.app:respond", wrapper)


@variant("N040", "every object of every webhook has a member that nobody knows", "other forms")
def further_members_of_events(patch: Patch) -> None:
    def wrapper(put: Function) -> Function:
        return lambda self, event: put(self, extended(event))

    patch.wrap(f"{_REFERENCE}.deliveries:Deliveries.put", wrapper)


def _timestamps(patch: Patch, change: Callable[[str], str]) -> None:
    def wrapper(timestamp: Function) -> Function:
        return lambda microseconds: change(timestamp(microseconds))

    for module in ("accounts", "customers", "quotes", "sca", "transactions", "unit"):
        patch.wrap(f"{_REFERENCE}.{module}:timestamp", wrapper)


@variant("M77", "timestamps end in +00:00 and have no fraction", "forms")
def offset_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}+00:00")


@variant("M77", "timestamps end in Z and have no fraction", "other forms")
def z_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}Z")


@variant("M77", "timestamps end in +00:00 and count milliseconds", "slow")
def offset_with_milliseconds(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text[:-4]}+00:00")


def _identifiers(patch: Patch, make: Callable[[], object]) -> None:
    patch.replace(f"{_REFERENCE}.unit:uuid", SimpleNamespace(uuid4=make))


@variant("M78", "identifiers are short and of letters and digits", "forms")
def short_identifiers(patch: Patch) -> None:
    _identifiers(patch, lambda: secrets.token_hex(8))


@variant("M78", "identifiers are numbers, and others are malformed", "other forms")
def numbers_as_identifiers(patch: Patch) -> None:
    numbers = itertools.count(time.time_ns())
    _identifiers(patch, lambda: next(numbers))

    def wrapper(answer: Function) -> Function:
        def checked(self: Any, handler: Function, ask: Ask) -> Any:
            known = self.seed.account_id
            # The code of an invitation is no identifier.
            named = {k: v for k, v in ask.params.items() if k != "code"}
            odd = [k for k, v in named.items() if not is_number(v) and v != known]
            if odd:
                raise errors.invalid_input(*(errors.field_error(k, "malformed") for k in odd))
            return answer(self, handler, ask)

        return checked

    patch.wrap(f"{_REFERENCE}.service:Service.answer", wrapper)


def is_number(identifier: str) -> bool:
    """Return whether an identifier has a number behind its type."""
    return identifier.rpartition(":")[2].isdigit()


@variant("N072", "lists are bare arrays, but for that of the platform's accounts", "forms")
def bare_lists(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.pages:Page.view", lambda self, data: data)


@variant("N072", "lists stand under items, but for that of the platform's accounts", "other forms")
def lists_under_items(patch: Patch) -> None:
    def wrapper(view: Function) -> Function:
        def under_items(self: pages.Page[Any], data: list[Json]) -> Json:
            body = view(self, data)
            return {"items": body.pop("data"), **body}

        return under_items

    patch.wrap(f"{_REFERENCE}.pages:Page.view", wrapper)


# --- Success statuses -----------------------------------------------------------------------

STATUSES: dict[str, tuple[int, ...]] = {
    "createCustomer": (200, 202),
    "updateCustomer": (202,),
    "createExternalAccount": (200, 202),
    "fundInternalAccount": (201, 202),
    "executeQuote": (201, 202),
    "authorizeQuote": (201, 202),
    "approveTransaction": (202, 204),
    "transferIn": (200, 202),
    "transferOut": (200, 202),
}
"""Other success statuses of operations whose own is not said."""


for _operation, _statuses in STATUSES.items():
    for _status, _group in zip(_statuses, ("forms", "other forms"), strict=False):
        declare(
            "N069",
            f"{_operation}-{_status}",
            f"{_operation} answers {_status}",
            answering(_operation, _status),
            _group,
        )


@variant("N069", "a quote that is created waiting for a proof is answered with 202", "forms")
def accepted_for_a_proof(patch: Patch) -> None:
    def wrapper(respond: Function) -> Function:
        def answer(status: int, body: Any, headers: Any = None) -> Any:
            waits = isinstance(body, dict) and body.get("status") == "PENDING_AUTHORIZATION"
            return respond(202 if waits else status, body, headers)

        return answer

    patch.wrap(f"{_REFERENCE}.app:respond", wrapper)


# --- Words that are not closed --------------------------------------------------------------


@variant("N064", "payouts have a type of their own, by which they can be listed", "forms")
def another_type(patch: Patch) -> None:
    def typed(body: Json) -> Json:
        return {**body, "type": "PAYOUT"} if body["type"] == "OUTGOING" else body

    def wrapper(filtered: Function) -> Function:
        words = {"PAYOUT": "OUTGOING", "OUTGOING": "NOTHING"}
        return lambda query: filtered(
            {k: words.get(v, v) if k == "type" else v for k, v in query.items()}
        )

    shown(_TRANSACTION, typed)(patch)
    patch.wrap(f"{_REFERENCE}.transactions:filtered", wrapper)


@variant("N064", "challenges have another factor and purpose", "forms")
def another_factor(patch: Patch) -> None:
    more = {"factor": "PUSH", "availableFactors": ["PUSH", "VOICE"], "purpose": "WITHDRAWAL"}
    shown(_CHALLENGE, lambda body: {**body, **more})(patch)


@variant("N065", "a refund is initiated, and then succeeds or is undeliverable", "forms")
def refund_in_other_words(patch: Patch) -> None:
    words = {"PENDING": "INITIATED", "COMPLETED": "SUCCEEDED", "FAILED": "UNDELIVERABLE"}

    def change(body: Json) -> Json:
        refund = body.get("refund")
        if refund is None:
            return body
        return {**body, "refund": {**refund, "status": words[refund["status"]]}}

    shown(_TRANSACTION, change)(patch)


@variant("N066", "the platform's fee on a transaction is a number", "forms")
def platform_fees_as_number(patch: Patch) -> None:
    def change(body: Json) -> Json:
        fee = body.get("platformFees")
        return body if fee is None else {**body, "platformFees": fee["amount"]}

    shown(_TRANSACTION, change)(patch)


@variant("N066", "the platform's fees on a transaction are a list", "other forms")
def platform_fees_as_list(patch: Patch) -> None:
    def change(body: Json) -> Json:
        fee = body.get("platformFees")
        return body if fee is None else {**body, "platformFees": [fee]}

    shown(_TRANSACTION, change)(patch)


@variant("N074", "the configuration shows fees and tokenization in shapes of its own", "forms")
def other_fee_shapes(patch: Patch) -> None:
    more = {"feeConfigs": {"USD": {"bps": "0"}}, "cardTokenization2faConfig": "none"}
    shown(_CONFIG, lambda body: {**body, **more})(patch)


@variant("N058", "payment instructions name other kinds of accounts", "forms")
def other_instructions(patch: Patch) -> None:
    info = {"accountType": "LOCAL_TRANSFER", "reference": "REF-1"}

    def wrapper(instructions: Function) -> Function:
        return lambda _, digits: [{"accountOrWalletInfo": {**info, "iban": f"DE0200{digits}"}}]

    patch.wrap(f"{_REFERENCE}.accounts:instructions_for", wrapper)


# --- Webhooks -------------------------------------------------------------------------------


@variant("N042", "every webhook is delivered twice", "codes")
def delivered_twice(patch: Patch) -> None:
    def wrapper(put: Function) -> Function:
        def twice(self: Deliveries, event: Json) -> None:
            put(self, event)
            self._worker.after(_A_MOMENT, partial(put, self, event))

        return twice

    patch.wrap(f"{_REFERENCE}.deliveries:Deliveries.put", wrapper)


@variant("N042", "the first attempt of every delivery is lost", "other codes")
def delivered_at_the_second_attempt(patch: Patch) -> None:
    def wrapper(send: Function) -> Function:
        tried: set[bytes] = set()

        def attempt(self: Deliveries, endpoint: str, body: bytes) -> bool:
            if body in tried:
                return bool(send(self, endpoint, body))
            tried.add(body)
            return False

        return attempt

    patch.wrap(f"{_REFERENCE}.deliveries:Deliveries._send", wrapper)


@variant("N042", "webhooks come late, and not in the order of their events", "slow")
def delivered_out_of_order(patch: Patch) -> None:
    def wrapper(put: Function) -> Function:
        delays = itertools.cycle((0.06, 0.0, 0.03))

        def later(self: Deliveries, event: Json) -> None:
            self._worker.after(next(delays), partial(put, self, event))

        return later

    patch.wrap(f"{_REFERENCE}.deliveries:Deliveries.put", wrapper)


@variant("N092", "a deposit is also reported as an incoming payment", "forms")
def incoming_payments(patch: Patch) -> None:
    def wrapper(announce: Function) -> Function:
        def both(unit: Unit, account: InternalAccount) -> None:
            announce(unit, account)
            unit.emit("INCOMING_PAYMENT.COMPLETED", {"id": account.id, "status": "COMPLETED"})

        return both

    patch.wrap(f"{_REFERENCE}.accounts:announce_balance", wrapper)


def _pending_event(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:TRANSACTION_EVENTS", "PENDING", "OUTGOING_PAYMENT.PENDING")


@variant("M12", "a payout is reported as pending when its quote is created", "codes")
def pending_at_creation(patch: Patch) -> None:
    def wrapper(draft: Function) -> Function:
        def announced(unit: Unit, order: quotes.Order) -> Quote:
            quote: Quote = draft(unit, order)
            row = transactions.get(unit, quote.transaction_id)
            transactions.announce(unit, row, "PENDING")
            return quote

        return announced

    _pending_event(patch)
    patch.wrap(f"{_REFERENCE}.quotes:draft", wrapper)


@variant("M12", "a payout is reported as pending when it is executed", "other codes")
def pending_at_execution(patch: Patch) -> None:
    def wrapper(perform: Function) -> Function:
        def announced(unit: Unit, quote: Quote, action: rules.Action) -> None:
            row = transactions.get(unit, quote.transaction_id)
            transactions.announce(unit, row, "PENDING")
            perform(unit, quote, action)

        return announced

    _pending_event(patch)
    patch.wrap(f"{_REFERENCE}.quotes:perform", wrapper)


# --- Error codes and details ----------------------------------------------------------------


def _refuse(place: str, codes: dict[str, str]) -> Callable[[Patch], None]:
    """Return a patch after which a function refuses with other codes."""

    def wrapper(original: Function) -> Function:
        def refusing(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                code = codes.get(refusal.code, refusal.code)
                raise errors.Refusal(code, refusal.reason, refusal.details) from None

        return refusing

    return lambda patch: patch.wrap(place, wrapper)


def _renamed(codes: dict[str, str]) -> Callable[[Patch], None]:
    """Return a patch after which codes have other names under the same status."""
    return shown(
        f"{_REFERENCE}.errors:view",
        lambda body: {**body, "code": codes.get(body["code"], body["code"])},
    )


EXPIRED = ("EXECUTE", "EXECUTE_REALTIME", "AUTHORIZE", "APPROVE")


@variant("M02", "an expired quote is refused with QUOTE_RATE_UNAVAILABLE", "codes")
def expired_rate(patch: Patch) -> None:
    for action in EXPIRED:
        patch.row(_TRANSITIONS, ("EXPIRED", action), rules.Refuse("QUOTE_RATE_UNAVAILABLE"))


@variant("M02", "an expired quote is refused with 409", "other codes")
def expired_conflict(patch: Patch) -> None:
    patch.row(_CODES, "QUOTE_EXPIRED", 409)


@variant("M09", "a second execution answers 2xx with the quote as it stands", "codes")
def executed_again(patch: Patch) -> None:
    def wrapper(execute: Function) -> Function:
        def again(unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            late = quote.status in ("PROCESSING", "COMPLETED", "FAILED")
            body: Json = quotes.view(unit, quote) if late else execute(unit, ask)
            return body

        return again

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


@variant("M09", "a second execution is a request that is not valid", "other codes")
def executed_again_invalid(patch: Patch) -> None:
    for status in ("PROCESSING", "COMPLETED", "FAILED"):
        patch.row(_TRANSITIONS, (status, "EXECUTE"), rules.Refuse("INVALID_INPUT"))


@variant("M10", "authorizing an executed quote again answers 2xx with the quote", "codes")
def authorized_again(patch: Patch) -> None:
    def wrapper(authorize: Function) -> Function:
        def again(unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            late = quote.status in ("PROCESSING", "COMPLETED", "FAILED")
            body: Json = quotes.view(unit, quote) if late else authorize(unit, ask)
            return body

        return again

    patch.wrap(f"{_REFERENCE}.quotes:authorize", wrapper)


@variant("M10", "a quote that needs no authorization refuses one with 400", "other codes")
def nothing_to_authorize(patch: Patch) -> None:
    for status in ("PENDING", "PROCESSING", "COMPLETED", "FAILED"):
        patch.row(_TRANSITIONS, (status, "AUTHORIZE"), rules.Refuse("INVALID_INPUT"))


@variant("M10", "a wrong proof is 401", "forms")
def wrong_proof_unauthorized(patch: Patch) -> None:
    patch.row(_CODES, "SCA_PROOF_WRONG", 401)
    _refuse(f"{_REFERENCE}.sca:check_proof", {"INVALID_INPUT": "SCA_PROOF_WRONG"})(patch)


@variant("M10", "a wrong proof is 422", "other codes")
def wrong_proof_unprocessable(patch: Patch) -> None:
    patch.row(_CODES, "SCA_PROOF_WRONG", 422)
    _refuse(f"{_REFERENCE}.sca:check_proof", {"INVALID_INPUT": "SCA_PROOF_WRONG"})(patch)


@variant("M08", "executing a real-time funded quote does nothing", "codes")
def realtime_not_executed(patch: Patch) -> None:
    def wrapper(execute: Function) -> Function:
        def idle(unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            body: Json = (
                quotes.view(unit, quote)
                if quote.source_kind == "REALTIME" and quote.status == "PENDING"
                else execute(unit, ask)
            )
            return body

        return idle

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


@variant("M08", "executing a real-time funded quote is a request that is not valid", "other codes")
def realtime_invalid(patch: Patch) -> None:
    patch.row(_TRANSITIONS, ("PENDING", "EXECUTE_REALTIME"), rules.Refuse("INVALID_INPUT"))


@variant("M20", "each field has a code of its own, and no details", "codes")
def code_of_the_field(patch: Patch) -> None:
    codes = {
        "lockedCurrencyAmount": "INVALID_AMOUNT",
        "currency": "INVALID_CURRENCY",
        "accountId": "INVALID_BANK_ACCOUNT",
    }

    def wrapper(original: Function) -> Function:
        def refusal(*found: Json) -> errors.Refusal:
            name = found[0]["field"].rpartition(".")[2]
            return errors.Refusal(codes.get(name, "INVALID_REQUEST_FORMAT"), "not valid")

        return refusal

    patch.wrap(f"{_REFERENCE}.errors:invalid_input", wrapper)


@variant("M20", "amounts are out of range, all else has the wrong format", "other codes")
def one_code_for_fields(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def refusal(*found: Json) -> errors.Refusal:
            amount = any(entry["field"].endswith("Amount") for entry in found)
            code = "AMOUNT_OUT_OF_RANGE" if amount else "INVALID_REQUEST_FORMAT"
            return errors.Refusal(code, "not valid")

        return refusal

    patch.wrap(f"{_REFERENCE}.errors:invalid_input", wrapper)


def _listed(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which the entries of details.errors are as ``change`` returns them."""

    def wrapper(original: Function) -> Function:
        return lambda *found: original(*(change(entry) for entry in found))

    return lambda patch: patch.wrap(f"{_REFERENCE}.errors:invalid_input", wrapper)


@variant(
    "M72", "but for new customers and accounts the first invalid field is listed alone", "forms"
)
def first_field_alone(patch: Patch) -> None:
    def first(refusal: errors.Refusal) -> errors.Refusal:
        details = refusal.details or {}
        short = {**details, "errors": details["errors"][:1]} if "errors" in details else None
        return errors.Refusal(refusal.code, refusal.reason, short)

    for name in ("quotes:create", "quotes:authorize", "onboarding:update"):
        _changed_refusal(f"{_REFERENCE}.{name}", first, patch)


@variant("M72", "quotes list no invalid fields, as no form is submitted by them", "absent")
def no_fields_of_quotes(patch: Patch) -> None:
    for name in ("create", "authorize"):
        _bare_refusal(f"{_REFERENCE}.quotes:{name}", patch)


def _bare_refusal(place: str, patch: Patch) -> None:
    _changed_refusal(place, lambda refusal: errors.Refusal(refusal.code, refusal.reason), patch)


def _changed_refusal(
    place: str, change: Callable[[errors.Refusal], errors.Refusal], patch: Patch
) -> None:
    def wrapper(original: Function) -> Function:
        def refusing(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                raise change(refusal) from None

        return refusing

    patch.wrap(place, wrapper)


@variant("M73", "paths of fields start with body", "forms")
def paths_from_the_body(patch: Patch) -> None:
    _listed(lambda entry: {**entry, "field": f"body.{entry['field']}"})(patch)


@variant("M73", "paths of fields start at the object that holds them", "other forms")
def paths_from_the_holder(patch: Patch) -> None:
    def from_the_holder(path: str) -> str:
        # A place in a list is told with the list.
        return re.sub(r"^.*\.(?=[^.]*[^.\d])", "", path)

    _listed(lambda entry: {**entry, "field": from_the_holder(entry["field"])})(patch)


@variant("M85", "a field error is its path alone", "other forms")
def path_alone(patch: Patch) -> None:
    _listed(lambda entry: {"field": entry["field"]})(patch)


@variant("N017", "a constraint has a format and members that nobody knows", "forms")
def richer_constraints(patch: Patch) -> None:
    more = {"format": "number", "step": 1, "of": {"any": ["kind"]}}
    shown(_FIELD_ERROR, lambda body: {**body, "constraint": more})(patch)


@variant("N063", "details of an error hold what they like", "other forms")
def richer_details(patch: Patch) -> None:
    def change(body: Json) -> Json:
        return {**body, "details": {"trace": "1-2", "retry": None, **body.get("details", {})}}

    shown(f"{_REFERENCE}.errors:view", change)(patch)


def _terms_status(status: int, patch: Patch) -> None:
    patch.row(_CODES, "END_USER_TERMS_NOT_ACCEPTED", status)


for _status, _group in ((400, "codes"), (409, "other codes"), (422, "forms")):
    declare(
        "M25",
        f"terms-{_status}",
        f"quotes before the acceptance of the terms are refused with {_status}",
        partial(_terms_status, _status),
        _group,
    )


@variant("M26", "the owner of the destination has to accept the terms too", "codes")
def terms_of_the_receiver(patch: Patch) -> None:
    def wrapper(destination_of: Function) -> Function:
        def accepted(unit: Unit, destination: Json) -> parties.Party:
            party: parties.Party = destination_of(unit, destination)
            if party.customer_id is not None:
                customers.refuse_without_terms(customers.get(unit, party.customer_id))
            return party

        return accepted

    patch.wrap(f"{_REFERENCE}.parties:destination_of", wrapper)


@variant("M40", "whatever is missing is NOT_FOUND", "codes")
def not_found(patch: Patch) -> None:
    missing = ("ACCOUNT", "CUSTOMER", "QUOTE", "TRANSACTION")
    _renamed({f"{name}_NOT_FOUND": "NOT_FOUND" for name in missing})(patch)


@variant("N100", "an external account that is missing is REFERENCE_NOT_FOUND", "other codes")
def reference_not_found(patch: Patch) -> None:
    _renamed({"ACCOUNT_NOT_FOUND": "REFERENCE_NOT_FOUND"})(patch)


@variant("M41", "an unknown id in a body is a field that is not valid", "codes")
def unknown_id_invalid(patch: Patch) -> None:
    for place in ("parties:account_party", "parties:realtime_source", "externals:create"):
        _refuse(
            f"{_REFERENCE}.{place}",
            {"ACCOUNT_NOT_FOUND": "INVALID_INPUT", "CUSTOMER_NOT_FOUND": "INVALID_INPUT"},
        )(patch)


@variant("N097", "conflicts have codes of their own", "codes")
def other_conflicts(patch: Patch) -> None:
    _renamed({"INVALID_STATE_TRANSITION": "QUOTE_NOT_EXECUTABLE", "CONFLICT": "LATE"})(patch)


@variant("N098", "a status asked of card transactions has a code of its own", "other forms")
def status_of_cards(patch: Patch) -> None:
    patch.row(_CODES, "INCOMPATIBLE_FILTERS", 400)
    _refuse(
        f"{_REFERENCE}.transactions:refuse_status_of_cards",
        {"INVALID_INPUT": "INCOMPATIBLE_FILTERS"},
    )(patch)


@variant("M18", "accounts of one owner do not pay each other; the same account is invalid", "codes")
def same_owner(patch: Patch) -> None:
    def refuse(source: parties.Party, destination: parties.Party) -> None:
        if source.account_id is not None and source.account_id == destination.account_id:
            raise errors.Refusal("INVALID_REQUEST_FORMAT", "the same account")
        internal = source.kind == destination.kind == "INTERNAL"
        if internal and source.customer_id == destination.customer_id:
            raise errors.Refusal("SELF_PAYMENT", "the same owner")

    patch.replace(f"{_REFERENCE}.parties:refuse_self_payment", refuse)


@variant("M24", "approving what no agent initiated is a request that is not valid", "codes")
def nothing_to_approve(patch: Patch) -> None:
    _refuse(f"{_REFERENCE}.quotes:approve", {"INVALID_STATE_TRANSITION": "INVALID_INPUT"})(patch)


@variant("M24", "approving what needs no approval does nothing", "other codes")
def approved_already(patch: Patch) -> None:
    def wrapper(approve: Function) -> Function:
        def idle(unit: Unit, ask: Ask) -> Json:
            quote, row = transactions.locked(unit, ask.params["transactionId"])
            done = not quotes.is_approvable(quote) or quote.status != "PENDING"
            body: Json = transactions.view(row) if done else approve(unit, ask)
            return body

        return idle

    patch.wrap(f"{_REFERENCE}.quotes:approve", wrapper)


@variant("M84", "the deprecated transfers have another body", "codes")
def transfers_of_another_shape(patch: Patch) -> None:
    def refuse(*_: Any) -> None:
        raise errors.Refusal("INVALID_REQUEST_FORMAT", "another body is expected")

    patch.replace(f"{_REFERENCE}.transfers:_transfer", refuse)


@variant("N085", "the deprecated transfers answer the quote", "other codes")
def transfers_answer_quotes(patch: Patch) -> None:
    def wrapper(transfer: Function) -> Function:
        def quoted(unit: Unit, *arguments: Any) -> Json:
            row = transfer(unit, *arguments)
            return quotes.view(unit, quotes.get(unit, row["quoteId"]))

        return quoted

    patch.wrap(f"{_REFERENCE}.transfers:_transfer", wrapper)


# --- Where something is refused -------------------------------------------------------------


@variant("M17", "a quote that the balance does not cover is refused at its creation", "codes")
def unfunded_at_creation(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def covered(unit: Unit, ask: Ask) -> Json:
            body: Json = create(unit, ask)
            if body["status"] == "PENDING":
                quotes.refuse_unfunded(unit, quotes.get(unit, body["id"]))
            return body

        return covered

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@variant("M06", "immediatelyExecute is refused for a customer who needs SCA", "codes")
def no_immediate_challenge(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def refusing(unit: Unit, ask: Ask) -> Json:
            body: Json = create(unit, ask)
            asked = isinstance(ask.body, dict) and ask.body.get("immediatelyExecute")
            if asked and body["status"] == "PENDING_AUTHORIZATION":
                raise errors.Refusal("SCA_SESSION_REQUIRED", "execute it in a request of its own")
            return body

        return refusing

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@variant("M19", "immediatelyExecute of a real-time funded quote is ignored", "codes")
def immediate_realtime_ignored(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def ignoring(unit: Unit, ask: Ask) -> Json:
            body = ask.body
            if fields.at(body, "source.sourceType") == "REALTIME_FUNDING":
                ask = replace(ask, body=without("immediatelyExecute", body))
            quote: Json = create(unit, ask)
            return quote

        return ignoring

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@variant("M74", "a platform fee of a source that is not in US dollars is not taken", "codes")
def foreign_fee_ignored(patch: Patch) -> None:
    def wrapper(terms_for: Function) -> Function:
        def own(unit: Unit, order: quotes.Order) -> Any:
            foreign = order.source.currency != rules.PLATFORM_FEE_CURRENCY
            return terms_for(unit, replace(order, fee_override=None) if foreign else order)

        return own

    patch.wrap(f"{_REFERENCE}.quotes:terms_for", wrapper)


@variant("M80", "a rail that the destination does not have falls back to its default", "codes")
def rail_falls_back(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.parties:refuse_rail", lambda account, rail: None)


@variant("N094", "remittanceInformation counts bytes", "codes")
def bytes_counted(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def counted(unit: Unit, ask: Ask) -> Json:
            text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
            if isinstance(text, str) and len(text.encode()) > 80:
                raise errors.Refusal("INVALID_REQUEST_FORMAT", "more than 80 bytes")
            body: Json = create(unit, ask)
            return body

        return counted

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@variant("M79", "remittanceInformation is of printable ASCII characters", "other codes")
def ascii_alone(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def printable(unit: Unit, ask: Ask) -> Json:
            text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
            if isinstance(text, str) and not text.isascii():
                raise errors.Refusal("INVALID_REQUEST_FORMAT", "the rail has no such characters")
            body: Json = create(unit, ask)
            return body

        return printable

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@variant("M83", "money can be pulled from every external account", "codes")
def all_pullable(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.externals:is_pullable", lambda account: True)


@variant("M22", "external accounts wait for ownership verification and receive already", "codes")
def ownership_not_verified(patch: Patch) -> None:
    waiting = "PENDING_OWNERSHIP_VERIFICATION"
    patch.replace(f"{_REFERENCE}.externals:initial_status", lambda owner: waiting)
    patch.replace(f"{_REFERENCE}.limits:refuse_unproven", lambda unit, amount, currency: None)


# --- States ---------------------------------------------------------------------------------


@variant("M01", "the transaction of an expired quote is expired a moment later", "slow")
def expired_a_moment_later(patch: Patch) -> None:
    def wrapper(expire_due: Function) -> Function:
        def later(unit: Unit) -> None:
            expire_due(replace(unit, now=unit.now - round(_SLOWER * 1_000_000)))

        return later

    patch.wrap(f"{_REFERENCE}.transactions:expire_due", wrapper)


def _refund_status(status: Callable[[Json], str]) -> Callable[[Patch], None]:
    def change(body: Json) -> Json:
        return {**body, "status": status(body)} if body.get("refund") else body

    return shown(_TRANSACTION, change)


@variant("M03", "a failed transaction takes the status of its refund", "codes")
def status_of_the_refund(patch: Patch) -> None:
    _refund_status(lambda body: f"REFUND_{body['refund']['status']}")(patch)


@variant("M03", "a failed transaction is REFUNDED once its money is back", "other codes")
def refunded(patch: Patch) -> None:
    back = ("COMPLETED",)
    _refund_status(
        lambda body: "REFUNDED" if body["refund"]["status"] in back else str(body["status"])
    )(patch)


def _settled_at_once(patch: Patch, *, told: bool) -> None:
    """Let payouts that nothing stops arrive within the request that executes them."""

    def wrapper(perform: Function) -> Function:
        def at_once(unit: Unit, quote: Quote, action: rules.Action) -> None:
            perform(unit, quote, action)
            result = settlement.result_of(unit, quote)
            if result.failure_reason is None and not result.held:
                if not told:
                    processing = rules.TRANSACTION_EVENTS["PROCESSING"]
                    unit.events[:] = [e for e in unit.events if e["type"] != processing]
                settlement.settle(unit, quote.transaction_id)

        return at_once

    patch.wrap(f"{_REFERENCE}.quotes:perform", wrapper)


@variant("M04", "a payout arrives within the request that executes it", "other forms")
def settled_at_once(patch: Patch) -> None:
    _settled_at_once(patch, told=True)


@variant("M05", "a payout arrives at once and was never in processing", "other codes")
def never_processing(patch: Patch) -> None:
    _settled_at_once(patch, told=False)


def _is_unproven(unit: Unit, quote: Quote) -> bool:
    """Return whether a real-time funded quote needs a proof and has none asked for."""
    if quote.source_kind != "REALTIME" or quote.customer_id is None:
        return False
    needed = customers.needs_sca(customers.get(unit, quote.customer_id))
    return needed and quote.challenge_id is None


@variant("M07", "a real-time funded quote is challenged when it is executed", "other codes")
def realtime_challenged_by_execute(patch: Patch) -> None:
    def drafting(draft: Function) -> Function:
        def unchallenged(unit: Unit, order: quotes.Order) -> Quote:
            owner = order.source.customer_id
            customer = None if owner is None else unit.session.get(Customer, owner)
            conditions: Json = {} if customer is None else customer.conditions
            quote: Quote = draft(unit, order)
            if customer is not None and quote.status == "PENDING_AUTHORIZATION":
                quote.status, quote.challenge_id, quote.challenges_left = "PENDING", None, 0
                customer.conditions = conditions
            return quote

        return unchallenged

    def executing(execute: Function) -> Function:
        def challenged(unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            if quote.customer_id is None or not _is_unproven(unit, quote):
                body: Json = execute(unit, ask)
                return body
            quote.status = quotes.next_status(unit, quote, "CHALLENGE")
            sca.begin(unit, quote, customers.get(unit, quote.customer_id))
            return quotes.view(unit, quote)

        return challenged

    def viewing(view: Function) -> Function:
        def withheld(unit: Unit, quote: Quote) -> Json:
            body: Json = view(unit, quote)
            return without("paymentInstructions", body) if _is_unproven(unit, quote) else body

        return withheld

    patch.wrap(f"{_REFERENCE}.quotes:draft", drafting)
    patch.wrap(f"{_REFERENCE}.quotes:execute", executing)
    patch.wrap(_QUOTE, viewing)


@variant("M11", "the transaction waits for the authorization with its quote", "codes")
def transaction_pending_authorization(patch: Patch) -> None:
    def beginning(begin: Function) -> Function:
        def waiting(unit: Unit, quote: Quote, customer: Customer) -> None:
            begin(unit, quote, customer)
            transactions.get(unit, quote.transaction_id).status = "PENDING_AUTHORIZATION"

        return waiting

    def authorizing(authorize: Function) -> Function:
        def authorized(unit: Unit, ask: Ask) -> Json:
            body: Json = authorize(unit, ask)
            if body["status"] == "PENDING":
                transactions.get(unit, body["transactionId"]).status = "PENDING"
            return body

        return authorized

    patch.wrap(f"{_REFERENCE}.sca:begin", beginning)
    patch.wrap(f"{_REFERENCE}.quotes:authorize", authorizing)


def _expired_challenge(reason: str | None, patch: Patch) -> None:
    """Let an expired challenge lead to EXPIRED, which no event reports."""

    def wrapper(expire: Function) -> Function:
        def expired(unit: Unit, challenge: Any) -> None:
            told = len(unit.events)
            expire(unit, challenge)
            quote = unit.session.get_one(Quote, challenge.quote_id)
            row = transactions.get(unit, quote.transaction_id)
            if row.status == "FAILED":
                del unit.events[told:]
                row.status, row.failure_reason = "EXPIRED", reason

        return expired

    patch.wrap(f"{_REFERENCE}.sca:expire", wrapper)


@variant(
    "M11", "an expired challenge leaves its transaction expired, with the reason", "other forms"
)
def challenge_expires_with_reason(patch: Patch) -> None:
    _expired_challenge(rules.SCA_FAILURE_REASON, patch)


@variant("M11", "an expired challenge leaves its transaction expired, and nothing else", "slow")
def challenge_expires(patch: Patch) -> None:
    _expired_challenge(None, patch)


def _lifetime(seconds: float, patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:expiry_of", lambda unit: unit.now + round(seconds * 1_000_000)
    )


for _seconds, _group in ((900, "codes"), (60, "other codes"), (20, "forms")):
    declare(
        "M21",
        f"lives-{_seconds}-seconds",
        f"quotes live for {_seconds} seconds",
        partial(_lifetime, _seconds),
        _group,
    )


@variant("M30", "customers are unverified at first, and get accounts when approved", "other forms")
def unverified_at_first(patch: Patch) -> None:
    def providing(provide: Function) -> Function:
        def approved(unit: Unit, customer_id: str, wanted: list[str]) -> None:
            unit.session.flush()
            if customers.is_verified(customers.get(unit, customer_id)):
                provide(unit, customer_id, wanted)

        return approved

    def reaching(reach: Function) -> Function:
        def reached(unit: Unit, customer: Customer, status: str) -> None:
            reach(unit, customer, status)
            accounts.provision_for_customer(unit, customer.id, customer.currencies)

        return reached

    patch.row(f"{_REFERENCE}.rules:INITIAL_CUSTOMER_STATUS", "REGULATED", "UNVERIFIED")
    patch.wrap(f"{_REFERENCE}.accounts:provision_for_customer", providing)
    patch.wrap(f"{_REFERENCE}.onboarding:reach", reaching)


@variant("M56", "internal accounts are there a moment after their customer", "other codes")
def provisioned_later(patch: Patch) -> None:
    def wrapper(views: Function) -> Function:
        def ready(unit: Unit, rows: list[InternalAccount]) -> list[Json]:
            there = [
                row
                for row in rows
                # Whoever asks for a rule-based account gets it at once.
                if row.customer_id is None or row.type == "RULE_BASED" or not is_young(row)
            ]
            found: list[Json] = views(unit, there)
            return found

        return ready

    patch.wrap(f"{_REFERENCE}.accounts:views", wrapper)


@variant("M56", "internal accounts are pending at first, and take no payments then", "codes")
def internal_accounts_pending(patch: Patch) -> None:
    def viewing(view: Function) -> Function:
        def pending(account: InternalAccount, available: int, held: int) -> Json:
            body: Json = view(account, available, held)
            return {**body, "status": "PENDING"} if is_young(account) else body

        return pending

    def finding(find: Function) -> Function:
        def usable(unit: Unit, account_id: str) -> InternalAccount | None:
            found: InternalAccount | None = find(unit, account_id)
            if found is not None and is_young(found):
                raise errors.Refusal("CONFLICT", "the account is being provisioned")
            return found

        return usable

    patch.wrap(_INTERNAL_ACCOUNT, viewing)
    patch.wrap(f"{_REFERENCE}.accounts:find", finding)


@variant("N018", "external accounts are pending at first, and cannot receive then", "absent")
def external_accounts_pending(patch: Patch) -> None:
    def viewing(view: Function) -> Function:
        def pending(account: ExternalAccount) -> Json:
            body: Json = view(account)
            return {**body, "status": "PENDING"} if is_young(account) else body

        return pending

    patch.wrap(_EXTERNAL_ACCOUNT, viewing)
    patch.wrap(
        f"{_REFERENCE}.externals:can_receive",
        lambda original: lambda account: original(account) and not is_young(account),
    )


@variant("M23", "external accounts are reviewed at first; execution is refused then", "null")
def external_accounts_under_review(patch: Patch) -> None:
    def viewing(view: Function) -> Function:
        def reviewed(account: ExternalAccount) -> Json:
            body: Json = view(account)
            return {**body, "status": "UNDER_REVIEW"} if is_young(account) else body

        return reviewed

    def starting(start: Function) -> Function:
        def receivable(unit: Unit, quote: Quote, *arguments: Any) -> None:
            account = externals.find(unit, quote.destination.get("accountId", ""))
            if account is not None and is_young(account):
                raise errors.Refusal("INVALID_BANK_ACCOUNT", "the account is under review")
            start(unit, quote, *arguments)

        return receivable

    patch.wrap(_EXTERNAL_ACCOUNT, viewing)
    patch.wrap(f"{_REFERENCE}.quotes:start", starting)


@variant("timing", "rails take their time", "slow")
def slower_rails(patch: Patch) -> None:
    def wrapper(later: Function) -> Function:
        def slower(self: Unit, seconds: float, job: Callable[[Unit], None]) -> None:
            later(self, seconds + _SLOWER, job)

        return slower

    patch.wrap(f"{_REFERENCE}.unit:Unit.later", wrapper)


# --- Money ----------------------------------------------------------------------------------

ROUNDINGS = {
    "down": (ROUND_FLOOR, "codes"),
    "up": (ROUND_CEILING, "other forms"),
    "half-even": (ROUND_HALF_EVEN, "forms"),
}


def _rounded(how: str, patch: Patch) -> None:
    def rounded(value: Decimal) -> int:
        return int(value.to_integral_value(how))

    for name in ("half_up", "floor", "ceiling"):
        patch.replace(f"{_REFERENCE}.money:{name}", rounded)


for _name, (_how, _group) in ROUNDINGS.items():
    declare(
        "N084",
        f"rounded-{_name}",
        f"fees and converted amounts are rounded {_name}",
        partial(_rounded, _how),
        _group,
    )


@variant("M15", "feesIncluded does not contain the platform's fees", "codes")
def platform_fees_beside(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:fees_included", lambda quote: quote.variable_fee)


_FIXED = 30


@variant("M15", "the service takes a fixed fee beside the fraction", "other forms")
def fixed_fee(patch: Patch) -> None:
    def charging(variable_fee: Function) -> Function:
        return lambda sending, terms: variable_fee(sending, terms) + _FIXED

    def grossing(gross_of: Function) -> Function:
        return lambda net, terms: gross_of(net + _FIXED, terms)

    patch.wrap(f"{_REFERENCE}.fees:variable_fee", charging)
    patch.wrap(f"{_REFERENCE}.fees:gross_of", grossing)
    shown(
        f"{_REFERENCE}.quotes:rate_details",
        lambda body: {
            **body,
            "gridApiFixedFee": _FIXED,
            "gridApiVariableFeeAmount": body["gridApiVariableFeeAmount"] - _FIXED,
        },
    )(patch)


def _rate(change: Callable[[Decimal, str, str], Decimal], patch: Patch) -> None:
    """Let quotes and transactions show a rate that is meant in another way."""

    def quoted(body: Json) -> Json:
        return _with_rate(body, body["sendingCurrency"]["code"], body["receivingCurrency"]["code"])

    def moved(body: Json) -> Json:
        sent, received = (body[f"{way}Amount"]["currency"]["code"] for way in ("sent", "received"))
        return _with_rate(body, sent, received)

    def _with_rate(body: Json, sending: str, receiving: str) -> Json:
        rate = change(money.market_rate(sending, receiving), sending, receiving)
        return {**body, "exchangeRate": money.number(rate)}

    shown(_QUOTE, quoted)(patch)
    shown(_TRANSACTION, moved)(patch)


@variant("M16", "the rate is between smallest units", "codes")
def rate_of_smallest_units(patch: Patch) -> None:
    _rate(money.smallest_unit_rate, patch)


@variant("M16", "the rate is what one receiving unit costs", "other forms")
def rate_of_a_receiving_unit(patch: Patch) -> None:
    _rate(lambda rate, sending, receiving: 1 / rate, patch)


@variant("M14", "source and destination are shown by type and account alone", "codes")
def echo_reduced(patch: Patch) -> None:
    for name in ("source", "destination"):
        kept = (f"{name}Type", "accountId")

        def echo(end: Json, kept: tuple[str, ...] = kept) -> Json:
            return {key: end[key] for key in kept if key in end}

        patch.replace(f"{_REFERENCE}.parties:echo_{name}", echo)


@variant("M14", "source and destination are shown with more than was sent", "other forms")
def echo_enriched(patch: Patch) -> None:
    def change(body: Json) -> Json:
        more = {"currency": body["sendingCurrency"]["code"], "label": None}
        ends = {name: {**more, **body[name]} for name in ("source", "destination")}
        return {**body, **ends}

    shown(_QUOTE, change)(patch)
