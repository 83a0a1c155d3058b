"""Mutants of the receiver lookup and of the discovery of institutions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Handler, Json, Place, around, before, edited, instead
from conformance.proof.kit.edits import ALL, put, turned, where, without
from conformance.proof.kit.identifiers import (
    declare_lookups,
    external_account_of,
    of_type,
    owner_of,
)
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import priced_unseen
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, money, rules
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals, institutions, receivers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, ExternalAccount
from conformance.reference.unit import Ask, Unit

_EACH = f"supportedCurrencies.{ALL}"
_FIELD = f"requiredPayerDataFields.{ALL}"

_NO_CURRENCY = {"code-alone": "USD", "null": None}
_NOT_POSITIVE = {"zero": 0, "text": "1", "null": None, "fraction": 1.5}
_NO_AMOUNT = {"text": "100", "fraction": 0.5, "negative": -1}

SHOWN: tuple[tuple[str, Place, str, dict[str, Any], bool], ...] = (
    ("LKP-002", (receivers, "lookup"), "sendingCurrency", _NO_CURRENCY, True),
    ("LKP-003", (receivers, "lookup"), "supportedCurrencies", {"object": {}, "null": None}, True),
    ("LKP-004", (receivers, "lookup"), f"{_EACH}.currency", _NO_CURRENCY, True),
    (
        "LKP-005",
        (receivers, "lookup"),
        f"{_EACH}.estimatedExchangeRate",
        {"zero": 0, "negative": -1.5, "text": "1.5", "null": None},
        True,
    ),
    ("LKP-006", (receivers, "lookup"), f"{_EACH}.min", _NOT_POSITIVE, True),
    ("LKP-007", (receivers, "lookup"), f"{_EACH}.max", _NOT_POSITIVE, True),
    ("LKP-008", (receivers, "lookup"), f"{_EACH}.minSendingAmount", _NO_AMOUNT, False),
    ("LKP-009", (receivers, "lookup"), f"{_EACH}.maxSendingAmount", _NO_AMOUNT, False),
    ("LKP-600", (receivers, "lookup"), f"{_EACH}.max", {"unlimited": 2**63}, False),
    ("LKP-600", (receivers, "lookup"), f"{_EACH}.maxSendingAmount", {"unlimited": 2**64}, False),
    (
        "LKP-010",
        (receivers, "lookup"),
        "requiredPayerDataFields",
        {"names": ["FULL_NAME"], "object": {}},
        False,
    ),
    ("LKP-811", (receivers, "lookup"), "requiredPayerDataFields", {}, True),
    (
        "LKP-011",
        (receivers, "lookup"),
        f"{_FIELD}.name",
        {"number": 17, "null": None, "empty": ""},
        True,
    ),
    (
        "LKP-012",
        (receivers, "lookup"),
        f"{_FIELD}.mandatory",
        {"text": "true", "null": None, "one": 1},
        True,
    ),
    (
        "LKP-013",
        (receivers, "lookup"),
        "lookupId",
        {"bare-id": "8d0cf2a4", "quote": "Quote:1"},
        True,
    ),
    ("LKP-014", (receivers, "lookup"), "accountId", {"number": 17, "null": None}, True),
    ("LKP-020", (receivers, "lookup"), "accountId", {"another": "ExternalAccount:1"}, False),
    ("LKP-021", (receivers, "lookup"), "supportedCurrencies", {"empty-but-one": []}, False),
    ("DSC-001", (receivers, "discoveries"), "data", {"object": {}, "null": None}, True),
    (
        "DSC-002",
        (receivers, "discoveries"),
        f"data.{ALL}.bankName",
        {"number": 17, "empty": ""},
        True,
    ),
    (
        "DSC-003",
        (receivers, "discoveries"),
        f"data.{ALL}.displayName",
        {"number": 17, "null": None},
        True,
    ),
    (
        "DSC-004",
        (receivers, "discoveries"),
        f"data.{ALL}.country",
        {"number": 608, "null": None},
        True,
    ),
    (
        "DSC-005",
        (receivers, "discoveries"),
        f"data.{ALL}.currency",
        {"object": {"code": "PHP"}},
        True,
    ),
    ("DSC-006", (receivers, "discoveries"), f"data.{ALL}.currency", {"another": "USD"}, False),
    ("DSC-007", (receivers, "discoveries"), f"data.{ALL}.country", {"another": "MX"}, False),
    ("DSC-008", (receivers, "discoveries"), "data", {"empty": []}, False),
    (
        "DSC-009",
        (receivers, "discoveries"),
        f"data.{ALL}.bankName",
        {"label": "BDO Unibank, Inc."},
        False,
    ),
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
        declare(_id, f"{_name}-missing", f"{_path} is not there", edited(*_view, without(_path)))
    for _form, _value in _wrong.items():
        _shown = _OTHERS.get(_form, _value)
        declare(
            _id,
            f"{_name}-{_form}",
            f"{_path} is {json.dumps(_shown)[:40]}",
            edited(*_view, put(_path, _shown)),
        )


def _swapped(low: str, high: str) -> Callable[[Any], Any]:
    def edit(lookup: Json) -> Json:
        for entry in lookup["supportedCurrencies"]:
            entry[low], entry[high] = entry[high], entry[low]
        return lookup

    return edit


declare(
    "LKP-022",
    "swapped",
    "min is max, and max is min",
    edited(receivers, "lookup", _swapped("min", "max")),
)
declare(
    "LKP-028",
    "swapped",
    "the bounds on the sending side are swapped",
    edited(receivers, "lookup", _swapped("minSendingAmount", "maxSendingAmount")),
)
declare(
    "LKP-028",
    "swapped-between-currencies",
    "the bounds on the sending side are swapped in a conversion",
    edited(
        receivers,
        "lookup",
        where(
            lambda body: body["sendingCurrency"] != body["supportedCurrencies"][0]["currency"],
            _swapped("minSendingAmount", "maxSendingAmount"),
        ),
    ),
)


def _refusing_unless(wanted: Callable[[Ask], bool]) -> Function:
    def handler(original: Handler, unit: Unit, ask: Ask) -> Any:
        if not wanted(ask):
            raise errors.Refusal("INVALID_INPUT", "It is not taken.")
        return original(unit, ask)

    return handler


def _asking(change: Callable[[dict[str, str]], dict[str, str]]) -> Function:
    def handler(original: Handler, unit: Unit, ask: Ask) -> Any:
        return original(unit, replace(ask, query=change(dict(ask.query))))

    return handler


def _less(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: {key: value for key, value in query.items() if key != name}


declare(
    "LKP-001",
    "uma-alone",
    "only senders with a UMA address look accounts up",
    around(receivers, "lookup", _refusing_unless(lambda ask: "senderUmaAddress" in ask.query)),
)


@mutant("LKP-800", "an internal account is looked up as what receives", (receivers, "lookup"))
def inside_looked_up(original: Handler, unit: Unit, ask: Ask) -> Any:
    if accounts.find(unit, ask.params["accountId"]) is None:
        return original(unit, ask)
    owned = external_account_of(unit, owner_of(unit, ask.params["accountId"]))
    return original(unit, replace(ask, params={**ask.params, "accountId": owned}))


@mutant("LKP-001", "individuals alone look accounts up", (receivers, "lookup"), before)
def individuals_look_up(unit: Unit, ask: Ask) -> None:
    if "customerId" in ask.query:
        sender = customers.get(unit, ask.query["customerId"])
        if sender.customer_type == "BUSINESS":
            raise errors.Refusal("CUSTOMER_NOT_FOUND", "No individual has this id.")


declare(
    "LKP-023",
    "ignored",
    "the currency that is asked for is ignored",
    around(receivers, "lookup", _asking(_less("sendingCurrency"))),
)
declare(
    "LKP-023",
    "by-address",
    "the currency that is asked for is ignored where a UMA address names the sender",
    around(
        receivers,
        "lookup",
        _asking(lambda query: query if "customerId" in query else _less("sendingCurrency")(query)),
    ),
)
declare(
    "LKP-023",
    "by-both",
    "the currency that is asked for is ignored where the sender is named in both ways",
    around(
        receivers,
        "lookup",
        _asking(
            lambda query: (
                _less("sendingCurrency")(query)
                if {"customerId", "senderUmaAddress"} <= query.keys()
                else query
            )
        ),
    ),
)


@mutant("LKP-023", "the currency that a business asks for is ignored", (receivers, "lookup"))
def of_businesses_ignored(original: Handler, unit: Unit, ask: Ask) -> Any:
    sender = unit.session.get(Customer, ask.query.get("customerId", ""))
    if sender is None or sender.customer_type != "BUSINESS":
        return original(unit, ask)
    return original(unit, replace(ask, query=_less("sendingCurrency")(dict(ask.query))))


declare(
    "LKP-023",
    "pounds",
    "a lookup says that it is priced against pounds",
    edited(receivers, "lookup", put("sendingCurrency", {"code": "GBP", "decimals": 2})),
)
declare(
    "LKP-024",
    "demanded",
    "a lookup has to name its currency",
    around(receivers, "lookup", _refusing_unless(lambda ask: "sendingCurrency" in ask.query)),
)
declare(
    "LKP-026",
    "one-rate",
    "the rate is the same from whatever currency",
    edited(receivers, "lookup", put(f"{_EACH}.estimatedExchangeRate", 1.25)),
)
declare(
    "LKP-031",
    "id-alone",
    "a sender's UMA address is not enough",
    around(receivers, "lookup", _refusing_unless(lambda ask: "customerId" in ask.query)),
)


@mutant("LKP-032", "a lookup without a sender is the platform's", (receivers, "sender_currency"))
def platform_sends(original: Callable[[Unit, Json], str], unit: Unit, query: Json) -> str:
    if query.keys() & {"customerId", "senderUmaAddress"}:
        return original(unit, query)
    return unit.settings.platform_currency


for _requirement in ("LKP-032", "LKP-035"):
    declare(
        _requirement,
        "priced-unseen",
        "the sender is looked at for its default currency alone",
        around(receivers, "sender_currency", priced_unseen),
    )


def _priced_in_dollars(condition: Callable[[Unit, Json], bool]) -> Apply:
    """Return a patch by which some lookups name the currency asked for and convert from dollars."""

    def lookup(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        if not condition(unit, ask.query):
            return body
        rates = (
            money.market_rate("USD", entry["currency"]["code"])
            for entry in body["supportedCurrencies"]
        )
        entries = [
            {**entry, "estimatedExchangeRate": money.number(rate)}
            for entry, rate in zip(body["supportedCurrencies"], rates, strict=True)
        ]
        return {**body, "supportedCurrencies": entries}

    return around(receivers, "lookup", lookup)


def _is_of_business(unit: Unit, query: Json) -> bool:
    sender = unit.session.get(Customer, query.get("customerId", ""))
    return sender is not None and sender.customer_type == "BUSINESS"


declare(
    "LKP-026",
    "of-a-business",
    "what a business looks up converts from dollars",
    _priced_in_dollars(_is_of_business),
)
declare(
    "LKP-026",
    "by-address",
    "a lookup for a UMA address converts from dollars",
    _priced_in_dollars(lambda _unit, query: "customerId" not in query),
)


@mutant("LKP-804", "accounts of customers alone are looked up", (receivers, "lookup"), before)
def of_customers_alone(unit: Unit, ask: Ask) -> None:
    if externals.get(unit, ask.params["accountId"]).customer_id is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No external account has this id.")


@mutant("LKP-033", "what does not exist is looked up nevertheless", (receivers, "lookup"))
def nothing_looked_up(original: Handler, unit: Unit, ask: Ask) -> Any:
    if externals.find(unit, ask.params["accountId"]) is None:
        return {"accountId": ask.params["accountId"]}
    return original(unit, ask)


@mutant("LKP-033", "an account that does not exist is a bad request")
def missing_is_bad(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "ACCOUNT_NOT_FOUND", 400)


@mutant("LKP-048", "an account that may not be paid is unknown", (receivers, "lookup"), before)
def waiting_unknown(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["accountId"])
    if account.status != "ACTIVE":
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "There is no such account.")


declare(
    "LKP-005",
    "rounded",
    "rates are rounded to four digits after the point",
    edited(
        receivers, "lookup", turned(f"{_EACH}.estimatedExchangeRate", lambda rate: round(rate, 4))
    ),
)


@mutant("LKP-034", "a deleted account is looked up", (receivers, "lookup"))
def deleted_looked_up(original: Handler, unit: Unit, ask: Ask) -> Any:
    account = unit.session.get(ExternalAccount, ask.params["accountId"])
    if account is None or not account.deleted:
        return original(unit, ask)
    account.deleted = False
    answer = original(unit, ask)
    account.deleted = True
    return answer


@mutant("LKP-035", "whoever sends, an account is looked up", (receivers, "sender_currency"))
def anybody_looks_up(original: Callable[[Unit, Json], str], unit: Unit, query: Json) -> str:
    try:
        return original(unit, query)
    except errors.Refusal as refusal:
        if refusal.code == "CUSTOMER_NOT_FOUND":
            return unit.settings.platform_currency
        raise


@mutant("LKP-036", "a currency that is not offered is priced as dollars")
def any_currency(patch: Patch) -> None:
    def known(query: dict[str, str]) -> dict[str, str]:
        if query.get("sendingCurrency") == "XTS":
            return {**query, "sendingCurrency": "USD"}
        return query

    around(receivers, "lookup", _asking(known))(patch)


def _failing(state: str, code: str | None) -> Apply:
    def apply(patch: Patch) -> None:
        if code is None:
            patch.drop(receivers, "COUNTERPARTY_FAILURES", state)
        else:
            patch.row(receivers, "COUNTERPARTY_FAILURES", state, code)

    return apply


for _id, _state in (("LKP-037", "OUTDATED"), ("LKP-038", "DOWN")):
    declare(_id, "unseen", "the counterparty's trouble is not seen", _failing(_state, None))
    declare(
        _id,
        "failure",
        "the counterparty's trouble counts as a failure of the service",
        _failing(_state, "INTERNAL_ERROR"),
    )


declare(
    "LKP-037",
    "status-of-the-other",
    "a version that is not supported has the status of versions that have none in common",
    with_status("UNSUPPORTED_UMA_VERSION", 424),
)


@mutant("LKP-037", "an outdated counterparty has the code of another issue")
def outdated_is_down(patch: Patch) -> None:
    patch.row(receivers, "COUNTERPARTY_FAILURES", "OUTDATED", "LNURLP_REQUEST_FAILED")


@mutant(
    "LKP-040",
    "accounts in another currency than the sender's cannot be looked up",
    (receivers, "lookup"),
    before,
)
def same_currency_alone(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["accountId"])
    if ask.query.get("sendingCurrency", account.currency) != account.currency:
        raise errors.Refusal("INVALID_CURRENCY", "It is another currency.")


@mutant("LKP-044", "a lookup is priced against the account's currency", (receivers, "lookup"))
def default_of_the_receiver(original: Handler, unit: Unit, ask: Ask) -> Any:
    account = externals.get(unit, ask.params["accountId"])
    return original(unit, replace(ask, query={"sendingCurrency": account.currency, **ask.query}))


@mutant("LKP-044", "a sender with an address pays in pounds", (receivers, "lookup"))
def default_of_an_address(original: Handler, unit: Unit, ask: Ask) -> Any:
    default = {} if "customerId" in ask.query else {"sendingCurrency": "GBP"}
    return original(unit, replace(ask, query={**default, **ask.query}))


declare(
    "LKP-045",
    "one-id",
    "all lookups have one id",
    edited(receivers, "lookup", put("lookupId", "Lookup:00000000-0000-4000-8000-000000000000")),
)


@mutant("LKP-046", "rates within a currency are those from satoshis", (receivers, "lookup"))
def rate_within_a_currency(original: Handler, unit: Unit, ask: Ask) -> Any:
    lookup: Json = original(unit, ask)
    for entry in lookup["supportedCurrencies"]:
        if entry["currency"] == lookup["sendingCurrency"]:
            entry["estimatedExchangeRate"] *= 100
    return lookup


def _for_wallets(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which lookups of accounts without a bank answer otherwise."""

    def lookup(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer: Json = original(unit, ask)
        account = externals.get(unit, ask.params["accountId"])
        return change(answer) if account.currency in ("USDC", "USDT", "BTC") else answer

    return around(receivers, "lookup", lookup)


@mutant("LKP-020", "lookups in one currency are remembered for their customer")
def remembered(patch: Patch) -> None:
    known: dict[tuple[str, ...], str] = {}

    def lookup(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer: Json = original(unit, ask)
        account = externals.get(unit, ask.params["accountId"])
        asked = (*map(str, ask.query.values()), account.currency)
        return {**answer, "accountId": known.setdefault(asked, account.id)}

    patch.wrap(receivers, "lookup", lookup)


declare(
    "LKP-020",
    "another-of-wallets",
    "the lookup of a wallet names another account",
    _for_wallets(put("accountId", "ExternalAccount:1")),
)
declare(
    "LKP-021",
    "dollars-of-wallets",
    "a wallet is said to receive dollars",
    _for_wallets(put(f"{_EACH}.currency", {"code": "USD", "decimals": 2})),
)
declare(
    "LKP-022",
    "swapped-of-wallets",
    "min of a wallet is max, and max is min",
    _for_wallets(_swapped("min", "max")),
)


for _member in ("name", "symbol"):

    def _of_the_sender(member: str, lookup: Json) -> Json:
        value = lookup["sendingCurrency"].get(member)
        changed: Json = put(f"{_EACH}.currency.{member}", value)(lookup)
        return changed

    declare(
        "LKP-047",
        f"{_member}-of-the-sender",
        f"what can be received has the {_member} of what is sent",
        edited(receivers, "lookup", partial(_of_the_sender, _member)),
    )


@mutant(
    "LKP-803", "bounds on the sending side are those on the other", (receivers, "lookup"), edited
)
def bounds_not_converted(lookup: Json) -> Json:
    for entry in lookup["supportedCurrencies"]:
        entry["minSendingAmount"], entry["maxSendingAmount"] = entry["min"], entry["max"]
    return lookup


@mutant(
    "LKP-803", "bounds of what RWF costs are those on the other side", (receivers, "lookup"), edited
)
def francs_not_converted(lookup: Json) -> Json:
    for entry in lookup["supportedCurrencies"]:
        if entry["currency"]["code"] == "RWF":
            entry["min"], entry["max"] = entry["minSendingAmount"], entry["maxSendingAmount"]
    return lookup


@mutant("LKP-808", "more has to be received than the least", (receivers, "refuse_little"), before)
def more_than_the_least(account: ExternalAccount, amount: int) -> None:
    if amount == receivers.min_received(account.currency):
        raise errors.Refusal("AMOUNT_OUT_OF_RANGE", "Expected a larger amount.")


declare(
    "LKP-809",
    "less",
    "less is quoted than can be received",
    instead(receivers, "refuse_little", lambda _account, _amount: None),
)


_LEAST = 10**8
"""So much that it tells its unit, of pesos with two decimals and of coins with six."""


@mutant("LKP-803", "the least that is sent is what is received", (receivers, "lookup"), edited)
def least_not_converted(lookup: Json) -> Json:
    for entry in lookup["supportedCurrencies"]:
        entry["minSendingAmount"] = entry["min"] = _LEAST
    return lookup


@mutant("LKP-807", "the least that is sent is in cents", (receivers, "lookup"), edited)
def least_in_cents(lookup: Json) -> Json:
    unit = 10 ** (lookup["sendingCurrency"]["decimals"] - 2)
    for entry in lookup["supportedCurrencies"]:
        cost = entry["maxSendingAmount"] * _LEAST // entry["max"]
        entry["min"], entry["minSendingAmount"] = _LEAST, cost // unit if unit > 1 else cost
    return lookup


@mutant("LKP-807", "bounds of sending are in cents", (receivers, "lookup"), edited)
def bounds_in_cents(lookup: Json) -> Json:
    unit = 10 ** (lookup["sendingCurrency"]["decimals"] - 2)
    for entry in lookup["supportedCurrencies"]:
        for member in ("minSendingAmount", "maxSendingAmount"):
            entry[member] = entry[member] // unit if unit > 1 else entry[member]
    return lookup


def _with_what_is_sent(lookup: Json) -> Json:
    entries = lookup["supportedCurrencies"]
    other = {**entries[0], "currency": lookup["sendingCurrency"]}
    return {**lookup, "supportedCurrencies": [*entries, other]}


for _id in ("LKP-805", "LKP-806"):
    declare(
        _id,
        "what-is-sent",
        "a lookup lists what is sent, too",
        edited(receivers, "lookup", _with_what_is_sent),
    )


@mutant("LKP-041", "an account that was looked up cannot be paid without the lookup's id")
def id_demanded(patch: Patch) -> None:
    _looked_up_first(patch, lambda body: "lookupId" in body)


@mutant("LKP-042", "an account that was looked up cannot be paid with the lookup's id")
def id_refused(patch: Patch) -> None:
    _looked_up_first(patch, lambda body: "lookupId" not in body)


def _looked_up_first(patch: Patch, right: Callable[[Json], bool]) -> None:
    seen: set[str] = set()

    def lookup(original: Handler, unit: Unit, ask: Ask) -> Any:
        seen.add(ask.params["accountId"])
        return original(unit, ask)

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        destination = ask.body.get("destination", {}) if isinstance(ask.body, dict) else {}
        if destination.get("accountId") in seen and not right(ask.body):
            raise errors.Refusal("INVALID_INPUT", "The lookupId is not right.")
        return original(unit, ask)

    patch.wrap(receivers, "lookup", lookup)
    patch.wrap(quotes, "create", create)


@mutant("LKP-043", "a lookup sends an account to review", (receivers, "lookup"), before)
def lookup_reviews(unit: Unit, ask: Ask) -> None:
    externals.get(unit, ask.params["accountId"]).status = "UNDER_REVIEW"


for _id, _name in (("DSC-006", "currency"), ("DSC-007", "country")):
    declare(
        _id,
        "filter-ignored",
        f"institutions are listed whatever their {_name}",
        around(receivers, "discoveries", _asking(_less(_name))),
    )

for _name in ("country", "currency"):
    declare(
        "DSC-012",
        f"{_name}-ignored",
        f"institutions are listed whatever their {_name}",
        around(receivers, "discoveries", _asking(_less(_name))),
    )


def _less_elsewhere(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: query if query.get("country") == "PH" else _less(name)(query)


for _id, _name in (("DSC-006", "currency"), ("DSC-007", "country")):
    declare(
        _id,
        "philippines-alone",
        f"outside of the Philippines institutions are listed whatever their {_name}",
        around(receivers, "discoveries", _asking(_less_elsewhere(_name))),
    )


@mutant(
    "DSC-007",
    "an institution has the first country of its currency",
    (receivers, "discoveries"),
    edited,
)
def first_country(body: Json) -> Json:
    homes = {currency: country for _, _, country, currency in reversed(institutions.INSTITUTIONS)}
    records = [record | {"country": homes[record["currency"]]} for record in body["data"]]
    return {**body, "data": records}


declare(
    "DSC-010",
    "philippines",
    "whatever is asked for, the institutions of the Philippines are listed",
    around(receivers, "discoveries", _asking(lambda _: {"country": "PH", "currency": "PHP"})),
)


@mutant("DSC-009", "the label is what creates an account")
def labels_taken(patch: Patch) -> None:
    rows = tuple(
        (name, bank, country, currency)
        for bank, name, country, currency in institutions.INSTITUTIONS
        if currency == "PHP"
    )

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        info = ask.body.get("accountInfo") if isinstance(ask.body, dict) else None
        if isinstance(info, dict) and info.get("accountType") == "PHP_ACCOUNT":
            known = {name for name, *_ in rows}
            if info.get("bankName") not in known:
                raise errors.Refusal("INVALID_INPUT", "There is no such institution.")
        return original(unit, ask)

    patch.wrap(externals, "create", create)


declare_lookups(
    (
        ("LKP-800", "looked-up", (receivers, "lookup"), "accountId", external_account_of),
        ("LKP-800", "any-type", (receivers, "lookup"), "accountId", of_type("ExternalAccount")),
    )
)


@mutant("LKP-801", "a sender is named in one way alone", (receivers, "sender_currency"), before)
def one_name(unit: Unit, query: dict[str, str]) -> None:
    if {"customerId", "senderUmaAddress"} <= query.keys():
        raise errors.invalid_input(errors.field_error("customerId", "Expected one sender."))


declare(
    "LKP-810",
    "inverse",
    "the estimated rate is what one receiving unit costs",
    edited(receivers, "lookup", turned(f"{_EACH}.estimatedExchangeRate", lambda rate: 1 / rate)),
)
declare(
    "LKP-802",
    "inverse",
    "the rate of a quote is what one receiving unit costs",
    edited(quotes, "view", turned("exchangeRate", lambda rate: round(1 / rate, 9))),
)
