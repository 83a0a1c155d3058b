"""Mutants of the platform's settings, and of the end-user terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.mutants.fields import asked, edited, put, refusing, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import customers, errors, fees, money, quotes, rules
from conformance.reference.platform import config_of
from conformance.reference.store import Customer, PlatformConfig
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
CONFIG = f"{_REFERENCE}.platform:view"
UPDATE = f"{_REFERENCE}.platform:update"
PLATFORM_FEE = f"{_REFERENCE}.fees:platform_fee"
TERMS = f"{_REFERENCE}.onboarding:terms"
CREATE_CUSTOMER = f"{_REFERENCE}.onboarding:create"
UPDATE_CUSTOMER = f"{_REFERENCE}.onboarding:update"
CUSTOMER = f"{_REFERENCE}.customers:view"
HAS_ACCEPTED = f"{_REFERENCE}.customers:has_accepted_terms"

_UNKNOWN_VERSION = "END_USER_TERMS_VERSION_NOT_FOUND"
_NOT_ACCEPTED = "END_USER_TERMS_NOT_ACCEPTED"


# --- What currencies ask of customers -------------------------------------------------------


@mutant("CFG-003", "the supported currencies are a list of codes")
def bare_codes(patch: Patch) -> None:
    def edit(body: Json) -> Json:
        codes = [currency["code"] for currency in body["supportedCurrencies"]]
        return {**body, "supportedCurrencies": codes}

    edited(CONFIG, edit)(patch)


@mutant("CFG-005", "what a currency asks for is not looked at")
def nothing_asked(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.customers:refuse_incomplete", lambda *_: None)


@mutant("CFG-005", "one of the fields that a currency asks for is enough")
def one_is_enough(patch: Patch) -> None:
    def wrapper(original: Callable[..., list[str]]) -> Callable[..., list[str]]:
        def missing(customer: Customer, currency: str) -> list[str]:
            wanted = rules.PROVIDER_REQUIRED_FIELDS.get(currency, ())
            found = original(customer, currency)
            return found if len(found) == len(wanted) else []

        return missing

    patch.wrap(f"{_REFERENCE}.customers:missing_fields", wrapper)


def _without_person(body: Json) -> Json:
    asked_for = {name for names in rules.PROVIDER_REQUIRED_FIELDS.values() for name in names}
    return {name: value for name, value in body.items() if name not in asked_for}


declare(
    "CFG-006",
    "updates-ignored",
    "what a currency asks for has to come with the creation",
    asked(UPDATE_CUSTOMER, _without_person),
)
declare(
    "CFG-007",
    "creation-ignored",
    "what a currency asks for has to come by an update",
    asked(CREATE_CUSTOMER, _without_person),
)


# --- The standing fee -----------------------------------------------------------------------

FORMS: tuple[tuple[str, str, str], ...] = (
    ("CFG-010", "fixedFeeAmount", "needs a fixed amount"),
    ("CFG-011", "variableFeeBasisPoints", "needs a rate"),
)


def _demanding(path: str) -> Callable[[Patch], None]:
    rows = tuple(
        replace(row, required=True) if row.path == path else row for row in rules.FEE_CONFIG_FIELDS
    )
    return lambda patch: patch.replace(f"{_REFERENCE}.rules:FEE_CONFIG_FIELDS", rows)


for _requirement, _path, _statement in FORMS:
    declare(_requirement, f"{_path}-demanded", f"a fee {_statement}", _demanding(_path))


@mutant("CFG-012", "a fee has a rate or a fixed amount, but not both")
def one_form_alone(patch: Patch) -> None:
    def wrapper(original: Callable[[Json], list[Json]]) -> Callable[[Json], list[Json]]:
        def broken(config: Json) -> list[Json]:
            if "variableFeeBasisPoints" in config and "fixedFeeAmount" in config:
                return [errors.field_error("fixedFeeAmount", "Expected one of the two.")]
            return original(config)

        return broken

    patch.wrap(f"{_REFERENCE}.platform:broken_fee", wrapper)


SHOWN: tuple[tuple[str, str, Callable[[Patch], None]], ...] = (
    ("CFG-013", "none", edited(CONFIG, put("feeConfigs", []))),
    ("CFG-013", "rate-missing", edited(CONFIG, taken("feeConfigs.*.variableFeeBasisPoints"))),
    ("CFG-013", "other-rate", edited(CONFIG, put("feeConfigs.*.variableFeeBasisPoints", 15))),
    ("CFG-014", "none", edited(CONFIG, put("feeConfigs", []))),
    ("CFG-014", "amount-missing", edited(CONFIG, taken("feeConfigs.*.fixedFeeAmount"))),
    ("CFG-014", "other-amount", edited(CONFIG, put("feeConfigs.*.fixedFeeAmount", 25_000))),
    ("CFG-015", "none", edited(CONFIG, put("feeConfigs", []))),
    ("CFG-015", "rate-missing", edited(CONFIG, taken("feeConfigs.*.variableFeeBasisPoints"))),
    ("CFG-015", "amount-missing", edited(CONFIG, taken("feeConfigs.*.fixedFeeAmount"))),
)
"""Requirement, name and edit of a configuration that shows another fee than was set."""

for _requirement, _name, _patch in SHOWN:
    declare(_requirement, f"shown-{_name}", "another standing fee is shown", _patch)


def _rate(sending: int, terms: fees.Terms, factor: int = 1) -> int:
    return money.half_up(sending * terms.platform_variable * factor)


TAKEN: tuple[tuple[tuple[str, ...], str, str, Callable[[int, fees.Terms], int]], ...] = (
    (
        ("CFG-016", "CFG-019"),
        "per-mille",
        "basis points are read as tenths of a percent",
        lambda sending, terms: _rate(sending, terms, 10) + terms.platform_fixed,
    ),
    (
        ("CFG-016", "CFG-018", "CFG-019", "CFG-021"),
        "no-rate",
        "the rate is not taken",
        lambda _sending, terms: terms.platform_fixed,
    ),
    (
        ("CFG-017", "CFG-020"),
        "whole-units",
        "the fixed amount is read in whole units",
        lambda sending, terms: _rate(sending, terms) + 100 * terms.platform_fixed,
    ),
    (
        ("CFG-017", "CFG-018", "CFG-020", "CFG-021"),
        "no-amount",
        "the fixed amount is not taken",
        _rate,
    ),
    (
        ("CFG-018", "CFG-021"),
        "larger",
        "the larger of rate and fixed amount is taken",
        lambda sending, terms: max(_rate(sending, terms), terms.platform_fixed),
    ),
)
"""Requirements, name, statement and what a careless implementation takes."""


def _taking(fee: Callable[[int, fees.Terms], int]) -> Callable[[Patch], None]:
    return lambda patch: patch.replace(PLATFORM_FEE, fee)


for _requirements, _name, _statement, _fee in TAKEN:
    for _requirement in _requirements:
        declare(_requirement, _name, _statement, _taking(_fee))


def _no_standing_fee(side: str) -> Callable[[Patch], None]:
    """Return a patch after which quotes with one side locked bear no standing fee."""

    def wrapper(original: Callable[..., Json]) -> Callable[..., Json]:
        def price(locked: str, amount: int, corridor: fees.Corridor, terms: fees.Terms) -> Any:
            if locked == side:
                terms = fees.Terms(terms.variable)
            return original(locked, amount, corridor, terms)

        return price

    return lambda patch: patch.wrap(f"{_REFERENCE}.fees:price", wrapper)


for _requirement, _side in (
    ("CFG-016", "SENDING"),
    ("CFG-017", "SENDING"),
    ("CFG-018", "SENDING"),
    ("CFG-019", "RECEIVING"),
    ("CFG-020", "RECEIVING"),
    ("CFG-021", "RECEIVING"),
):
    declare(
        _requirement,
        "one-side",
        f"no fee is taken where the {_side.lower()} side is locked",
        _no_standing_fee(_side),
    )


declare(
    "CFG-022",
    "empty-ignored",
    "an empty list of fees counts as no change",
    asked(UPDATE, lambda body: body if body.get("feeConfigs") else {**body, "feeConfigs": None}),
)


@mutant("CFG-023", "the first standing fee stays")
def first_stays(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def update(unit: Unit, ask: Ask) -> Any:
            config = config_of(unit)
            before = list(config.fee_configs)
            answer = original(unit, ask)
            config.fee_configs = before + config.fee_configs if config.fee_configs else []
            return answer

        return update

    patch.wrap(UPDATE, wrapper)


@mutant("CFG-024", "an executed quote bears the fee of the day")
def fee_of_the_day(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def execute(unit: Unit, ask: Ask) -> Any:
            quote = quotes.get(unit, ask.params["quoteId"])
            if config_of(unit).fee_configs:
                quote.platform_fee += 1_000
            return original(unit, ask)

        return execute

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


Reprice = Callable[[fees.Price], fees.Price]

PRICED: tuple[tuple[str, str, str, str, Reprice], ...] = (
    (
        "CFG-025",
        "price_sending",
        "on-top",
        "the standing fee comes on top of a locked sending amount",
        lambda price: replace(price, sending=price.sending + price.platform_fee),
    ),
    (
        "CFG-027",
        "price_receiving",
        "off",
        "the standing fee comes off a locked receiving amount",
        lambda price: replace(price, receiving=price.receiving - price.platform_fee),
    ),
    (
        "CFG-028",
        "price_receiving",
        "unpaid",
        "nobody pays the standing fee where the receiving side is locked",
        lambda price: replace(price, sending=price.sending - price.platform_fee),
    ),
)
"""Requirement, pricing function, name, statement and how it prices carelessly."""


def _repriced(function: str, change: Reprice) -> Callable[[Patch], None]:
    def wrapper(original: Callable[..., fees.Price]) -> Callable[..., fees.Price]:
        return lambda *terms: change(original(*terms))

    return lambda patch: patch.wrap(f"{_REFERENCE}.fees:{function}", wrapper)


for _requirement, _function, _name, _statement, _change in PRICED:
    declare(_requirement, _name, _statement, _repriced(_function, _change))


@mutant("CFG-026", "the standing fee is shown, but nobody pays it")
def fee_unpaid(patch: Patch) -> None:
    def wrapper(original: Callable[..., fees.Price]) -> Callable[..., fees.Price]:
        def price(amount: int, corridor: fees.Corridor, terms: fees.Terms) -> fees.Price:
            free = original(amount, corridor, fees.Terms(terms.variable))
            return replace(free, platform_fee=fees.platform_fee(amount, terms))

        return price

    patch.wrap(f"{_REFERENCE}.fees:price_sending", wrapper)


@mutant("CFG-029", "the standing fee is debited once more")
def fee_debited_beside(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:debit_total", lambda quote: quote.sending_amount + quote.platform_fee
    )


@mutant("LIM-007", "a standing fee is taken in any currency")
def fee_in_any_currency(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.platform:broken_fee", lambda _config: [])


# --- Changes of one setting -----------------------------------------------------------------

declare(
    "CFG-030",
    "look-lost",
    "the look of card codes is kept without its members",
    asked(
        UPDATE,
        lambda body: (
            {**body, "cardTokenization2faConfig": {}}
            if "cardTokenization2faConfig" in body
            else body
        ),
    ),
)


@mutant("CFG-031", "a standing fee leaves no currencies but its own")
def currencies_narrowed(patch: Patch) -> None:
    def wrapper(original: Callable[[PlatformConfig], Json]) -> Callable[[PlatformConfig], Json]:
        def view(config: PlatformConfig) -> Json:
            body = original(config)
            if config.fee_configs:
                body["supportedCurrencies"] = body["supportedCurrencies"][:1]
            return body

        return view

    patch.wrap(CONFIG, wrapper)


declare(
    "CFG-032",
    "look-reset",
    "what a change does not name is reset",
    asked(UPDATE, lambda body: {"cardTokenization2faConfig": None, **body}),
)
declare(
    "CFG-033",
    "fee-reset",
    "what a change does not name is reset",
    asked(UPDATE, lambda body: {"feeConfigs": [], **body}),
)


# --- Refusals of changes --------------------------------------------------------------------


@mutant("CFG-040", "a body that cannot be read counts as empty")
def unread_is_empty(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        async def read_json(*arguments: Any) -> Any:
            try:
                return await original(*arguments)
            except errors.Refusal:
                return {}

        return read_json

    patch.wrap(f"{_REFERENCE}.app:read_json", wrapper)


@mutant("CFG-041", "a body that is no object counts as empty")
def list_is_empty(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def update(unit: Unit, ask: Ask) -> Any:
            body = ask.body if isinstance(ask.body, dict) else {}
            return original(unit, replace(ask, body=body))

        return update

    patch.wrap(UPDATE, wrapper)


def _cleaned(body: Json) -> Json:
    """Return a change less what is no fee in it."""
    given = body.get("feeConfigs")
    return {**body, "feeConfigs": given if isinstance(given, list) else None}


def _counted(body: Json) -> Json:
    """Return a change in which words count as 0."""
    given = body.get("feeConfigs") or []
    fees_given = [
        {k: 0 if v == "plenty" and k != "sourceCurrency" else v for k, v in entry.items()}
        for entry in given
    ]
    return {**body, "feeConfigs": fees_given}


declare("CFG-042", "text-ignored", "a text is no change of the fee", asked(UPDATE, _cleaned))
for _requirement in ("CFG-043", "CFG-044"):
    declare(_requirement, "word-is-zero", "a word counts as 0", asked(UPDATE, _counted))


def _after_refusal(spoil: Callable[[Json, Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which a refused change shows: ``spoil`` gets the view and the body."""

    def patch(patch: Patch) -> None:
        refused: list[Json] = []

        def noting(original: Handler) -> Handler:
            def update(unit: Unit, ask: Ask) -> Any:
                try:
                    answer = original(unit, ask)
                except errors.Refusal:
                    refused.append(ask.body)
                    raise
                refused.clear()
                return answer

            return update

        def spoiling(original: Callable[[PlatformConfig], Json]) -> Callable[..., Json]:
            def view(config: PlatformConfig) -> Json:
                body = original(config)
                return spoil(body, refused[-1]) if refused else body

            return view

        patch.wrap(UPDATE, noting)
        patch.wrap(CONFIG, spoiling)

    return patch


