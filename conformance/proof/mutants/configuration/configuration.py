"""Mutants of the platform's settings: currencies, the standing fee, and changes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, before, edited, instead, receives
from conformance.proof.kit.edits import ALL, put, turned, without
from conformance.proof.kit.members import Member, declare_members
from conformance.proof.kit.tables import with_field
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, fields, money, platform, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.platform import config_of
from conformance.reference.quotes import fees, quotes
from conformance.reference.store import Customer, PlatformConfig, Quote
from conformance.reference.unit import Ask, Unit

# --- What currencies ask of customers -------------------------------------------------------


@mutant("CFG-003", "the supported currencies are a list of codes", (platform, "view"), edited)
def bare_codes(body: Json) -> Json:
    codes = [currency["code"] for currency in body["supportedCurrencies"]]
    return {**body, "supportedCurrencies": codes}


@mutant("CFG-005", "what a currency asks for is not looked at")
def nothing_asked(patch: Patch) -> None:
    patch.replace(customers, "refuse_incomplete", lambda *_: None)


@mutant(
    "CFG-051", "one of the fields that a currency asks for is enough", (customers, "missing_fields")
)
def one_is_enough(
    original: Callable[..., list[str]], customer: Customer, currency: str
) -> list[str]:
    wanted = rules.PROVIDER_REQUIRED_FIELDS.get(currency, ())
    found = original(customer, currency)
    return found if len(found) == len(wanted) else []


@mutant("CFG-005", "what an added currency asks for is not looked at")
def unasked_when_added(patch: Patch) -> None:
    added: set[tuple[str, str]] = set()

    def updating(original: Handler, unit: Unit, ask: Ask) -> Json:
        before = customers.get(unit, ask.params["customerId"]).currencies
        body: Json = original(unit, ask)
        added.update((body["id"], code) for code in body["currencies"] if code not in before)
        return body

    def missing(original: Callable[..., list[str]], customer: Customer, currency: str) -> list[str]:
        return [] if (customer.id, currency) in added else original(customer, currency)

    patch.wrap(onboarding, "update", updating)
    patch.wrap(customers, "missing_fields", missing)


def _asked_by_one_end(end: int) -> Apply:
    """Return the patch that looks at what the first or the last of the two currencies asks for."""

    def refuse(original: Callable[..., None], customer: Customer, *currencies: str) -> None:
        original(customer, currencies[end])

    return around(customers, "refuse_incomplete", refuse)


declare(
    "CFG-051",
    "sent-alone",
    "what the currency that is received asks for is not looked at",
    _asked_by_one_end(0),
)
declare(
    "CFG-052",
    "received-alone",
    "what the currency that is sent asks for is not looked at",
    _asked_by_one_end(-1),
)


@mutant("CFG-050", "what a currency asks for is not looked at where a quote is funded just in time")
def unasked_just_in_time(patch: Patch) -> None:
    waived: list[bool] = []

    def draft(original: Callable[..., Quote], unit: Unit, order: quotes.Order) -> Quote:
        waived[:] = [order.source.kind == "REALTIME"]
        return original(unit, order)

    def refuse(original: Callable[..., None], customer: Customer, *currencies: str) -> None:
        if not any(waived):
            original(customer, *currencies)

    patch.wrap(quotes, "draft", draft)
    patch.wrap(customers, "refuse_incomplete", refuse)


declare(
    "CFG-005",
    "as-reviewed",
    "a currency asks for nothing but what the review asks for",
    edited(
        customers,
        "missing_fields",
        lambda names: [name for name in names if name in rules.INDIVIDUAL_NEEDS],
    ),
)


def _without_person(body: Json) -> Json:
    asked_for = {name for names in rules.PROVIDER_REQUIRED_FIELDS.values() for name in names}
    return {name: value for name, value in body.items() if name not in asked_for}


declare(
    "CFG-006",
    "updates-ignored",
    "what a currency asks for has to come with the creation",
    receives(onboarding, "update", _without_person),
)
declare(
    "CFG-007",
    "creation-ignored",
    "what a currency asks for has to come by an update",
    receives(onboarding, "create", _without_person),
)


# --- The standing fee -----------------------------------------------------------------------


FORMS: tuple[tuple[str, str, str], ...] = (
    ("CFG-010", "fixedFeeAmount", "needs a fixed amount"),
    ("CFG-011", "variableFeeBasisPoints", "needs a rate"),
)

for _requirement, _path, _statement in FORMS:
    declare(
        _requirement,
        f"{_path}-demanded",
        f"a fee {_statement}",
        with_field(rules, "FEE_CONFIG_FIELDS", _path, required=True),
    )


@mutant("CFG-012", "a fee has a rate or a fixed amount, but not both", (platform, "broken_fee"))
def one_form_alone(original: Callable[[Json], list[Json]], config: Json) -> list[Json]:
    if "variableFeeBasisPoints" in config and "fixedFeeAmount" in config:
        return [errors.field_error("fixedFeeAmount", "Expected one of the two.")]
    return original(config)


SHOWN: tuple[tuple[str, str, Apply], ...] = (
    ("CFG-013", "none", edited(platform, "view", put("feeConfigs", []))),
    (
        "CFG-013",
        "rate-missing",
        edited(platform, "view", without("feeConfigs.*.variableFeeBasisPoints")),
    ),
    (
        "CFG-013",
        "other-rate",
        edited(platform, "view", put("feeConfigs.*.variableFeeBasisPoints", 15)),
    ),
    ("CFG-014", "none", edited(platform, "view", put("feeConfigs", []))),
    ("CFG-014", "amount-missing", edited(platform, "view", without("feeConfigs.*.fixedFeeAmount"))),
    (
        "CFG-014",
        "other-amount",
        edited(platform, "view", put("feeConfigs.*.fixedFeeAmount", 25_000)),
    ),
    ("CFG-015", "none", edited(platform, "view", put("feeConfigs", []))),
    (
        "CFG-015",
        "rate-missing",
        edited(platform, "view", without("feeConfigs.*.variableFeeBasisPoints")),
    ),
    ("CFG-015", "amount-missing", edited(platform, "view", without("feeConfigs.*.fixedFeeAmount"))),
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

for _requirements, _name, _statement, _fee in TAKEN:
    for _requirement in _requirements:
        declare(_requirement, _name, _statement, instead(fees, "platform_fee", _fee))


def _no_standing_fee(side: str) -> Apply:
    """Return a patch after which quotes with one side locked bear no standing fee."""

    def price(
        original: Callable[..., Json],
        locked: str,
        amount: int,
        corridor: fees.Corridor,
        terms: fees.Terms,
    ) -> Any:
        if locked == side:
            terms = fees.Terms(terms.variable)
        return original(locked, amount, corridor, terms)

    return around(fees, "price", price)


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


def _leaving_out(dropped: str, kept: str) -> Callable[[Json], Json]:
    def change(body: Json) -> Json:
        if kept not in body:
            return body
        return {name: value for name, value in body.items() if name != dropped}

    return change


def _free_where(is_meant: Callable[[Unit, quotes.Order], bool]) -> Apply:
    """Return a patch after which some quotes bear no fee of the platform."""

    def terms(
        original: Callable[[Unit, quotes.Order], fees.Terms], unit: Unit, order: quotes.Order
    ) -> fees.Terms:
        usual = original(unit, order)
        return fees.Terms(usual.variable) if is_meant(unit, order) else usual

    return around(quotes, "terms_for", terms)


def _of_a_business(unit: Unit, order: quotes.Order) -> bool:
    payer = unit.session.get(Customer, str(order.source.customer_id))
    return payer is not None and payer.customer_type == "BUSINESS"


declare("CFG-018", "no-business", "a business pays no standing fee", _free_where(_of_a_business))
declare(
    "CFG-018",
    "no-realtime",
    "what is funded in time bears no standing fee",
    _free_where(lambda _unit, order: order.source.kind == "REALTIME"),
)
declare(
    "CFG-018",
    "no-coins",
    "what is paid out in a crypto currency bears no standing fee",
    _free_where(lambda _unit, order: order.destination.currency in ("USDC", "USDT", "BTC")),
)
declare(
    "CFG-018",
    "no-addresses",
    "what is paid to a UMA address bears no standing fee",
    _free_where(lambda _unit, order: order.destination.kind == "UMA"),
)
declare(
    "CFG-018",
    "no-conversion",
    "what comes to an account of the sender's own bears no standing fee",
    _free_where(lambda _unit, order: order.destination.kind == "INTERNAL"),
)
declare(
    "CFG-018",
    "no-pulled",
    "what is pulled from an external account bears no standing fee",
    _free_where(lambda _unit, order: order.source.external is not None),
)


@mutant("CFG-018", "what is executed at once bears no standing fee")
def free_at_once(patch: Patch) -> None:
    at_once: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        at_once[:] = [bool(isinstance(ask.body, dict) and ask.body.get("immediatelyExecute"))]
        return original(unit, ask)

    patch.wrap(quotes, "create", create)
    _free_where(lambda _unit, _order: at_once == [True])(patch)


for _requirement, _kept, _dropped in (
    ("CFG-015", "cardTokenization2faConfig", "feeConfigs"),
    ("CFG-030", "feeConfigs", "cardTokenization2faConfig"),
):
    declare(
        _requirement,
        f"{_kept}-alone",
        f"where {_kept} is changed, {_dropped} is not looked at",
        receives(platform, "update", _leaving_out(_dropped, _kept)),
    )


@mutant("CFG-045", "a fee of another currency is kept before it is refused", (platform, "update"))
def foreign_kept(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        fee = ask.body.get("feeConfigs") if isinstance(ask.body, dict) else None
        if not isinstance(fee, list) or fee[0].get("sourceCurrency") in (None, "USD"):
            raise
        config_of(unit).fee_configs = fee
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal


@mutant("CFG-022", "the configuration shows a fee that was removed", (platform, "view"))
def removed_and_shown(original: Callable[[PlatformConfig], Json], config: PlatformConfig) -> Json:
    body = original(config)
    fee = {"sourceCurrency": "USD", "variableFeeBasisPoints": 150, "fixedFeeAmount": 250}
    return body if body["feeConfigs"] else {**body, "feeConfigs": [fee]}


declare(
    "CFG-022",
    "empty-ignored",
    "an empty list of fees counts as no change",
    receives(
        platform,
        "update",
        lambda body: body if body.get("feeConfigs") else {**body, "feeConfigs": None},
    ),
)


@mutant("CFG-023", "the first standing fee stays", (platform, "update"))
def first_stays(original: Handler, unit: Unit, ask: Ask) -> Any:
    config = config_of(unit)
    before = list(config.fee_configs)
    answer = original(unit, ask)
    config.fee_configs = before + config.fee_configs if config.fee_configs else []
    return answer


@mutant("CFG-023", "a rate stays until there is another rate", (platform, "update"))
def rate_stays(original: Handler, unit: Unit, ask: Ask) -> Any:
    config = config_of(unit)
    rates = [fee.get("variableFeeBasisPoints") for fee in config.fee_configs]
    answer = original(unit, ask)
    if rates and rates[0] is not None:
        config.fee_configs = [{"variableFeeBasisPoints": rates[0], **f} for f in config.fee_configs]
    return answer


@mutant("CFG-024", "an executed quote bears the fee of the day", (quotes, "execute"), before)
def fee_of_the_day(unit: Unit, ask: Ask) -> None:
    quote = quotes.get(unit, ask.params["quoteId"])
    if config_of(unit).fee_configs:
        quote.platform_fee += 1_000


@mutant(
    "CFG-035",
    "the standing fee is taken within one currency too",
    (quotes, "standing_fee"),
    instead,
)
def fee_at_home(unit: Unit, sending: str, _receiving: str) -> Json:
    configs = config_of(unit).fee_configs
    return next((config for config in configs if config["sourceCurrency"] == sending), {})


@mutant(
    "CFG-036",
    "the standing fee is taken from every currency that is converted",
    (quotes, "standing_fee"),
    instead,
)
def fee_from_any_currency(unit: Unit, sending: str, receiving: str) -> Json:
    configs = config_of(unit).fee_configs
    return {} if sending == receiving else next(iter(configs), {})


def _fee_where(condition: Callable[[quotes.Order], bool]) -> Apply:
    """Return a patch by which some orders bear the standing fee though they should not."""

    def terms(original: Function, unit: Unit, order: quotes.Order) -> fees.Terms:
        if condition(order) and order.fee_override is None:
            order = replace(order, fee_override=next(iter(config_of(unit).fee_configs), {}))
        result: fees.Terms = original(unit, order)
        return result

    def apply(patch: Patch) -> None:
        patch.wrap(quotes, "terms_for", terms)
        patch.replace(quotes, "refuse_foreign_override", lambda _order: None)

    return apply


def _is_realtime(order: quotes.Order) -> bool:
    return order.source.kind == "REALTIME"


declare(
    "CFG-035",
    "real-time",
    "the standing fee is taken from all that is funded just in time",
    _fee_where(_is_realtime),
)

for _name, _condition in (
    ("real-time", lambda order: _is_realtime(order) and order.source.currency == "USDC"),
    ("bitcoin", lambda order: _is_realtime(order) and order.source.currency == "BTC"),
    ("bitcoin-account", lambda order: order.source.currency == "BTC" and not _is_realtime(order)),
):
    declare(
        "CFG-036",
        _name,
        f"the standing fee is taken from {_name} quotes in another currency",
        _fee_where(_condition),
    )


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


def _repriced(function: str, change: Reprice) -> Apply:
    return around(fees, function, lambda original, *terms: change(original(*terms)))


for _requirement, _function, _name, _statement, _change in PRICED:
    declare(_requirement, _name, _statement, _repriced(_function, _change))


@mutant("CFG-026", "the standing fee is shown, but nobody pays it", (fees, "price_sending"))
def fee_unpaid(
    original: Callable[..., fees.Price], amount: int, corridor: fees.Corridor, terms: fees.Terms
) -> fees.Price:
    free = original(amount, corridor, fees.Terms(terms.variable))
    return replace(free, platform_fee=fees.platform_fee(amount, terms))


@mutant("CFG-029", "the standing fee is debited once more")
def fee_debited_beside(patch: Patch) -> None:
    patch.replace(quotes, "debit_total", lambda quote: quote.sending_amount + quote.platform_fee)


@mutant("CFG-029", "the fixed amount of a standing fee that was set later is debited besides")
def later_fee_debited(patch: Patch) -> None:
    fees_of: dict[str, list[Json]] = {}
    later: list[int] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        fees_of[body["id"]] = list(config_of(unit).fee_configs)
        return body

    def execute(unit: Unit, ask: Ask) -> None:
        now = list(config_of(unit).fee_configs)
        changed = now != fees_of.get(ask.params["quoteId"], now)
        later[:] = [fee.get("fixedFeeAmount") or 0 for fee in now] if changed else []

    def debit(original: Callable[[Quote], int], quote: Quote) -> int:
        return original(quote) + sum(later)

    patch.wrap(quotes, "create", create)
    before(quotes, "execute", execute)(patch)
    patch.wrap(quotes, "debit_total", debit)


# --- Changes of one setting -----------------------------------------------------------------


declare(
    "CFG-030",
    "look-lost",
    "the look of card codes is kept without its members",
    receives(
        platform,
        "update",
        lambda body: (
            {**body, "cardTokenization2faConfig": {}}
            if "cardTokenization2faConfig" in body
            else body
        ),
    ),
)


@mutant("CFG-049", "the first standing fee takes the place of all settings for good")
def currencies_lost(patch: Patch) -> None:
    lost: list[Any] = []

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        lost.extend(fields.at(ask.body, "feeConfigs") or ())
        return original(unit, ask)

    def view(original: Callable[[PlatformConfig], Json], config: PlatformConfig) -> Json:
        body = original(config)
        return {**body, "supportedCurrencies": []} if lost else body

    patch.wrap(platform, "update", update)
    patch.wrap(platform, "view", view)


@mutant("CFG-031", "a standing fee leaves no currencies but its own", (platform, "view"))
def currencies_narrowed(original: Callable[[PlatformConfig], Json], config: PlatformConfig) -> Json:
    body = original(config)
    if config.fee_configs:
        body["supportedCurrencies"] = body["supportedCurrencies"][:1]
    return body


declare(
    "CFG-032",
    "look-reset",
    "what a change does not name is reset",
    receives(platform, "update", lambda body: {"cardTokenization2faConfig": None, **body}),
)
declare(
    "CFG-033",
    "fee-reset",
    "what a change does not name is reset",
    receives(platform, "update", lambda body: {"feeConfigs": [], **body}),
)


# --- Refusals of changes --------------------------------------------------------------------


@mutant("CFG-040", "a body that cannot be read counts as empty", (app, "read_json"))
async def unread_is_empty(original: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return await original(*arguments)
    except errors.Refusal:
        return {}


@mutant("CFG-041", "a body that is no object counts as empty", (platform, "update"))
def list_is_empty(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = ask.body if isinstance(ask.body, dict) else {}
    return original(unit, replace(ask, body=body))


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


declare(
    "CFG-042",
    "text-ignored",
    "a text is no change of the fee",
    receives(platform, "update", _cleaned),
)

for _requirement in ("CFG-043", "CFG-044"):
    declare(
        _requirement, "word-is-zero", "a word counts as 0", receives(platform, "update", _counted)
    )


declare(
    "CFG-047",
    "first",
    "the first fault of a fee is told alone",
    edited(platform, "fee_config_errors", lambda found: found[:1]),
)


declare(
    "CFG-053",
    "currency-expected",
    "a fee that names no currency breaks the service",
    with_field(rules, "FEE_CONFIG_FIELDS", "sourceCurrency", required=False),
)


declare(
    "CFG-048",
    "last",
    "of two fees with a fault that of the last is told alone",
    edited(platform, "fee_config_errors", lambda found: found[-1:]),
)


def _after_refusal(spoil: Callable[[Json, Json], Json]) -> Apply:
    """Return a patch after which a refused change shows: ``spoil`` gets the view and the body."""

    def patch(patch: Patch) -> None:
        refused: list[Json] = []

        def update(original: Handler, unit: Unit, ask: Ask) -> Any:
            try:
                answer = original(unit, ask)
            except errors.Refusal:
                refused.append(ask.body)
                raise
            refused.clear()
            return answer

        def view(original: Callable[[PlatformConfig], Json], config: PlatformConfig) -> Json:
            body = original(config)
            return spoil(body, refused[-1]) if refused else body

        patch.wrap(platform, "update", update)
        patch.wrap(platform, "view", view)

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


@mutant("CFG-049", "one supported currency is not listed", (platform, "view"), edited)
def without_euro(body: Json) -> Json:
    kept = [one for one in body["supportedCurrencies"] if one["currencyCode"] != "EUR"]
    return {**body, "supportedCurrencies": kept}


@mutant("CFG-800", "a currency that needs nothing says nothing", (platform, "view"), edited)
def silent_currencies(shown: Json) -> Json:
    name = "providerRequiredCustomerFields"
    kept = [
        {key: value for key, value in one.items() if key != name or value}
        for one in shown["supportedCurrencies"]
    ]
    return {**shown, "supportedCurrencies": kept}


declare(
    "CFG-800",
    "null",
    "a currency that needs nothing has null in the place of an empty list",
    edited(
        platform,
        "view",
        turned(
            f"supportedCurrencies.{ALL}.providerRequiredCustomerFields", lambda names: names or None
        ),
    ),
)

MEMBERS = (
    Member("CFG-001", (platform, "view"), "supportedCurrencies", {"object": {}, "null": None}),
    Member(
        "CFG-002",
        (platform, "view"),
        f"supportedCurrencies.{ALL}.providerRequiredCustomerFields",
        {"text": "fullName", "objects": [{"name": "fullName"}]},
    ),
)

declare_members(MEMBERS)
