"""Mutants of what resources show, of the terms of quotes, and of the resources around them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import accounts, errors, fees, routes, rules
from conformance.reference.account_types import ACCOUNT_TYPES
from conformance.reference.ledger import Leg
from conformance.reference.store import Customer, Quote
from conformance.reference.unit import Ask, Unit, after

Json = dict[str, Any]
Edit = Callable[[Any], Any]

QUOTE = "conformance.reference.quotes:view"
CUSTOMER = "conformance.reference.customers:view"
INTERNAL = "conformance.reference.accounts:_view"
EXTERNAL = "conformance.reference.externals:view"
CONFIG = "conformance.reference.platform:view"
TERMS = "conformance.reference.onboarding:terms"
CURRENCY = "conformance.reference.money:currency_view"
MONEY = "conformance.reference.money:money_view"
INSTRUCTION = "conformance.reference.accounts:_instruction"
ERROR = "conformance.reference.errors:view"

ALL = "*"
"""In a path: every entry of a list."""

ABSENT: Any = object()
"""In the place of a value: the member is not there."""


# --- Members of resources -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a resource and how careless implementations show it.

    ``view`` is the function that shows the resource, ``path`` the member's dotted path in it.
    ``wrong`` holds by their names values that it may not have. One that is ``required`` may not
    be missing either.
    """

    requirement: str
    view: str
    path: str
    wrong: dict[str, Any]
    required: bool = True


_NUMBER = {"number": 17}
_FORMLESS_ID = {"number": 17, "bare-id": "8d0cf2a4", "other-type": "Thing:8d0cf2a4"}
_FORMLESS_TIME = {
    "seconds": 1_790_000_000,
    "local": "2026-01-15T09:00:00+02:00",
    "zoneless": "2026-01-15T09:00:00",
    "date": "2026-01-15",
}
_NO_OBJECT = {"text": "none", "list": []}
_NO_INTEGER = {"text": "100", "fraction": 100.5, "null": None}
_NO_CURRENCY = {"code-alone": "USD", "null": None}
_UNKNOWN_WORD = {"number": 17, "unknown": "UNKNOWN"}
_OPTIONAL_TEXT = {"number": 17, "object": {}}