declare(
    "CFG-045",
    "fee-lost",
    "a broken fee takes the one before away",
    _after_refusal(lambda body, _request: {**body, "feeConfigs": []}),
)
declare(
    "CFG-046",
    "half-taken",
    "what is sound in a refused change is taken",
    _after_refusal(lambda body, request: {**body, **request, "feeConfigs": body["feeConfigs"]}),
)


# --- The terms and their acceptance ---------------------------------------------------------

for _requirement, _name, _patch in (
    ("TRM-001", "no-version", edited(TERMS, taken("version"))),
    ("TRM-001", "empty-version", edited(TERMS, put("version", " "))),
    ("TRM-002", "no-url", edited(TERMS, taken("url"))),
    ("TRM-002", "path-alone", edited(TERMS, put("url", "/terms/2025-10-01"))),
    ("TRM-006", "flag", edited(CUSTOMER, put("endUserTermsConsent", True))),
    ("TRM-006", "moment-alone", edited(CUSTOMER, put("endUserTermsConsent", "2026-01-15"))),
):
    declare(_requirement, _name, "another form than is stated", _patch)


def _refusing_where(condition: Callable[[Json], bool]) -> Callable[[Json], Json]:
    def change(body: Json) -> Json:
        if condition(body):
            raise errors.invalid_input(errors.field_error("endUserTermsConsent", "Not expected."))
        return body

    return change


