"""Conforming variants of error codes, of the fields that an error lists, and of counterparties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from conformance.proof.kit.builders import (
    Json,
    Place,
    around,
    concerning,
    edited,
    recoded,
    rescued,
    together,
)
from conformance.proof.kit.optional import declare_optional
from conformance.proof.kit.tables import with_row
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.proof.variants.protocol.toolkit import refuse
from conformance.reference import app, errors, rules
from conformance.reference.authentication import factor_resets
from conformance.reference.customers import onboarding
from conformance.reference.embedded_wallets import embedded_wallets
from conformance.reference.external_accounts import account_types, externals, receivers
from conformance.reference.internal_accounts import rule_based
from conformance.reference.quotes import limits, parties, quotes, uma
from conformance.reference.store import ExternalAccount, Quote
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Unit
from conformance.reference.verification import documents, owners, verifications

Refuse = Callable[[ExternalAccount], None]

_AT_LOOKUP = ("DOWN", "OUTDATED")
"""What is the matter with a counterparty that a lookup notices at the latest."""


# --- Counterparties -------------------------------------------------------------------------

declare(
    "M70",
    "lookup-request-fails",
    "a counterparty that refuses to be asked counts as one that cannot be",
    with_row(receivers, "COUNTERPARTY_FAILURES", "LOOKUP_REFUSED", "LNURLP_REQUEST_FAILED"),
    "codes",
)
declare(
    "N045",
    "down-without-a-key",
    "of a counterparty that does not answer its key is what could not be fetched",
    with_row(receivers, "COUNTERPARTY_FAILURES", "DOWN", "COUNTERPARTY_PUBKEY_FETCH_ERROR"),
    "other codes",
)


@variant("N290", "what is the matter with a counterparty is noticed by a quote", "apart")
def noticed_by_a_quote(patch: Patch) -> None:
    def early(original: Refuse, account: ExternalAccount) -> None:
        if account.counterparty in _AT_LOOKUP:
            original(account)

    def refuse(original: Refuse, account: ExternalAccount) -> None:
        original(account)
        code = receivers.COUNTERPARTY_FAILURES.get(account.counterparty)
        if code is not None:
            raise errors.Refusal(code, "The institution behind the account is not fine.")

    patch.wrap(receivers, "refuse_unreachable", early)
    patch.wrap(receivers, "refuse_unpayable", refuse)


@variant("N290", "what is the matter with a counterparty is noticed by a payment", "other apart")
def noticed_by_a_payment(patch: Patch) -> None:
    def result(
        original: Callable[[Unit, Quote], rules.PayoutResult], unit: Unit, quote: Quote
    ) -> rules.PayoutResult:
        account = externals.find(unit, quote.destination.get("accountId", ""))
        if account is not None and account.counterparty in receivers.PAYMENT_FAILURES:
            return rules.PAYOUT_RESULTS["BLOCKED"]
        return original(unit, quote)

    patch.replace(receivers, "refuse_unpayable", lambda _: None)
    patch.wrap(settlement, "result_of", result)


# --- Codes ----------------------------------------------------------------------------------

RECODED: Mapping[str, tuple[str, str, Place, str, str, str]] = {
    "address-is-a-field": (
        "M20",
        "what is no UMA address is a field that is not valid",
        (uma, "refuse_malformed"),
        "INVALID_UMA_ADDRESS",
        "INVALID_INPUT",
        "codes",
    ),
    "address-is-a-format": (
        "M20",
        "what is no UMA address has the wrong format",
        (uma, "refuse_malformed"),
        "INVALID_UMA_ADDRESS",
        "INVALID_REQUEST_FORMAT",
        "other codes",
    ),
    "sender-without-receiver": (
        "M40",
        "a sender whom nobody knows has an address without a receiver",
        (receivers, "sender_currency"),
        "CUSTOMER_NOT_FOUND",
        "UMA_NOT_FOUND",
        "codes",
    ),
    "lookup-is-missing": (
        "M40",
        "a lookup that was never made is NOT_FOUND",
        (receivers, "refuse_unknown_lookup"),
        "LOOKUP_REQUEST_NOT_FOUND",
        "NOT_FOUND",
        "codes",
    ),
    "lookup-is-a-field": (
        "M41",
        "a lookup that was never made is a field that is not valid",
        (receivers, "refuse_unknown_lookup"),
        "LOOKUP_REQUEST_NOT_FOUND",
        "INVALID_INPUT",
        "other codes",
    ),
}
"""By name: what is open, what is chosen, where it is refused, the code, the other, the group."""

for _name, (_point, _statement, _place, _code, _other, _group) in RECODED.items():
    declare(_point, _name, _statement, recoded(*_place, _other, _code), _group)


_UNKNOWN_IN_BODIES: tuple[tuple[Place, tuple[str, ...]], ...] = (
    ((quotes, "create"), ("ACCOUNT_NOT_FOUND", "CUSTOMER_NOT_FOUND")),
    ((owners, "create"), ("CUSTOMER_NOT_FOUND",)),
    ((externals, "create"), ("CUSTOMER_NOT_FOUND",)),
    ((verifications, "create"), ("CUSTOMER_NOT_FOUND",)),
    ((documents, "create"), ("DOCUMENT_HOLDER_NOT_FOUND",)),
    ((rule_based, "create"), ("CUSTOMER_NOT_FOUND",)),
)
"""Where bodies are refused for an id that nothing has, and with which codes."""

_BAD_BY_THE_TEXT: tuple[Place, ...] = (
    (receivers, "lookup"),
    (transactions, "refuse_status_of_cards"),
    (factor_resets, "move"),
)
"""What is refused with 400, as the text says: a lookup (236), a status beside the type CARD (395)
and the completion of a reset before its liveness check has passed (410)."""


@variant("M20", "what has a fault of form cannot be processed: its status is 422", "unprocessable")
def unprocessable_fields(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "UNPROCESSABLE_ENTITY", 422)

    def unprocessable(refusal: errors.Refusal) -> errors.Refusal:
        return errors.Refusal("UNPROCESSABLE_ENTITY", refusal.reason, refusal.details)

    def refuse(original: Function, refusal: errors.Refusal, headers: Any = None) -> Any:
        unread = refusal.code == "INVALID_REQUEST_FORMAT"
        return original(unprocessable(refusal) if unread else refusal, headers)

    edited(errors, "invalid_input", unprocessable)(patch)
    patch.wrap(app, "refuse", refuse)
    for place, codes in _UNKNOWN_IN_BODIES:
        recoded(*place, "UNPROCESSABLE_ENTITY", *codes)(patch)
    for place in _BAD_BY_THE_TEXT:
        recoded(*place, "INVALID_INPUT", "UNPROCESSABLE_ENTITY")(patch)


def _by_field(name: str, code: str) -> Apply:
    """Refuse a wrong value of a field with a code of its own, and list no fields."""

    def apply(patch: Patch) -> None:
        def refusal(original: Callable[..., errors.Refusal], *found: Json) -> errors.Refusal:
            if len(found) == 1 and found[0]["field"].endswith(name):
                return errors.Refusal(code, "It is not valid.")
            return original(*found)

        if code not in rules.ERROR_STATUS:
            patch.row(rules, "ERROR_STATUS", code, 400)
        patch.wrap(errors, "invalid_input", refusal)

    return apply


declare(
    "M20",
    "moment-has-a-code",
    "a moment that is none is an invalid timestamp",
    _by_field("acceptedAt", "INVALID_TIMESTAMP"),
    "apart",
)
declare(
    "M20",
    "number-has-a-code",
    "a routing number that is none is an invalid bank account",
    _by_field("routingNumber", "INVALID_BANK_ACCOUNT"),
    "other apart",
)
declare(
    "N063",
    "more-in-an-error",
    "an error object has members that nobody knows",
    together(
        edited(
            errors,
            "view",
            lambda body: {**body, "requestId": "r-1", "docs": {"url": "https://e.example"}},
        ),
        # A request that is to be signed has an id too, which may stand in a refusal.
        concerning(embedded_wallets, "answer"),
    ),
    "forms",
)


@variant("M72", "a field that is wrong in two ways is listed twice", "other forms")
def listed_twice(patch: Patch) -> None:
    patch.wrap(errors, "invalid_input", lambda original, *found: original(*found, *found))


@variant("M13", "the id of a lookup is not looked at", "forms")
def lookups_not_kept(patch: Patch) -> None:
    patch.replace(receivers, "refuse_unknown_lookup", lambda *_: None)


# --- Members that need not be there ---------------------------------------------------------


declare_optional("field-error", (errors, "field_error"), "message")


@variant("M85", "the constraint of a field error is null, and so are details without a use", "null")
def null_details(patch: Patch) -> None:
    edited(errors, "field_error", lambda body: {"constraint": None, **body})(patch)
    edited(errors, "view", lambda body: {"details": None, **body})(patch)


# --- Error codes and details ----------------------------------------------------------------


def _renamed(codes: dict[str, str]) -> Apply:
    """Return a patch after which codes have other names under the same status."""
    return edited(
        errors,
        "view",
        lambda body: {**body, "code": codes.get(body["code"], body["code"])},
    )


@variant("M20", "each field has a code of its own, and no details", "codes")
def code_of_the_field(patch: Patch) -> None:
    codes = {
        "lockedCurrencyAmount": "INVALID_AMOUNT",
        "currency": "INVALID_CURRENCY",
        "accountId": "INVALID_BANK_ACCOUNT",
    }

    def refusal(original: Function, *found: Json) -> errors.Refusal:
        name = found[0]["field"].rpartition(".")[2]
        return errors.Refusal(codes.get(name, "INVALID_REQUEST_FORMAT"), "not valid")

    patch.wrap(errors, "invalid_input", refusal)
    # What else an account needs, and which values it takes, is known by the field that is refused.
    patch.concern(externals, "create")
    patch.concern(account_types, "ACCOUNT_TYPES")


@variant(
    "M20",
    "amounts are out of range, all else has the wrong format",
    "other codes",
    (errors, "invalid_input"),
)
def one_code_for_fields(original: Function, *found: Json) -> errors.Refusal:
    amount = any(entry["field"].endswith("Amount") for entry in found)
    code = "AMOUNT_OUT_OF_RANGE" if amount else "INVALID_REQUEST_FORMAT"
    return errors.Refusal(code, "not valid")


def _listed(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which the entries of details.errors are as ``change`` returns them."""
    return around(
        errors,
        "invalid_input",
        lambda original, *found: original(*(change(entry) for entry in found)),
    )