MEMBERS = (
    Member("QUO-001", QUOTE, "id", _FORMLESS_ID),
    Member("QUO-002", QUOTE, "status", {"number": 17, "null": None}),
    Member("QUO-003", QUOTE, "createdAt", _FORMLESS_TIME),
    Member("QUO-004", QUOTE, "expiresAt", _FORMLESS_TIME),
    Member("QUO-005", QUOTE, "source", _NO_OBJECT),
    Member("QUO-006", QUOTE, "destination", _NO_OBJECT),
    Member("QUO-007", QUOTE, "sendingCurrency", _NO_CURRENCY),
    Member("QUO-008", QUOTE, "receivingCurrency", _NO_CURRENCY),
    Member("QUO-009", QUOTE, "totalSendingAmount", _NO_INTEGER),
    Member("QUO-010", QUOTE, "totalReceivingAmount", _NO_INTEGER),
    Member("QUO-011", QUOTE, "exchangeRate", {"text": "1.08", "zero": 0, "null": None}),
    Member("QUO-012", QUOTE, "feesIncluded", _NO_INTEGER),
    Member("QUO-013", QUOTE, "platformFeesIncluded", {"text": "0", "fraction": 0.5}, False),
    Member("QUO-014", QUOTE, "transactionId", _FORMLESS_ID),
    Member("QUO-015", QUOTE, "description", _OPTIONAL_TEXT, False),
    Member("QUO-016", QUOTE, "paymentInstructions", {"object": {}, "text": "ask us"}, False),
    Member("QUO-017", INSTRUCTION, "accountOrWalletInfo", {"text": "US_ACCOUNT", "null": None}),
    Member("QUO-018", INSTRUCTION, "accountOrWalletInfo.accountType", {"number": 17, "null": None}),
    Member(
        "QUO-019", INSTRUCTION, "instructionsNotes", {"list": ["Include the reference."]}, False
    ),
    Member("QUO-022", QUOTE, "rateDetails", {"text": "1.08", "list": []}, False),
    Member("QUO-023", QUOTE, "rateDetails.gridApiMultiplier", {}),
    Member("QUO-024", QUOTE, "rateDetails.gridApiFixedFee", {}),
    Member("CUS-001", CUSTOMER, "id", _FORMLESS_ID),
    Member("CUS-002", CUSTOMER, "customerType", {"number": 17, "lower": "individual"}, False),
    Member("CUS-003", CUSTOMER, "kycStatus", {"number": 17, "unknown": "VERIFIED"}, False),
    Member("CUS-004", CUSTOMER, "kybStatus", {"number": 17, "unknown": "VERIFIED"}, False),
    Member("CUS-007", TERMS, "", {"text": "https://terms.example/2025-10-01", "list": []}, False),
    Member("ACC-001", INTERNAL, "id", _FORMLESS_ID),
    Member("ACC-002", INTERNAL, "type", _UNKNOWN_WORD),
    Member("ACC-003", INTERNAL, "status", _UNKNOWN_WORD),
    Member("ACC-004", INTERNAL, "balance", {"number": 0, "null": None}),
    Member("ACC-005", INTERNAL, "totalBalance", {"number": 0, "text": "0.00"}, False),
    Member(
        "ACC-006", INTERNAL, "fundingPaymentInstructions", {"bare": [{"reference": "A1"}]}, False
    ),
    Member("ACC-007", INTERNAL, "createdAt", _FORMLESS_TIME, False),
    Member("ACC-008", INTERNAL, "updatedAt", _FORMLESS_TIME, False),
    Member("ACC-009", INTERNAL, "label", {"number": 17, "long": "x" * 256}, False),
    Member("EXT-001", EXTERNAL, "id", _FORMLESS_ID),
    Member("EXT-002", EXTERNAL, "status", _UNKNOWN_WORD),
    Member("EXT-003", EXTERNAL, "currency", {"object": {"code": "USD"}, "null": None}),
    Member("EXT-004", EXTERNAL, "accountInfo", {"text": "USD_ACCOUNT"}),
    Member("EXT-004", EXTERNAL, "accountInfo.accountType", {"number": 17}),
    Member("CFG-001", CONFIG, "supportedCurrencies", {"object": {}, "null": None}),
    Member(
        "CFG-002",
        CONFIG,
        f"supportedCurrencies.{ALL}.providerRequiredCustomerFields",
        {"text": "fullName", "objects": [{"name": "fullName"}]},
        False,
    ),
    Member("CNV-003", INTERNAL, "customerId", _NUMBER, False),
    Member("CNV-004", ERROR, "", {"text": "refused", "list": []}, False),
    Member("CNV-005", ERROR, "code", {"number": 400, "empty": "", "null": None}),
    Member("CNV-006", ERROR, "reason", {"number": 400, "null": None}),
    Member("CNV-007", ERROR, "details", {"text": "customerType", "list": []}, False),
    Member(
        "CNV-008", ERROR, f"details.errors.{ALL}.field", {"path": ["customerType"], "null": None}
    ),
    Member(
        "CNV-009", ERROR, f"details.errors.{ALL}.message", {"list": ["Expected string."]}, False
    ),
    Member("CNV-011", CURRENCY, "decimals", {"text": "2", "fraction": 2.5, "negative": -2}, False),
    Member("CNV-012", CURRENCY, "code", {"number": 840, "empty": "", "null": None}),
    Member("CNV-013", CURRENCY, "decimals", {"null": None}),
    Member("CNV-014", CURRENCY, "name", {"object": {"en": "United States Dollar"}}, False),
    Member("CNV-015", CURRENCY, "symbol", {"number": 36}, False),
    Member("CNV-016", MONEY, "amount", {"text": "100", "fraction": 0.5, "null": None}),
    Member("CNV-017", MONEY, "currency", {"code-alone": "USD", "null": None}),
    Member("CNV-018", QUOTE, "createdAt", _FORMLESS_TIME),
    Member("CNV-019", QUOTE, "id", _FORMLESS_ID),
)