def _names_consent(body: Json) -> bool:
    return "endUserTermsConsent" in body


for _requirement, _place, _condition, _statement in (
    ("TRM-003", CREATE_CUSTOMER, _names_consent, "a creation takes no acceptance"),
    ("TRM-004", UPDATE_CUSTOMER, _names_consent, "an update takes no acceptance"),
    (
        "TRM-005",
        CREATE_CUSTOMER,
        lambda body: "endUserTermsConsent" not in body,
        "the acceptance is needed at creation",
    ),
):
    declare(_requirement, "refused", _statement, asked(_place, _refusing_where(_condition)))

PARTS: tuple[tuple[str, str, str, str], ...] = (
    ("TRM-010", "TRM-014", "acceptedAt", "2020-01-01T00:00:00Z"),
    ("TRM-011", "TRM-015", "ipAddress", "127.0.0.1"),
    ("TRM-012", "TRM-016", "termsVersion", "1"),
    ("TRM-013", "TRM-017", "acceptanceMethod", "API"),
)
"""Requirements at creation and update, member and another value of it."""

for _at_creation, _by_update, _member, _value in PARTS:
    for _requirement in (_at_creation, _by_update):
        declare(
            _requirement,
            f"other-{_member}",
            f"the {_member} is not kept as it was sent",
            edited(CUSTOMER, put(f"endUserTermsConsent.{_member}", _value)),
        )


