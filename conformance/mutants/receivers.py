"""Mutants of the receiver lookup and of the discoveries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.mutants.fields import ALL, edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, externals, institutions
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_LOOKUP = f"{_REFERENCE}.receivers:lookup"
_DISCOVERIES = f"{_REFERENCE}.receivers:discoveries"
_STATUSES = f"{_REFERENCE}.rules:ERROR_STATUS"
_FAILURES = f"{_REFERENCE}.receivers:COUNTERPARTY_FAILURES"
_EACH = f"supportedCurrencies.{ALL}"
_FIELD = f"requiredPayerDataFields.{ALL}"

_NO_CURRENCY = {"code-alone": "USD", "null": None}
_NOT_POSITIVE = {"zero": 0, "text": "1", "null": None, "fraction": 1.5}
_NO_AMOUNT = {"text": "100", "fraction": 0.5, "negative": -1}

SHOWN: tuple[tuple[str, str, str, dict[str, Any], bool], ...] = (
    ("LKP-002", _LOOKUP, "sendingCurrency", _NO_CURRENCY, True),
    ("LKP-003", _LOOKUP, "supportedCurrencies", {"object": {}, "null": None}, True),
    ("LKP-004", _LOOKUP, f"{_EACH}.currency", _NO_CURRENCY, True),
    (
        "LKP-005",
        _LOOKUP,
        f"{_EACH}.estimatedExchangeRate",
        {"zero": 0, "negative": -1.5, "text": "1.5", "null": None},
        True,
    ),
    ("LKP-006", _LOOKUP, f"{_EACH}.min", _NOT_POSITIVE, True),
    ("LKP-007", _LOOKUP, f"{_EACH}.max", _NOT_POSITIVE, True),
    ("LKP-008", _LOOKUP, f"{_EACH}.minSendingAmount", _NO_AMOUNT, False),
    ("LKP-009", _LOOKUP, f"{_EACH}.maxSendingAmount", _NO_AMOUNT, False),
    ("LKP-600", _LOOKUP, f"{_EACH}.max", {"unlimited": 2**63}, False),
    ("LKP-600", _LOOKUP, f"{_EACH}.maxSendingAmount", {"unlimited": 2**64}, False),
    ("LKP-010", _LOOKUP, "requiredPayerDataFields", {"names": ["FULL_NAME"], "object": {}}, False),
    ("LKP-011", _LOOKUP, f"{_FIELD}.name", {"number": 17, "null": None, "empty": ""}, True),
    ("LKP-012", _LOOKUP, f"{_FIELD}.mandatory", {"text": "true", "null": None, "one": 1}, True),
    ("LKP-013", _LOOKUP, "lookupId", {"bare-id": "8d0cf2a4", "quote": "Quote:1"}, True),
    ("LKP-014", _LOOKUP, "accountId", {"number": 17, "null": None}, True),
    ("LKP-020", _LOOKUP, "accountId", {"another": "ExternalAccount:1"}, False),
    ("LKP-021", _LOOKUP, "supportedCurrencies", {"empty-but-one": []}, False),
    ("DSC-001", _DISCOVERIES, "data", {"object": {}, "null": None}, True),
    ("DSC-002", _DISCOVERIES, f"data.{ALL}.bankName", {"number": 17, "empty": ""}, True),
    ("DSC-003", _DISCOVERIES, f"data.{ALL}.displayName", {"number": 17, "null": None}, True),
    ("DSC-004", _DISCOVERIES, f"data.{ALL}.country", {"number": 608, "null": None}, True),
    ("DSC-005", _DISCOVERIES, f"data.{ALL}.currency", {"object": {"code": "PHP"}}, True),
    ("DSC-006", _DISCOVERIES, f"data.{ALL}.currency", {"another": "USD"}, False),
    ("DSC-007", _DISCOVERIES, f"data.{ALL}.country", {"another": "MX"}, False),
    ("DSC-008", _DISCOVERIES, "data", {"empty": []}, False),
    ("DSC-009", _DISCOVERIES, f"data.{ALL}.bankName", {"label": "BDO Unibank, Inc."}, False),
)
"""Requirement, what is answered, a member, what it may not be, and whether it may not be missing.