def edited(view: str, edit: Edit) -> Callable[[Patch], None]:
    """Return a patch after which ``view`` shows what ``edit`` makes of it."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *args, **more: edit(deepcopy(original(*args, **more)))

        patch.wrap(view, wrapper)

    return patch


def at(path: str, change: Callable[[Json, str], None]) -> Edit:
    """Return an edit that applies ``change`` to the holder of a path and the last name of it.

    A resource without the holder stays as it is.
    """
    *way, name = path.split(".")

    def edit(resource: Any) -> Any:
        holders = [resource]
        for step in way:
            holders = [found for holder in holders for found in _below(holder, step)]
        for holder in holders:
            change(holder, name)
        return resource

    return edit


def put(path: str, value: Any) -> Edit:
    """Return an edit that gives the member at a path another value; "" is the resource itself."""

    def change(holder: Json, name: str) -> None:
        if name in holder or value is not None:
            holder[name] = value

    return at(path, change) if path else lambda _resource: deepcopy(value)


def taken(path: str) -> Edit:
    """Return an edit that takes the member at a path away."""
    return at(path, _remove)


def _below(holder: Any, step: str) -> Iterable[Any]:
    if step == ALL:
        return holder if isinstance(holder, list) else ()
    return [holder[step]] if isinstance(holder, dict) and step in holder else ()


def _remove(holder: Json, name: str) -> None:
    holder.pop(name, None)


for member in MEMBERS:
    shown = member.path.replace(".", "-").replace(f"-{ALL}-", "-") or "body"
    if member.required:
        declare(
            member.requirement,
            f"{shown}-missing",
            f"{member.path} is not there",
            edited(member.view, taken(member.path)),
        )
    for form, value in member.wrong.items():
        declare(
            member.requirement,
            f"{shown}-{form}",
            f"{member.path or 'the answer'} is {json.dumps(value)[:40]}",
            edited(member.view, put(member.path, value)),
        )


# --- What a quote takes over from its request -----------------------------------------------


def shown_where(condition: Callable[[Quote], bool], edit: Edit) -> Callable[[Patch], None]:
    """Return a patch after which the quotes of a condition are shown as ``edit`` makes them."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[[Unit, Quote], Json]) -> Callable[[Unit, Quote], Json]:
            def view(unit: Unit, quote: Quote) -> Json:
                body = original(unit, quote)
                return edit(deepcopy(body)) if condition(quote) else body

            return view

        patch.wrap(QUOTE, wrapper)

    return patch


KINDS: dict[str, Callable[[Quote], bool]] = {
    "any": lambda _quote: True,
    "pending": lambda quote: quote.status == "PENDING",
    "real-time": lambda quote: quote.source_kind == "REALTIME",
    "same-currency": lambda quote: quote.sending_currency == quote.receiving_currency,
    "cross-currency": lambda quote: quote.sending_currency != quote.receiving_currency,
}

_CHALLENGE = {"id": "ScaChallenge:1", "expiresAt": "2030-01-01T00:00:00Z", "factor": "SMS_OTP"}

SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("QUO-021", "pending", "scaChallenge", _CHALLENGE),
    ("QUO-031", "any", "source.sourceType", ABSENT),
    ("QUO-031", "any", "source.sourceType", "INTERNAL"),
    ("QUO-032", "any", "source.accountId", ABSENT),
    ("QUO-033", "any", "destination.destinationType", ABSENT),
    ("QUO-034", "any", "destination.accountId", ABSENT),
    ("QUO-038", "real-time", "sendingCurrency.code", "EUR"),
    ("QUO-039", "any", "description", "INVOICE"),
    ("QUO-040", "real-time", "paymentInstructions", ABSENT),
    ("QUO-040", "real-time", "paymentInstructions", []),
    ("QUO-048", "same-currency", "exchangeRate", 0.995),
    ("QUO-049", "same-currency", "exchangeRate", 1.005),
    ("QUO-050", "same-currency", "feesIncluded", ABSENT),
    ("QUO-071", "same-currency", "status", "CREATED"),
    ("QUO-072", "cross-currency", "status", "CREATED"),
    ("QUO-073", "any", "status", "CREATED"),
    ("QUO-074", "real-time", "status", "PROCESSING"),
    ("QUO-076", "any", "transactionId", "Transaction:1"),
)
"""Quotes of a kind that show a member wrongly, or not at all."""

SWAPPED = (
    ("QUO-032", "source", "destination"),
    ("QUO-034", "destination", "source"),
    ("QUO-036", "sendingCurrency", "receivingCurrency"),
    ("QUO-037", "receivingCurrency", "sendingCurrency"),
)
"""Members that show what belongs into another."""


def copied(source: str, target: str) -> Edit:
    """Return an edit that gives one member the value of another."""
    return lambda resource: {**resource, target: resource[source]}


