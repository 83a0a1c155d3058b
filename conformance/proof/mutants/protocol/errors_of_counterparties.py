"""Mutants of the error codes about counterparties."""

from __future__ import annotations

from collections.abc import Callable

from conformance.proof.kit.builders import Json, Place, around, before, instead, receives, recoded
from conformance.proof.kit.edits import put, where
from conformance.proof.kit.tables import with_row, with_status, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import priced_unseen
from conformance.proof.mutants.quotes.toolkit import change_body, debit_though_refused
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.external_accounts import receivers
from conformance.reference.quotes import quotes, uma
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Unit

Priced = Callable[[Unit, Json], str]


def _of_the_platform(code: str) -> Function:
    """Return what prices a lookup for the platform where its sender is refused with a code."""

    def currency(original: Priced, unit: Unit, query: Json) -> str:
        try:
            return original(unit, query)
        except errors.Refusal as refusal:
            if refusal.code != code:
                raise
            return unit.settings.platform_currency

    return currency


CAUSES: tuple[tuple[str, str, Place, str, str], ...] = (
    (
        "ERR-020",
        "ERR-021",
        (receivers, "COUNTERPARTY_FAILURES"),
        "LOOKUP_REFUSED",
        "INVALID_RECEIVER",
    ),
    (
        "ERR-022",
        "ERR-023",
        (receivers, "COUNTERPARTY_FAILURES"),
        "LOOKUP_GARBLED",
        "PARSE_PAYREQ_RESPONSE_ERROR",
    ),
    (
        "ERR-024",
        "ERR-025",
        (receivers, "COUNTERPARTY_FAILURES"),
        "SENDER_REFUSED",
        "INVALID_RECEIVER",
    ),
    (
        "ERR-026",
        "ERR-027",
        (receivers, "COUNTERPARTY_FAILURES"),
        "CERTIFICATE_FORGED",
        "CERT_CHAIN_EXPIRED",
    ),
    (
        "ERR-028",
        "ERR-029",
        (receivers, "COUNTERPARTY_FAILURES"),
        "CERTIFICATE_EXPIRED",
        "CERT_CHAIN_INVALID",
    ),
    (
        "ERR-030",
        "ERR-031",
        (receivers, "COUNTERPARTY_FAILURES"),
        "KEY_HIDDEN",
        "INVALID_PUBKEY_FORMAT",
    ),
    (
        "ERR-032",
        "ERR-033",
        (receivers, "COUNTERPARTY_FAILURES"),
        "KEY_GARBLED",
        "COUNTERPARTY_PUBKEY_FETCH_ERROR",
    ),
    (
        "ERR-034",
        "ERR-035",
        (receivers, "COUNTERPARTY_FAILURES"),
        "PARAMETERS_OMITTED",
        "INVALID_INPUT",
    ),
    (
        "ERR-036",
        "ERR-037",
        (receivers, "PAYMENT_FAILURES"),
        "PAYMENT_UNANSWERED",
        "INVALID_PAYREQ_RESPONSE",
    ),
    (
        "ERR-038",
        "ERR-039",
        (receivers, "PAYMENT_FAILURES"),
        "PAYMENT_GARBLED",
        "PARSE_LNURLP_RESPONSE_ERROR",
    ),
    (
        "ERR-040",
        "ERR-041",
        (receivers, "PAYMENT_FAILURES"),
        "PAYMENT_FALSIFIED",
        "PARSE_PAYREQ_RESPONSE_ERROR",
    ),
    (
        "ERR-042",
        "ERR-043",
        (receivers, "PAYMENT_FAILURES"),
        "RECEIVER_REFUSED",
        "SENDER_NOT_ACCEPTED",
    ),
)
"""The rules about a cause and its code, the table, what is the matter, and the code that comes."""

for _refusing, _naming, _table, _state, _other in CAUSES:
    declare(
        _refusing, "unseen", "the counterparty's trouble is not seen", without_row(*_table, _state)
    )
    declare(
        _refusing,
        "failure",
        "the counterparty's trouble counts as a failure of the service",
        with_row(*_table, _state, "INTERNAL_ERROR"),
    )
    declare(_naming, _other, f"it is refused with {_other}", with_row(*_table, _state, _other))


def _only_quoted(state: str, other: str) -> Apply:
    """Return a patch after which a quote is refused with another code than the lookup is."""

    def refusing(account: ExternalAccount) -> None:
        if account.counterparty == state:
            raise errors.Refusal(other, "The institution behind the account did not agree to it.")

    return before(receivers, "refuse_unpayable", refusing)


for _refusing, _naming, _table, _state, _other in CAUSES:
    if _table == (receivers, "COUNTERPARTY_FAILURES"):
        declare(
            _naming,
            "quoted",
            f"a quote that no lookup came before is refused with {_other}",
            _only_quoted(_state, _other),
        )

for _naming, _code, _status in (
    ("ERR-021", "LOOKUP_REQUEST_FAILED", 424),
    ("ERR-027", "CERT_CHAIN_INVALID", 424),
    ("ERR-031", "COUNTERPARTY_PUBKEY_FETCH_ERROR", 400),
    ("ERR-037", "PAYREQ_REQUEST_FAILED", 400),
    ("ERR-043", "INVALID_RECEIVER", 404),
):
    declare(
        _naming,
        f"{_code}-at-{_status}",
        f"{_code} comes with {_status}",
        with_status(_code, _status),
    )

declare(
    "ERR-044",
    "another-code",
    "a counterparty that does not answer counts as one without a version in common",
    with_row(receivers, "COUNTERPARTY_FAILURES", "DOWN", "UNSUPPORTED_UMA_VERSION"),
)
declare(
    "ERR-045",
    "debited",
    "what a counterparty does not agree to is debited",
    debit_though_refused("PAYREQ_REQUEST_FAILED"),
)