Where one requirement has the member's form and another its value, each has a row.
"""

_OTHERS: dict[str, Any] = {
    "empty-but-one": [
        {
            "currency": {"code": "XAU", "decimals": 2},
            "estimatedExchangeRate": 1,
            "min": 1,
            "max": 2,
        }
    ]
}

for _id, _view, _path, _wrong, _required in SHOWN:
    _name = _path.replace(f".{ALL}.", "-")
    if _required:
        declare(_id, f"{_name}-missing", f"{_path} is not there", edited(_view, taken(_path)))
    for _form, _value in _wrong.items():
        _shown = _OTHERS.get(_form, _value)
        declare(
            _id,
            f"{_name}-{_form}",
            f"{_path} is {json.dumps(_shown)[:40]}",
            edited(_view, put(_path, _shown)),
        )


def _swapped(low: str, high: str) -> Callable[[Any], Any]:
    def edit(lookup: Json) -> Json:
        for entry in lookup["supportedCurrencies"]:
            entry[low], entry[high] = entry[high], entry[low]
        return lookup

    return edit


declare("LKP-022", "swapped", "min is max, and max is min", edited(_LOOKUP, _swapped("min", "max")))
declare(
    "LKP-028",
    "swapped",
    "the bounds on the sending side are swapped",
    edited(_LOOKUP, _swapped("minSendingAmount", "maxSendingAmount")),
)


def handled(place: str, change: Callable[[Handler], Handler]) -> Callable[[Patch], None]:
    """Return a patch that puts what ``change`` makes of a handler in its place."""
    return lambda patch: patch.wrap(place, change)


def _refusing_unless(wanted: Callable[[Ask], bool]) -> Callable[[Handler], Handler]:
    def wrapper(original: Handler) -> Handler:
        def handler(unit: Unit, ask: Ask) -> Any:
            if not wanted(ask):
                raise errors.Refusal("INVALID_INPUT", "It is not taken.")
            return original(unit, ask)

        return handler

    return wrapper


def _asking(change: Callable[[dict[str, str]], dict[str, str]]) -> Callable[[Handler], Handler]:
    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: original(unit, replace(ask, query=change(dict(ask.query))))

    return wrapper


def _less(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: {key: value for key, value in query.items() if key != name}


declare(
    "LKP-001",
    "uma-alone",
    "only senders with a UMA address look accounts up",
    handled(_LOOKUP, _refusing_unless(lambda ask: "senderUmaAddress" in ask.query)),
)
declare(
    "LKP-023",
    "ignored",
    "the currency that is asked for is ignored",
    handled(_LOOKUP, _asking(_less("sendingCurrency"))),
)
declare(
    "LKP-023",
    "pounds",
    "a lookup says that it is priced against pounds",
    edited(_LOOKUP, put("sendingCurrency", {"code": "GBP", "decimals": 2})),
)
declare(
    "LKP-024",
    "demanded",
    "a lookup has to name its currency",
    handled(_LOOKUP, _refusing_unless(lambda ask: "sendingCurrency" in ask.query)),
)
declare(
    "LKP-026",
    "one-rate",
    "the rate is the same from whatever currency",
    edited(_LOOKUP, put(f"{_EACH}.estimatedExchangeRate", 1.25)),
)
declare(
    "LKP-031",
    "id-alone",
    "a sender's UMA address is not enough",
    handled(_LOOKUP, _refusing_unless(lambda ask: "customerId" in ask.query)),
)


@mutant("LKP-032", "a lookup without a sender is the platform's")
def platform_sends(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Json], str]) -> Callable[[Unit, Json], str]:
        def currency(unit: Unit, query: Json) -> str:
            if query.keys() & {"customerId", "senderUmaAddress"}:
                return original(unit, query)
            return unit.settings.platform_currency

        return currency

    patch.wrap(f"{_REFERENCE}.receivers:sender_currency", wrapper)


@mutant("LKP-033", "what does not exist is looked up nevertheless")
def nothing_looked_up(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def lookup(unit: Unit, ask: Ask) -> Any:
            if externals.find(unit, ask.params["accountId"]) is None:
                return {"accountId": ask.params["accountId"]}
            return original(unit, ask)

        return lookup

    patch.wrap(_LOOKUP, wrapper)


@mutant("LKP-033", "an account that does not exist is a bad request")
def missing_is_bad(patch: Patch) -> None:
    patch.row(_STATUSES, "ACCOUNT_NOT_FOUND", 400)


@mutant("LKP-034", "a deleted account is looked up")
def deleted_looked_up(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def lookup(unit: Unit, ask: Ask) -> Any:
            account = unit.session.get(ExternalAccount, ask.params["accountId"])
            if account is None or not account.deleted:
                return original(unit, ask)
            account.deleted = False
            answer = original(unit, ask)
            account.deleted = True
            return answer

        return lookup

    patch.wrap(_LOOKUP, wrapper)


@mutant("LKP-035", "whoever sends, an account is looked up")
def anybody_looks_up(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Json], str]) -> Callable[[Unit, Json], str]:
        def currency(unit: Unit, query: Json) -> str:
            try:
                return original(unit, query)
            except errors.Refusal as refusal:
                if refusal.code == "CUSTOMER_NOT_FOUND":
                    return unit.settings.platform_currency
                raise

        return currency

    patch.wrap(f"{_REFERENCE}.receivers:sender_currency", wrapper)


@mutant("LKP-036", "a currency that is not offered is priced as dollars")
def any_currency(patch: Patch) -> None:
    def known(query: dict[str, str]) -> dict[str, str]:
        if query.get("sendingCurrency") == "XTS":
            return {**query, "sendingCurrency": "USD"}
        return query

    handled(_LOOKUP, _asking(known))(patch)


def _failing(state: str, code: str | None) -> Callable[[Patch], None]:
    def apply(patch: Patch) -> None:
        if code is None:
            patch.drop(_FAILURES, state)
        else:
            patch.row(_FAILURES, state, code)

    return apply


for _id, _state in (("LKP-037", "OUTDATED"), ("LKP-038", "DOWN")):
    declare(_id, "unseen", "the counterparty's trouble is not seen", _failing(_state, None))
    declare(
        _id,
        "failure",
        "the counterparty's trouble counts as a failure of the service",
        _failing(_state, "INTERNAL_ERROR"),
    )


@mutant("LKP-037", "an outdated counterparty has the code of another issue")
def outdated_is_down(patch: Patch) -> None:
    patch.row(_FAILURES, "OUTDATED", "LNURLP_REQUEST_FAILED")


@mutant("LKP-040", "accounts in another currency than the sender's cannot be looked up")
def same_currency_alone(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def lookup(unit: Unit, ask: Ask) -> Any:
            account = externals.get(unit, ask.params["accountId"])
            if ask.query.get("sendingCurrency", account.currency) != account.currency:
                raise errors.Refusal("INVALID_CURRENCY", "It is another currency.")
            return original(unit, ask)

        return lookup

    patch.wrap(_LOOKUP, wrapper)


@mutant("LKP-041", "an account that was looked up cannot be paid without the lookup's id")
def id_demanded(patch: Patch) -> None:
    _looked_up_first(patch, lambda body: "lookupId" in body)


@mutant("LKP-042", "an account that was looked up cannot be paid with the lookup's id")
def id_refused(patch: Patch) -> None:
    _looked_up_first(patch, lambda body: "lookupId" not in body)


def _looked_up_first(patch: Patch, right: Callable[[Json], bool]) -> None:
    seen: set[str] = set()

    def noting(original: Handler) -> Handler:
        def lookup(unit: Unit, ask: Ask) -> Any:
            seen.add(ask.params["accountId"])
            return original(unit, ask)

        return lookup

    def demanding(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            destination = ask.body.get("destination", {}) if isinstance(ask.body, dict) else {}
            if destination.get("accountId") in seen and not right(ask.body):
                raise errors.Refusal("INVALID_INPUT", "The lookupId is not right.")
            return original(unit, ask)

        return create

    patch.wrap(_LOOKUP, noting)
    patch.wrap(f"{_REFERENCE}.quotes:create", demanding)


@mutant("LKP-043", "a lookup sends an account to review")
def lookup_reviews(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def lookup(unit: Unit, ask: Ask) -> Any:
            externals.get(unit, ask.params["accountId"]).status = "UNDER_REVIEW"
            return original(unit, ask)

        return lookup

    patch.wrap(_LOOKUP, wrapper)


for _id, _name in (("DSC-006", "currency"), ("DSC-007", "country")):
    declare(
        _id,
        "filter-ignored",
        f"institutions are listed whatever their {_name}",
        handled(_DISCOVERIES, _asking(_less(_name))),
    )


@mutant("DSC-010", "whatever is asked for, the institutions of the Philippines are listed")
def philippines(patch: Patch) -> None:
    handled(_DISCOVERIES, _asking(lambda _: {"country": "PH", "currency": "PHP"}))(patch)


@mutant("DSC-009", "the label is what creates an account")
def labels_taken(patch: Patch) -> None:
    rows = tuple(
        (name, bank, country, currency)
        for bank, name, country, currency in institutions.INSTITUTIONS
        if currency == "PHP"
    )

    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            info = ask.body.get("accountInfo") if isinstance(ask.body, dict) else None
            if isinstance(info, dict) and info.get("accountType") == "PHP_ACCOUNT":
                known = {name for name, *_ in rows}
                if info.get("bankName") not in known:
                    raise errors.Refusal("INVALID_INPUT", "There is no such institution.")
            return original(unit, ask)

        return create

    patch.wrap(f"{_REFERENCE}.externals:create", wrapper)