for requirement, kind, path, value in SHOWN:
    missing = value is ABSENT
    declare(
        requirement,
        f"{kind}-{path.replace('.', '-')}-{'missing' if missing else 'other'}",
        f"the {path} of {kind} quotes is {'not there' if missing else json.dumps(value)[:40]}",
        shown_where(KINDS[kind], taken(path) if missing else put(path, value)),
    )

for requirement, target, source in SWAPPED:
    declare(
        requirement,
        f"{target}-swapped",
        f"the {source} is shown as the {target}",
        edited(QUOTE, copied(source, target)),
    )


@mutant("QUO-035", "the rail is echoed")
def rail_echoed(patch: Patch) -> None:
    patch.replace("conformance.reference.parties:echo_destination", dict)


@mutant("QUO-041", "a quote from an account shows how the account is funded")
def instructions_for_accounts(patch: Patch) -> None:
    def instructions(quote: Quote) -> list[Json]:
        return accounts.instructions_for(quote.sending_currency, "1234567890")

    patch.replace("conformance.reference.quotes:visible_payment_instructions", instructions)


# --- Lifetime and creation ------------------------------------------------------------------

LIVES = (
    ("QUO-030", "expired-at-birth", "a quote expires when it is created", 0),
    ("QUO-030", "expired-before-birth", "a quote expired before it was created", -60),
    ("QUO-062", "lives-16-minutes", "a quote lives for 16 minutes", 16 * 60),
    ("QUO-062", "lives-a-day", "a quote lives for a day", 24 * 60 * 60),
)


def living(seconds: int) -> Callable[[Patch], None]:
    """Return a patch after which quotes live for ``seconds``."""

    def patch(patch: Patch) -> None:
        patch.replace(
            "conformance.reference.quotes:expiry_of", lambda unit: after(unit.now, seconds)
        )

    return patch


for requirement, name, statement, seconds in LIVES:
    declare(requirement, name, statement, living(seconds))


def answering(operation: str, status: int) -> Callable[[Patch], None]:
    """Return a patch after which an operation succeeds with another status."""

    def patch(patch: Patch) -> None:
        row = replace(routes.OPERATIONS[operation], status=status)
        patch.row("conformance.reference.routes:OPERATIONS", operation, row)

    return patch


declare(
    "QUO-070", "answers-200", "a created quote is answered with 200", answering("createQuote", 200)
)
declare(
    "QUO-070", "answers-202", "a created quote is answered with 202", answering("createQuote", 202)
)