def _taking_texts(body: Json) -> Json:
    """Return a body less an acceptance that is a text."""
    given = body.get("endUserTermsConsent")
    return body if isinstance(given, dict) else _less(body, "endUserTermsConsent")


def _taking_any_moment(body: Json) -> Json:
    """Return a body whose acceptance has a moment that can be read."""
    given = body.get("endUserTermsConsent")
    if not isinstance(given, dict) or "day" not in str(given.get("acceptedAt")):
        return body
    return {**body, "endUserTermsConsent": {**given, "acceptedAt": "2026-01-15T09:00:00Z"}}


def _less(body: Json, name: str) -> Json:
    return {key: value for key, value in body.items() if key != name}


for _requirement, _place, _reading, _statement in (
    ("TRM-020", CREATE_CUSTOMER, _taking_texts, "an acceptance that is a text is left out"),
    ("TRM-021", UPDATE_CUSTOMER, _taking_texts, "an acceptance that is a text is left out"),
    ("TRM-022", CREATE_CUSTOMER, _taking_any_moment, "any text is a moment"),
    ("TRM-023", UPDATE_CUSTOMER, _taking_any_moment, "any text is a moment"),
):
    declare(_requirement, "unread", _statement, asked(_place, _reading))


def _updating(change: Callable[[Customer, Json | None, Json], None]) -> Callable[[Patch], None]:
    """Return a patch after which an update changes more: it gets the acceptance before, too."""

    def wrapper(original: Handler) -> Handler:
        def update(unit: Unit, ask: Ask) -> Any:
            customer = customers.get(unit, ask.params["customerId"])
            before = customer.consent
            original(unit, ask)
            change(customer, before, ask.body)
            return customers.view(customer)

        return update

    return lambda patch: patch.wrap(UPDATE_CUSTOMER, wrapper)