def _locks_what_is_received(body: Json) -> bool:
    destination = body.get("destination")
    by_uma = isinstance(destination, dict) and "umaAddress" in destination
    return by_uma and body.get("lockedCurrencySide") == "RECEIVING"


def _source_to_address(body: Json) -> Json:
    """Return the source of a quote to a UMA address, or nothing of another one."""
    destination, source = body.get("destination"), body.get("source")
    by_uma = isinstance(destination, dict) and "umaAddress" in destination
    return source if by_uma and isinstance(source, dict) else {}


def _is_funded_to_address(body: Json) -> bool:
    return _source_to_address(body).get("sourceType") == "REALTIME_FUNDING"


def _is_pulled_to_address(body: Json) -> bool:
    return str(_source_to_address(body).get("accountId")).startswith("ExternalAccount:")


declare(
    "ERR-060",
    "accounts-alone",
    "no UMA address can be paid",
    instead(uma, "is_address", lambda _: False),
)
declare(
    "ERR-060",
    "just-in-time",
    "what is funded just in time goes to accounts alone",
    receives(
        quotes,
        "create",
        where(_is_funded_to_address, put("destination.umaAddress", "not an address")),
    ),
)
declare(
    "ERR-060",
    "pulled",
    "what is pulled from an external account goes to accounts alone",
    receives(
        quotes,
        "create",
        where(_is_pulled_to_address, put("destination.umaAddress", "not an address")),
    ),
)
declare(
    "ERR-060",
    "receiving-locked",
    "what a UMA address receives cannot be locked",
    receives(
        quotes,
        "create",
        where(_locks_what_is_received, put("destination.umaAddress", "not an address")),
    ),
)
declare(
    "ERR-050",
    "anything",
    "whatever is sent counts as a UMA address",
    instead(uma, "is_address", lambda _: True),
)
declare("ERR-050", "conflict", "it is a conflict", with_status("INVALID_UMA_ADDRESS", 409))
declare(
    "ERR-051",
    "receiver",
    "it is called a receiver who cannot be paid",
    recoded(uma, "refuse_malformed", "INVALID_RECEIVER", "INVALID_UMA_ADDRESS"),
)
declare(
    "ERR-052",
    "anybody",
    "a receiver is not asked for",
    instead(uma, "has_receiver", lambda _: True),
)


@mutant("ERR-052", "who was asked for once is taken for a receiver")
def remembered_receiver(patch: Patch) -> None:
    known: set[str] = set()

    def has_receiver(original: Function, address: str) -> bool:
        is_known = address in known
        known.add(address)
        return is_known or bool(original(address))

    patch.wrap(uma, "has_receiver", has_receiver)


declare(
    "ERR-053",
    "receiver",
    "it is called a receiver who cannot be paid",
    recoded(uma, "refuse_nobody", "INVALID_RECEIVER", "UMA_NOT_FOUND"),
)
declare("ERR-053", "bad-request", "it is a bad request", with_status("UMA_NOT_FOUND", 400))


@mutant("ERR-054", "a UMA destination without an address is the platform's own", how=change_body)
def own_address(_unit: Unit, body: Json) -> Json:
    destination = body.get("destination")
    if not isinstance(destination, dict) or "umaAddress" in destination:
        return body
    return {**body, "destination": {**destination, "umaAddress": "$platform@uma.example"}}


declare(
    "ERR-055",
    "currency",
    "a UMA destination without an address is told as a wrong currency",
    recoded(quotes, "create", "INVALID_CURRENCY", "INVALID_INPUT"),
)
declare(
    "ERR-056",
    "priced",
    "a lookup is priced for the platform where the sender's address is none",
    around(receivers, "sender_currency", _of_the_platform("INVALID_UMA_ADDRESS")),
)
declare(
    "ERR-057",
    "sender",
    "it is called a sender who is not accepted",
    recoded(receivers, "sender_currency", "SENDER_NOT_ACCEPTED", "INVALID_UMA_ADDRESS"),
)
declare(
    "ERR-058",
    "priced",
    "a lookup is priced for the platform where nobody has the sender's address",
    around(receivers, "sender_currency", _of_the_platform("CUSTOMER_NOT_FOUND")),
)
declare(
    "ERR-058",
    "priced-unseen",
    "the sender is looked at for its default currency alone",
    around(receivers, "sender_currency", priced_unseen),
)
declare(
    "ERR-058",
    "counterparty",
    "a sender whom nobody knows is the counterparty's failure",
    recoded(receivers, "sender_currency", "LNURLP_REQUEST_FAILED", "CUSTOMER_NOT_FOUND"),
)
declare(
    "ERR-059",
    "account",
    "a sender whom nobody knows is called an account",
    recoded(receivers, "sender_currency", "ACCOUNT_NOT_FOUND", "CUSTOMER_NOT_FOUND"),
)
declare(
    "ERR-065",
    "anything",
    "any lookup can be named",
    instead(receivers, "refuse_unknown_lookup", lambda *_: None),
)
declare(
    "ERR-065",
    "failure",
    "a lookup that was never made is a failure of the service",
    recoded(receivers, "refuse_unknown_lookup", "INTERNAL_ERROR", "LOOKUP_REQUEST_NOT_FOUND"),
)
declare(
    "ERR-066",
    "quote",
    "a lookup that was never made is called a quote",
    recoded(receivers, "refuse_unknown_lookup", "QUOTE_NOT_FOUND", "LOOKUP_REQUEST_NOT_FOUND"),
)