def asked(place: str, change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which a handler works on a changed body."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[[Unit, Ask], Any]) -> Callable[[Unit, Ask], Any]:
            def handler(unit: Unit, ask: Ask) -> Any:
                if isinstance(ask.body, dict):
                    ask = replace(ask, body=change(dict(ask.body)))
                return original(unit, ask)

            return handler

        patch.wrap(place, wrapper)

    return patch


def _executing(body: Json) -> Json:
    return {"immediatelyExecute": True, **body}


def _executing_if_named(body: Json) -> Json:
    return {**body, "immediatelyExecute": "immediatelyExecute" in body}


CREATE_QUOTE = "conformance.reference.quotes:create"
CREATE_CUSTOMER = "conformance.reference.onboarding:create"
UPDATE_CUSTOMER = "conformance.reference.onboarding:update"

for requirement in ("QUO-071", "QUO-072", "QUO-077"):
    declare(
        requirement,
        "executed-at-once",
        "quotes are executed as they are created",
        asked(CREATE_QUOTE, _executing),
    )
declare(
    "QUO-073",
    "false-executes",
    "immediatelyExecute executes whatever its value",
    asked(CREATE_QUOTE, _executing_if_named),
)


def one_quote_for_one_body(patch: Patch) -> None:
    """Answer a repeated body with the first quote again."""
    first: dict[str, Json] = {}

    def wrapper(original: Callable[[Unit, Ask], Json]) -> Callable[[Unit, Ask], Json]:
        def handler(unit: Unit, ask: Ask) -> Json:
            key = json.dumps(ask.body, sort_keys=True)
            if key not in first:
                first[key] = original(unit, ask)
            return first[key]

        return handler

    patch.wrap(CREATE_QUOTE, wrapper)


for requirement in ("QUO-075", "QUO-076"):
    declare(
        requirement, "repeated", "the same body is the same quote again", one_quote_for_one_body
    )


# --- Amounts --------------------------------------------------------------------------------

Reprice = Callable[[fees.Price], fees.Price]


def priced(side: str, *, same_currency: bool, change: Reprice) -> Callable[[Patch], None]:
    """Return a patch after which quotes of one side and kind have other amounts."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[..., fees.Price]) -> Callable[..., fees.Price]:
            def price(locked: str, amount: int, corridor: fees.Corridor, terms: Any) -> fees.Price:
                result = original(locked, amount, corridor, terms)
                within = corridor.sending == corridor.receiving
                return change(result) if locked == side and within is same_currency else result

            return price

        patch.wrap("conformance.reference.fees:price", wrapper)

    return patch


def fees_on_top(price: fees.Price) -> fees.Price:
    """Fees are added to the sending amount."""
    return replace(price, sending=price.sending + price.fees)


def fees_left_out(price: fees.Price) -> fees.Price:
    """Fees are shown, but not contained in the sending amount."""
    return replace(price, sending=price.sending - price.fees)


def hidden_margin(price: fees.Price) -> fees.Price:
    """A hundredth of the receiving amount does not arrive."""
    return replace(price, receiving=price.receiving * 99 // 100)


def fees_not_shown(price: fees.Price) -> fees.Price:
    """Fees are taken, but not shown."""
    return replace(price, variable_fee=0)


PRICES: tuple[tuple[str, str, bool, Reprice], ...] = (
    ("QUO-044", "SENDING", True, fees_on_top),
    ("QUO-045", "RECEIVING", True, hidden_margin),
    ("QUO-046", "SENDING", False, fees_on_top),
    ("QUO-047", "RECEIVING", False, hidden_margin),
    ("QUO-051", "SENDING", True, hidden_margin),
    ("QUO-051", "SENDING", True, fees_not_shown),
    ("QUO-052", "RECEIVING", True, fees_left_out),
    ("QUO-052", "RECEIVING", True, fees_not_shown),
    ("QUO-053", "SENDING", False, hidden_margin),
    ("QUO-053", "SENDING", False, fees_not_shown),
    ("QUO-054", "RECEIVING", False, fees_left_out),
    ("QUO-054", "RECEIVING", False, fees_not_shown),
)
"""Prices of one locked side, within one currency or not, that are made up carelessly."""

for requirement, side, within, change in PRICES:
    declare(
        requirement,
        change.__name__,
        f"{change.__doc__}"[:-1].lower(),
        priced(side, same_currency=within, change=change),
    )


for requirement in ("QUO-051", "QUO-053"):

    @mutant(requirement, "the whole sending amount is passed on")
    def gross_converted(patch: Patch) -> None:
        patch.replace("conformance.reference.fees:net_of", lambda sending, _fees: sending)


for requirement in ("QUO-055", "QUO-056"):

    @mutant(requirement, "where the receiving side is locked, the fee is a fraction of the net")
    def fee_of_the_net(patch: Patch) -> None:
        def gross(net: int, terms: fees.Terms) -> int:
            fraction = terms.variable + terms.platform_variable
            return net + int(net * fraction) + terms.platform_fixed

        patch.replace("conformance.reference.fees:gross_of", gross)


QUOTED = (
    ("QUO-057", "totalSendingAmount"),
    ("QUO-058", "totalReceivingAmount"),
    ("QUO-059", "exchangeRate"),
    ("QUO-060", "feesIncluded"),
)


def requoted(name: str) -> Edit:
    """Return an edit that moves one of a quote's terms by one."""
    return lambda quote: {**quote, name: quote[name] + 1}


for requirement, name in QUOTED:
    declare(
        requirement,
        f"{name}-requoted",
        f"execution changes the {name}",
        edited("conformance.reference.quotes:execute", requoted(name)),
    )


@mutant("QUO-161", "the fee of a single transfer is ignored")
def override_ignored(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Any], Quote]) -> Callable[[Unit, Any], Quote]:
        return lambda unit, order: original(unit, replace(order, fee_override=None))

    patch.wrap("conformance.reference.quotes:draft", wrapper)


@mutant("LIM-008", "the platform's fee is taken in any currency")
def override_everywhere(patch: Patch) -> None:
    patch.replace("conformance.reference.quotes:refuse_foreign_override", lambda _order: None)


# --- Requests that must be taken ------------------------------------------------------------


@mutant("QUO-157", "a destination takes its default rail alone")
def rails_refused(patch: Patch) -> None:
    def refuse(_account: Any, rail: str | None) -> None:
        if rail is not None:
            raise errors.invalid_input(errors.field_error("destination.paymentRail", "Unknown."))

    patch.replace("conformance.reference.parties:refuse_rail", refuse)