@variant(
    "M72", "but for new customers and accounts the first invalid field is listed alone", "forms"
)
def first_field_alone(patch: Patch) -> None:
    def first(refusal: errors.Refusal) -> errors.Refusal:
        details = refusal.details or {}
        if "errors" not in details:
            return refusal
        short = {**details, "errors": details["errors"][:1]}
        return errors.Refusal(refusal.code, refusal.reason, short)

    for name in ((quotes, "create"), (quotes, "authorize"), (onboarding, "update")):
        _changed_refusal(name, first)(patch)


@variant("M72", "quotes list no invalid fields, as no form is submitted by them", "absent")
def no_fields_of_quotes(patch: Patch) -> None:
    for name in ("create", "authorize"):
        _bare_refusal((quotes, name))(patch)


def _bare_refusal(place: Place) -> Apply:
    def apply(patch: Patch) -> None:
        _changed_refusal(place, lambda refusal: errors.Refusal(refusal.code, refusal.reason))(patch)

    return apply


def _changed_refusal(place: Place, change: Callable[[errors.Refusal], errors.Refusal]) -> Apply:
    def refusing(refusal: errors.Refusal, *arguments: Any) -> Any:
        raise change(refusal) from None

    return rescued(*place, refusing)


declare(
    "M73",
    "paths-from-the-body",
    "paths of fields start with body",
    _listed(lambda entry: {**entry, "field": f"body.{entry['field']}"}),
    "forms",
)