def _keep_first(customer: Customer, before: Json | None, _body: Json) -> None:
    customer.consent = before or customer.consent


def _forget(customer: Customer, _before: Json | None, body: Json) -> None:
    customer.consent = customer.consent if _names_consent(body) else None


declare("TRM-018", "first-stays", "the first acceptance stays", _updating(_keep_first))
declare("TRM-019", "forgotten", "a change without acceptance forgets it", _updating(_forget))


@mutant("TRM-034", "an update that is refused for its version withdraws the acceptance")
def refusal_withdraws(patch: Patch) -> None:
    withdrawn: set[str] = set()

    def noting(original: Handler) -> Handler:
        def update(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code == _UNKNOWN_VERSION:
                    withdrawn.add(ask.params["customerId"])
                raise

        return update

    def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
        return lambda customer: customer.id not in withdrawn and original(customer)

    patch.wrap(UPDATE_CUSTOMER, noting)
    patch.wrap(HAS_ACCEPTED, wrapper)


def any_version(patch: Patch) -> None:
    """Take whatever version is accepted."""
    patch.replace(
        f"{_REFERENCE}.onboarding:accepted_terms",
        lambda _unit, body: body.get("endUserTermsConsent"),
    )


for _requirement in ("TRM-030", "TRM-031", "TRM-032", "TRM-033"):
    declare(_requirement, "any-version", "any version can be accepted", any_version)
for _requirement in ("TRM-030", "TRM-031"):
    declare(_requirement, "not-found", "it is answered by 404", refusing(_UNKNOWN_VERSION, 404))


@mutant("TRM-030", "an unknown version is some invalid input")
def version_by_another_code(patch: Patch) -> None:
    patch.wrap(f"{_REFERENCE}.onboarding:accepted_terms", _by_another_code)


@mutant("TRM-031", "an unknown version is some invalid input")
def version_by_another_code_later(patch: Patch) -> None:
    patch.wrap(f"{_REFERENCE}.onboarding:accepted_terms", _by_another_code)


def _by_another_code(original: Callable[..., Any]) -> Callable[..., Any]:
    def accepted_terms(unit: Unit, body: Json) -> Any:
        try:
            return original(unit, body)
        except errors.Refusal:
            error = errors.field_error("endUserTermsConsent.termsVersion", "Unknown.")
            raise errors.invalid_input(error) from None

    return accepted_terms


# --- No quotes before the acceptance --------------------------------------------------------


def _unchecked(condition: Callable[[quotes.Order], bool]) -> Callable[[Patch], None]:
    """Return a patch after which orders of a kind are quoted without any acceptance."""

    def patch(patch: Patch) -> None:
        drafted: list[bool] = []

        def drafting(original: Callable[..., Any]) -> Callable[..., Any]:
            def draft(unit: Unit, order: quotes.Order) -> Any:
                drafted.append(condition(order))
                try:
                    return original(unit, order)
                finally:
                    drafted.pop()

            return draft

        def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
            return lambda customer: (bool(drafted) and drafted[-1]) or original(customer)

        patch.wrap(f"{_REFERENCE}.quotes:draft", drafting)
        patch.wrap(HAS_ACCEPTED, wrapper)

    return patch


def _immediate(patch: Patch) -> None:
    """Ask for the acceptance only where the quote is not executed at once."""
    asked_for: list[bool] = []

    def creating(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            body = ask.body
            asked_for.append(isinstance(body, dict) and body.get("immediatelyExecute") is True)
            try:
                return original(unit, ask)
            finally:
                asked_for.pop()

        return create

    def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
        return lambda customer: (bool(asked_for) and asked_for[-1]) or original(customer)

    patch.wrap(f"{_REFERENCE}.quotes:create", creating)
    patch.wrap(HAS_ACCEPTED, wrapper)


for _requirement in ("TRM-040", "TRM-041"):
    declare(_requirement, "immediate", "an immediate execution needs no acceptance", _immediate)
declare(
    "TRM-042",
    "real-time",
    "a just-in-time funded quote needs no acceptance",
    _unchecked(lambda order: order.source.kind == "REALTIME"),
)
declare(
    "TRM-043",
    "cross-currency",
    "a cross-currency quote needs no acceptance",
    _unchecked(lambda order: order.source.currency != order.destination.currency),
)


@mutant("TRM-044", "a business needs no acceptance")
def businesses_exempt(patch: Patch) -> None:
    def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
        return lambda customer: customer.customer_type == "BUSINESS" or original(customer)

    patch.wrap(HAS_ACCEPTED, wrapper)


@mutant("TRM-045", "a refused quote leaves its transaction")
def transaction_left(patch: Patch) -> None:
    unchecked: list[bool] = []

    def answering(original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(self: Any, handler: Handler, ask: Ask) -> Any:
            try:
                return original(self, handler, ask)
            except errors.Refusal as refusal:
                if refusal.code == _NOT_ACCEPTED:
                    unchecked.append(True)
                    original(self, handler, ask)
                    unchecked.clear()
                raise

        return answer

    def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
        return lambda customer: bool(unchecked) or original(customer)

    patch.wrap(f"{_REFERENCE}.service:Service.answer", answering)
    patch.wrap(HAS_ACCEPTED, wrapper)


@mutant("TRM-046", "the acceptance of one customer counts for all")
def acceptance_of_anyone(patch: Patch) -> None:
    given: list[Json] = []

    def noting(original: Callable[..., Any]) -> Callable[..., Any]:
        def accepted_terms(unit: Unit, body: Json) -> Any:
            consent = original(unit, body)
            given.extend([consent] if consent else [])
            return consent

        return accepted_terms

    patch.wrap(f"{_REFERENCE}.onboarding:accepted_terms", noting)
    patch.replace(HAS_ACCEPTED, lambda _customer: bool(given))