@mutant("QUO-158", "a rail has to be named")
def rail_demanded(patch: Patch) -> None:
    def refuse(_account: Any, rail: str | None) -> None:
        if rail is None:
            raise errors.invalid_input(errors.field_error("destination.paymentRail", "Required."))

    patch.replace("conformance.reference.parties:refuse_rail", refuse)


@mutant("QUO-159", "a description may have ten characters")
def short_descriptions(patch: Patch) -> None:
    patch.replace(
        "conformance.reference.rules:QUOTE_FIELDS",
        tuple(
            replace(field, max_length=10) if field.path == "description" else field
            for field in rules.QUOTE_FIELDS
        ),
    )


# --- End-user terms -------------------------------------------------------------------------


def _without_consent(body: Json) -> Json:
    body.pop("endUserTermsConsent", None)
    return body


declare(
    "QUO-131",
    "update-not-recorded",
    "an acceptance by update is not recorded",
    asked(UPDATE_CUSTOMER, _without_consent),
)
declare(
    "QUO-132",
    "creation-not-recorded",
    "an acceptance at creation is not recorded",
    asked(CREATE_CUSTOMER, _without_consent),
)


@mutant("QUO-130", "nobody has to accept the terms")
def terms_not_needed(patch: Patch) -> None:
    patch.replace("conformance.reference.customers:refuse_without_terms", lambda _customer: None)


@mutant("QUO-130", "missing terms are reported as some conflict")
def terms_by_another_code(patch: Patch) -> None:
    def refuse(customer: Customer) -> None:
        if customer.consent is None:
            raise errors.Refusal("CONFLICT", "The customer is not ready.")

    patch.replace("conformance.reference.customers:refuse_without_terms", refuse)


# --- Customers and accounts -----------------------------------------------------------------


READS = (
    ("CUS-005", "CUS-006", "conformance.reference.onboarding:read", "customerId", "CUSTOMER"),
    ("EXT-006", "EXT-007", "conformance.reference.externals:read", "externalAccountId", "ACCOUNT"),
)