@variant("M73", "of a business that is no object, the facts are listed that are not there")
def listed_by_its_facts(patch: Patch) -> None:
    facts = [f"businessInfo.{name}" for name in ("legalName", "country", "taxId", "incorporatedOn")]

    def invalid(original: Function, *found: Json) -> Any:
        if all(entry["field"] != "businessInfo" for entry in found):
            return original(*found)
        others = (entry for entry in found if entry["field"] != "businessInfo")
        return original(*others, *(errors.field_error(one, "Is required.") for one in facts))

    patch.wrap(errors, "invalid_input", invalid)


@variant("M73", "the object that a wrong field is in is listed too")
def listed_with_the_holder(patch: Patch) -> None:
    def invalid(original: Function, *found: Json) -> Any:
        holders = {entry["field"].rpartition(".")[0] for entry in found} - {""}
        return original(*found, *(errors.field_error(name, "Not valid.") for name in holders))

    patch.wrap(errors, "invalid_input", invalid)


@variant("M73", "paths of fields start at the object that holds them", "other forms")
def paths_from_the_holder(patch: Patch) -> None:
    def from_the_holder(path: str) -> str:
        # A place in a list is told with the list.
        return re.sub(r"^.*\.(?=[^.]*[^.\d])", "", path)

    _listed(lambda entry: {**entry, "field": from_the_holder(entry["field"])})(patch)


declare(
    "M85",
    "path-alone",
    "a field error is its path alone",
    _listed(lambda entry: {"field": entry["field"]}),
    "other forms",
)


@variant("N017", "a constraint has a format and members that nobody knows", "forms")
def richer_constraints(patch: Patch) -> None:
    more = {"format": "number", "step": 1, "of": {"any": ["kind"]}}
    edited(errors, "field_error", lambda body: {**body, "constraint": more})(patch)


@variant("N063", "details of an error hold what they like", "other forms", (errors, "view"), edited)
def richer_details(body: Json) -> Json:
    return {**body, "details": {"trace": "1-2", "retry": None, **body.get("details", {})}}


@variant("M40", "whatever is missing is NOT_FOUND", "codes")
def not_found(patch: Patch) -> None:
    missing = ("ACCOUNT", "CUSTOMER", "QUOTE", "TRANSACTION")
    _renamed({f"{name}_NOT_FOUND": "NOT_FOUND" for name in missing})(patch)


declare(
    "N100",
    "reference-not-found",
    "an external account that is missing is REFERENCE_NOT_FOUND",
    _renamed({"ACCOUNT_NOT_FOUND": "REFERENCE_NOT_FOUND"}),
    "other codes",
)


@variant("M41", "an unknown id in a body is a field that is not valid", "codes")
def unknown_id_invalid(patch: Patch) -> None:
    for place in ((parties, "account_party"), (parties, "realtime_source"), (externals, "create")):
        refuse(
            place,
            {"ACCOUNT_NOT_FOUND": "INVALID_INPUT", "CUSTOMER_NOT_FOUND": "INVALID_INPUT"},
        )(patch)


declare(
    "N097",
    "other-conflicts",
    "conflicts have codes of their own",
    _renamed({"INVALID_STATE_TRANSITION": "QUOTE_NOT_EXECUTABLE", "CONFLICT": "LATE"}),
    "codes",
)


# --- Limits ---------------------------------------------------------------------------------


@variant("N430", "the daily volume is looked at when a quote is executed")
def volume_at_execution(patch: Patch) -> None:
    drafting: set[int] = set()

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        # No call executes what is funded just in time.
        if order.source.kind != "REALTIME":
            drafting.add(id(unit))
        try:
            quote: Quote = original(unit, order)
        finally:
            drafting.discard(id(unit))
        return quote

    def refuse_volume(original: Function, unit: Unit, *transfer: Any) -> None:
        if id(unit) not in drafting:
            original(unit, *transfer)

    patch.wrap(quotes, "draft", draft)
    patch.wrap(limits, "refuse_volume", refuse_volume)