def invented(place: str, parameter: str) -> Callable[[Patch], None]:
    """Return a patch after which what does not exist is shown nevertheless."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[[Unit, Ask], Json]) -> Callable[[Unit, Ask], Json]:
            def read(unit: Unit, ask: Ask) -> Json:
                try:
                    return original(unit, ask)
                except errors.Refusal:
                    return {"id": ask.params[parameter]}

            return read

        patch.wrap(place, wrapper)

    return patch


def refusing(code: str, status: int) -> Callable[[Patch], None]:
    """Return a patch after which an error code comes with another status."""
    return lambda patch: patch.row("conformance.reference.rules:ERROR_STATUS", code, status)


for found, missed, place, parameter, kind in READS:
    declare(found, "another", "another one is answered", edited(place, put("id", f"{kind}:1")))
    declare(missed, "invented", "one that does not exist is answered", invented(place, parameter))
    declare(missed, "bad-request", "it is a bad request", refusing(f"{kind}_NOT_FOUND", 400))


declare(
    "CUS-008",
    "type-assumed",
    "a customer without a type is taken for an individual",
    asked(CREATE_CUSTOMER, lambda body: {"customerType": "INDIVIDUAL", **body}),
)

LIST = "conformance.reference.accounts:list_for_customers"


@mutant("ACC-010", "the accounts of all customers are listed")
def filter_ignored(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Ask], Json]) -> Callable[[Unit, Ask], Json]:
        return lambda unit, ask: original(unit, replace(ask, query={}))

    patch.wrap(LIST, wrapper)


declare(
    "ACC-010",
    "owner-lost",
    "an account does not say whose it is",
    edited(INTERNAL, put("customerId", "")),
)

PLATFORM_LIST = "conformance.reference.accounts:list_for_platform"

declare(
    "ACC-011", "bare-list", "the list stands bare", edited(PLATFORM_LIST, lambda body: body["data"])
)
declare(
    "ACC-011",
    "data-renamed",
    "the list stands under another name",
    edited(PLATFORM_LIST, lambda body: {"accounts": body["data"]}),
)


@mutant("ACC-012", "the total leaves out what can be spent")
def total_is_what_is_held(patch: Patch) -> None:
    patch.replace("conformance.reference.accounts:total", lambda _available, held: held)


DEPOSITS: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    ("fee-taken", "a deposit loses a fee", lambda amount: amount - 1),
    ("twice", "a deposit is booked twice", lambda amount: 2 * amount),
    ("whole-units", "a deposit is read in whole units", lambda amount: 100 * amount),
)


def deposited(change: Callable[[int], int]) -> Callable[[Patch], None]:
    """Return a patch after which another amount arrives than was deposited."""

    def patch(patch: Patch) -> None:
        def wrapper(original: Callable[[Unit, Any, int], None]) -> Callable[[Unit, Any, int], None]:
            return lambda unit, account, amount: original(unit, account, change(amount))

        patch.wrap("conformance.reference.accounts:credit", wrapper)

    return patch


for name, statement, deposit in DEPOSITS:
    declare("ACC-013", name, statement, deposited(deposit))


SETTLED = "conformance.reference.settlement:completion_legs"


@mutant("ACC-014", "a completed payment leaves its fees in the source")
def fees_left(patch: Patch) -> None:
    def wrapper(original: Callable[[Quote], list[Leg]]) -> Callable[[Quote], list[Leg]]:
        def legs(quote: Quote) -> list[Leg]:
            held, taken, *others = original(quote)
            return [replace(held, amount=held.amount + taken.amount), *others]

        return legs

    patch.wrap(SETTLED, wrapper)


@mutant("ACC-014", "a transfer delivers its fees as well")
def fees_delivered(patch: Patch) -> None:
    def wrapper(original: Callable[[Quote], list[Leg]]) -> Callable[[Quote], list[Leg]]:
        def legs(quote: Quote) -> list[Leg]:
            *others, converted, delivered = original(quote)
            return [
                *others,
                replace(converted, amount=converted.amount - quote.variable_fee),
                replace(delivered, amount=delivered.amount + quote.variable_fee),
            ]

        return legs

    patch.wrap(SETTLED, wrapper)


@mutant("EXT-005", "a US bank account has at most eight digits")
def short_numbers(patch: Patch) -> None:
    kind = ACCOUNT_TYPES["USD_ACCOUNT"]
    number, *others = kind.fields
    row = replace(kind, fields=(replace(number, pattern=r"\d{4,8}"), *others))
    patch.row("conformance.reference.account_types:ACCOUNT_TYPES", "USD_ACCOUNT", row)


@mutant("EXT-005", "a US bank account is answered in another currency")
def other_currency(patch: Patch) -> None:
    edited(EXTERNAL, put("currency", "EUR"))(patch)


@mutant("EXT-008", "an external account does not say whose it is")
def owner_lost(patch: Patch) -> None:
    edited(EXTERNAL, taken("customerId"))(patch)


# --- Conventions ----------------------------------------------------------------------------

declare(
    "CNV-001", "other-success", "an undocumented status means success", answering("getConfig", 207)
)
declare(
    "CNV-001",
    "other-creation",
    "an undocumented status means success",
    answering("createQuote", 206),
)
declare(
    "CNV-010", "not-a-bad-request", "invalid input is unprocessable", refusing("INVALID_INPUT", 422)
)
declare(
    "CNV-003",
    "list-by-number",
    "a list is an object with numbers for names",
    edited(LIST, lambda body: {"data": {str(i): row for i, row in enumerate(body["data"])}}),
)


@mutant("CNV-002", "answers are sent as plain text")
def plain_text(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def respond(*args: Any) -> Any:
            response = original(*args)
            response.headers["content-type"] = "text/plain"
            return response

        return respond

    patch.wrap("conformance.reference.app:respond", wrapper)


@mutant("CNV-020", "US dollars have four decimals")
def four_decimals(patch: Patch) -> None:
    row = replace(rules.CURRENCIES["USD"], decimals=4)
    patch.row("conformance.reference.rules:CURRENCIES", "USD", row)


@mutant("CNV-021", "a broken body breaks the service")
def broken_by_a_body(patch: Patch) -> None:
    patch.replace(
        "conformance.reference.app:malformed",
        lambda reason: errors.Refusal("INTERNAL_ERROR", reason),
    )


@mutant("CNV-021", "a broken body is unprocessable")
def unprocessable_body(patch: Patch) -> None:
    refusing("INVALID_REQUEST_FORMAT", 422)(patch)
