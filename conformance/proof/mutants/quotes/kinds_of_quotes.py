"""Mutants of one kind of quote, one side or one step, where the others are as they should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    after,
    around,
    before,
    edited,
    instead,
    receives,
    rescued,
    skipped,
)
from conformance.proof.kit.edits import Edit, as_number, copied, put, shows, turned, where
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    at_once,
    is_pulled,
    net_of_received,
    others_of,
    second_never_expires,
    shown_where,
    take,
    transaction_of,
    unfunded_where,
    unpulled_at_once,
)
from conformance.proof.mutants.webhooks.toolkit import is_from_a_wallet
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import fees, parties, quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer, ExternalAccount, Quote
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

WAITING = "PENDING_AUTHORIZATION"
_AN_HOUR = 3_600_000_000
"""In microseconds."""

_INSTRUCTIONS = [{"accountOrWalletInfo": {"accountType": "US_ACCOUNT"}}]
_LONG_AGO = "2020-01-01T00:00:00Z"


def _to_uma(quote: Quote) -> bool:
    return quote.destination_kind == "UMA"


def _converts(quote: Quote) -> bool:
    return quote.sending_currency != quote.receiving_currency


# --- What is shown --------------------------------------------------------------------------


def _created_where(condition: Callable[[Json], bool], edit: Callable[[Json, Json], Json]) -> Apply:
    """Return a patch by which the answer to a creation is edited, where its body is such."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        fits = isinstance(ask.body, dict) and condition(ask.body)
        return edit(answer, ask.body) if fits else answer

    return around(quotes, "create", create)


def is_realtime(body: Json) -> bool:
    """Return whether a quote or its body is funded just in time."""
    return bool(body["source"]["sourceType"] == "REALTIME_FUNDING")


def is_received(body: Json) -> bool:
    """Return whether a body locks the amount that arrives."""
    return bool(body.get("lockedCurrencySide") == "RECEIVING")


_waiting = shows("status", WAITING)
_executed = shows("status", "PROCESSING")

STEPS: tuple[tuple[str, str, str, str, Edit], ...] = (
    ("QUO-039", "create", "immediate", "another description", put("description", "Payment")),
    (
        "QUO-041",
        "create",
        "immediate",
        "instructions to fund it",
        put("paymentInstructions", _INSTRUCTIONS),
    ),
    ("QUO-031", "execute", "executed", "another sourceType", put("source.sourceType", "INTERNAL")),
    (
        "QUO-033",
        "execute",
        "executed",
        "another destinationType",
        put("destination.destinationType", "EXTERNAL"),
    ),
    (
        "QUO-041",
        "execute",
        "executed",
        "instructions to fund it",
        put("paymentInstructions", _INSTRUCTIONS),
    ),
    ("QUO-612", "execute", "challenged", "another createdAt", put("createdAt", _LONG_AGO)),
    ("QUO-614", "execute", "challenged", "another description", put("description", "Payment")),
    ("QUO-902", "execute", "challenged", "no description", put("description", None)),
    ("QUO-830", "execute", "executed", "another fee", put("platformFeesIncluded", 17)),
    ("QUO-830", "execute", "challenged", "another fee", put("platformFeesIncluded", 17)),
    ("QUO-191", "authorize", "challenged", "another transaction", put("transactionId", "Tx:1")),
    ("QUO-828", "authorize", "executed", "another description", put("description", "Payment")),
    ("QUO-828", "authorize", "executed", "another createdAt", put("createdAt", _LONG_AGO)),
    ("QUO-828", "authorize", "executed", "another fee", put("platformFeesIncluded", 17)),
)
"""Requirement, step, which quotes are shown wrongly by it, what they show, and the edit."""

_QUOTES = {"immediate": _executed, "executed": _executed, "challenged": _waiting}

for _requirement, _step, _kind, _what, _edit in STEPS:
    declare(
        _requirement,
        f"{_kind}-{_step}-{_what.replace(' ', '-')}",
        f"the answer to {_step} shows {_what} for {_kind} quotes",
        edited(quotes, _step, where(_QUOTES[_kind], _edit)),
    )


def _after_execution(is_such: Callable[[Quote], bool], edit: Edit) -> Apply:
    """Return a patch by which some quotes are shown wrongly once they have left PENDING."""
    return shown_where(lambda quote: quote.status != "PENDING" and is_such(quote), edit)


for _name, _is_such, _edit in (
    ("pulled", lambda quote: quote.source_kind == "EXTERNAL", put("source.accountId", "Pool:1")),
    ("platform", lambda quote: quote.customer_id is None, put("createdAt", _LONG_AGO)),
    ("uma", _to_uma, put("destination.destinationType", "ACCOUNT")),
    ("conversion", _converts, put("exchangeRate", 17)),
):
    declare(
        "QUO-851",
        _name,
        f"a {_name} quote that was executed shows other terms",
        _after_execution(_is_such, _edit),
    )


def _with_rail(answer: Json, body: Json) -> Json:
    """Return an answer that echoes the rail of its request."""
    shown: Json = put("destination.paymentRail", body["destination"].get("paymentRail"))(answer)
    return shown


def _crosses(quote: Json) -> bool:
    return bool(quote["sendingCurrency"]["code"] != quote["receivingCurrency"]["code"])


declare(
    "QUO-035",
    "immediate",
    "the rail is echoed where a quote is executed as it is created",
    _created_where(
        at_once,
        _with_rail,
    ),
)
declare(
    "QUO-035",
    "real-time",
    "the rail is echoed where a quote is funded just in time",
    _created_where(
        is_realtime,
        _with_rail,
    ),
)
declare(
    "QUO-814",
    "challenged",
    "an execution that asks for a proof shows the rail",
    edited(quotes, "execute", where(_waiting, put("destination.paymentRail", "ACH"))),
)
declare(
    "QUO-814",
    "abroad",
    "an execution to another currency shows the rail that was chosen",
    edited(quotes, "execute", where(_crosses, put("destination.paymentRail", "SWIFT"))),
)
declare(
    "QUO-853",
    "echoed",
    "an authorization shows the rail that the payment took",
    edited(quotes, "authorize", put("destination.paymentRail", "ACH")),
)


@mutant("QUO-157", "what is funded just in time takes no rail", (quotes, "create"), before)
def no_rail_in_time(_unit: Unit, ask: Ask) -> None:
    if is_realtime(ask.body) and ask.body["destination"].get("paymentRail"):
        message = "Expected no rail: the funding decides it."
        raise errors.invalid_input(errors.field_error("destination.paymentRail", message))


@mutant("QUO-080", "a quote by FedNow can be created, and not executed")
def unexecuted_by_fednow(patch: Patch) -> None:
    created: set[str] = set()

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        if ask.body["destination"].get("paymentRail") == "FEDNOW":
            created.add(answer["id"])
        return answer

    def execute(original: Handler, unit: Unit, ask: Ask) -> Any:
        if ask.params["quoteId"] in created:
            raise errors.Refusal("INTERNAL_ERROR", "The rail is not known.")
        return original(unit, ask)

    patch.wrap(quotes, "create", create)
    patch.wrap(quotes, "execute", execute)


declare(
    "QUO-037",
    "real-time",
    "what is funded just in time arrives in EUR",
    shown_where(
        lambda quote: quote.source_kind == "REALTIME", put("receivingCurrency.code", "EUR")
    ),
)
declare(
    "QUO-030",
    "pulled",
    "a quote that pulls its money has expired when it is created",
    shown_where(lambda quote: quote.source_kind == "EXTERNAL", copied("createdAt", "expiresAt")),
)


@mutant("QUO-062", "a quote that is funded just in time waits for an hour", (quotes, "draft"))
def waits_for_an_hour(original: Function, unit: Unit, order: quotes.Order) -> Quote:
    quote: Quote = original(unit, order)
    if quote.source_kind == "REALTIME":
        quote.expires_at = unit.now + _AN_HOUR
    return quote


def _unread(edit: Edit) -> Callable[[Json, Json], Json]:
    """Return the edit of an answer that does not depend on the body of its request."""
    return lambda answer, _body: edit(answer)


def _by_wire(body: Json) -> bool:
    return bool(body["destination"].get("paymentRail") == "WIRE")


declare(
    "QUO-062",
    "by-wire",
    "a quote by a slow rail waits for years",
    _created_where(_by_wire, _unread(put("expiresAt", "2099-12-31T00:00:00Z"))),
)
declare(
    "QUO-044",
    "by-wire",
    "a wire costs a unit more than was locked",
    _created_where(_by_wire, _unread(turned("totalSendingAmount", lambda amount: amount + 1))),
)


def _of_a_proven_customer(unit: Unit, quote: Quote) -> bool:
    owner = unit.session.get(Customer, quote.customer_id or "")
    return owner is not None and customers.needs_sca(owner)


def _to_an_internal_account(_unit: Unit, quote: Quote) -> bool:
    return quote.destination_kind == "INTERNAL"


def _waiting_where(which: Callable[[Unit, Quote], bool]) -> Apply:
    """Return the patch by which quotes of a condition wait for an hour."""

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        quote: Quote = original(unit, order)
        if which(unit, quote):
            quote.expires_at = unit.now + _AN_HOUR
        return quote

    return around(quotes, "draft", draft)


for _name, _which in (
    ("authorized", _of_a_proven_customer),
    ("from-a-wallet", is_from_a_wallet),
    ("inside", _to_an_internal_account),
):
    declare("QUO-062", _name, f"a quote that is {_name} waits for an hour", _waiting_where(_which))


@mutant("QUO-062", "a quote that pays in BTC waits for an hour", (quotes, "draft"), edited)
def bitcoin_waits(quote: Quote) -> Quote:
    if quote.receiving_currency == "BTC":
        quote.expires_at = quote.created_at + _AN_HOUR
    return quote


for _requirement, _source, _target in (
    ("QUO-036", "receivingCurrency", "sendingCurrency"),
    ("QUO-037", "sendingCurrency", "receivingCurrency"),
):
    declare(
        _requirement,
        "receiving-side",
        f"the {_source} is shown as the {_target} where the receiving amount is locked",
        _created_where(is_received, _unread(copied(_source, _target))),
    )

declare(
    "QUO-047",
    "real-time",
    "a receiving amount that is funded just in time drifts by its conversion",
    _created_where(
        lambda body: is_realtime(body) and is_received(body),
        lambda answer, _body: {
            **answer,
            "totalReceivingAmount": answer["totalReceivingAmount"] + 1,
        },
    ),
)


for _requirement, _what, _edit in (
    ("QUO-031", "another type of source", put("source.sourceType", "UMA_ADDRESS")),
    ("QUO-032", "no source account", put("source.accountId", None)),
    ("QUO-036", "another sending currency", put("sendingCurrency.code", "XXX")),
    ("QUO-039", "another description", put("description", "UMA payment")),
    ("QUO-050", "no fees", put("feesIncluded", None)),
    ("QUO-048", "another rate", put("exchangeRate", 0.99)),
    ("QUO-049", "another rate", put("exchangeRate", 0.99)),
    ("QUO-051", "all as fees", copied("totalSendingAmount", "feesIncluded")),
    ("QUO-052", "all as fees", copied("totalSendingAmount", "feesIncluded")),
    ("QUO-852", "another address", put("destination.umaAddress", "$receiver@elsewhere.example")),
):
    declare(
        _requirement,
        "to-uma",
        f"a quote to a UMA address shows {_what}",
        shown_where(_to_uma, _edit),
    )


def _to_internal(quote: Quote) -> bool:
    return quote.destination_kind == "INTERNAL"


for _requirement, _what, _edit in (
    ("QUO-033", "an ending of another type", put("destination.destinationType", "INTERNAL")),
    ("QUO-034", "no destination account", put("destination.accountId", None)),
    (
        "QUO-037",
        "the currency that is sent as received",
        copied("sendingCurrency", "receivingCurrency"),
    ),
    ("QUO-044", "a unit more than was locked", turned("totalSendingAmount", lambda sent: sent + 1)),
    ("QUO-048", "another rate", put("exchangeRate", 0.99)),
):
    declare(
        _requirement,
        "to-internal",
        f"a quote to an internal account shows {_what}",
        shown_where(_to_internal, _edit),
    )


def _moved_where(which: Callable[[Quote], bool], side: str, amount: str) -> Apply:
    """Return a patch by which an amount of some conversions is a hundredth more."""

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        quote: Quote = original(unit, order)
        if _converts(quote) and order.side == side and which(quote):
            setattr(quote, amount, getattr(quote, amount) * 101 // 100)
        return quote

    return around(quotes, "draft", draft)


def _is_realtime(quote: Quote) -> bool:
    return quote.source_kind == "REALTIME"


for _requirement, _side, _amount in (
    ("QUO-046", "SENDING", "sending_amount"),
    ("QUO-047", "RECEIVING", "receiving_amount"),
    ("QUO-053", "SENDING", "receiving_amount"),
    ("QUO-054", "RECEIVING", "sending_amount"),
):
    for _name, _meant in (("pulled", is_pulled), ("real-time", _is_realtime)):
        declare(
            _requirement,
            f"{_name}-conversion",
            f"the {_amount.replace('_', ' ')} of a {_name} conversion is a hundredth more",
            _moved_where(_meant, _side, _amount),
        )

for _requirement, _side, _amount in (
    ("QUO-053", "SENDING", "receiving_amount"),
    ("QUO-054", "RECEIVING", "sending_amount"),
):
    declare(
        _requirement,
        "internal",
        f"the {_amount.replace('_', ' ')} of a conversion on an internal account is more",
        _moved_where(_to_internal, _side, _amount),
    )


# --- What is taken --------------------------------------------------------------------------


def is_wrong_kind(value: Any) -> bool:
    """Return whether an amount is no integer above 0."""
    return not isinstance(value, int) or value < 1


def _made_good(condition: Callable[[Json], bool]) -> Apply:
    """Return a patch by which wrong amounts of some bodies become right ones."""

    def change(body: Json) -> Json:
        wrong = is_wrong_kind(body.get("lockedCurrencyAmount"))
        return {**body, "lockedCurrencyAmount": 10_000} if wrong and condition(body) else body

    return receives(quotes, "create", change)


for _requirement, _name, _condition in (
    ("QUO-145", "receiving-side", is_received),
    ("QUO-147", "real-time", is_realtime),
    ("QUO-148", "immediate", at_once),
    ("QUO-972", "real-time", is_realtime),
):
    declare(
        _requirement,
        f"{_name}-made-good",
        f"a wrong amount of a {_name} quote is made a right one",
        _made_good(_condition),
    )

declare(
    "QUO-831",
    "truthy",
    "every text is true",
    receives(
        quotes,
        "create",
        lambda body: {**body, "immediatelyExecute": bool(body.get("immediatelyExecute"))},
    ),
)


@mutant("QUO-832", "the id of a transaction stands for its quote", (quotes, "authorize"))
def authorized_by_transaction(original: Handler, unit: Unit, ask: Ask) -> Any:
    query = select(Quote.id).where(Quote.transaction_id == ask.params["quoteId"])
    found = unit.session.scalar(query) or ask.params["quoteId"]
    return original(unit, Ask({**ask.params, "quoteId": found}, ask.query, ask.body))


@mutant("QUO-120", "what the platform pays is never executed at once", (quotes, "create"))
def platform_waits(original: Handler, unit: Unit, ask: Ask) -> Any:
    account = accounts.find(unit, str(ask.body["source"].get("accountId")))
    if account is None or account.customer_id is not None:
        return original(unit, ask)
    body = {**ask.body, "immediatelyExecute": False}
    return original(unit, Ask(ask.params, ask.query, body))


# --- Fees and funds -------------------------------------------------------------------------


@mutant("QUO-161", "the fee of a single transfer is for locked sending amounts", (quotes, "draft"))
def override_of_one_side(original: Function, unit: Unit, order: quotes.Order) -> Any:
    kept = None if order.side == "RECEIVING" else order.fee_override
    return original(unit, replace(order, fee_override=kept))


@mutant("QUO-161", "the fee of a single transfer is for conversions", (quotes, "draft"))
def override_abroad(original: Function, unit: Unit, order: quotes.Order) -> Any:
    within = order.source.currency == order.destination.currency
    return original(unit, replace(order, fee_override=None if within else order.fee_override))


@mutant("QUO-161", "the fee of a single transfer is not for conversions", (quotes, "draft"))
def override_at_home(original: Function, unit: Unit, order: quotes.Order) -> Any:
    within = order.source.currency == order.destination.currency
    return original(unit, replace(order, fee_override=order.fee_override if within else None))


for _kind, _is_one in (
    ("real-time", lambda order: order.source.kind == "REALTIME"),
    ("pulled", lambda order: order.source.kind == "EXTERNAL"),
    ("platform", lambda order: order.source.customer_id is None),
    ("to-uma", lambda order: order.destination.kind == "UMA"),
):

    def _without_fee(
        original: Function,
        unit: Unit,
        order: quotes.Order,
        is_one: Callable[[quotes.Order], bool] = _is_one,
    ) -> Quote:
        quote: Quote = original(unit, replace(order, fee_override=None) if is_one(order) else order)
        return quote

    declare(
        "QUO-161",
        _kind,
        f"the fee of a single transfer is ignored for {_kind} quotes",
        around(quotes, "draft", _without_fee),
    )


@mutant("QUO-161", "businesses bear no fee of a single transfer", (quotes, "draft"))
def override_of_businesses(original: Function, unit: Unit, order: quotes.Order) -> Any:
    payer = order.source.customer_id
    exempt = payer is not None and customers.get(unit, payer).customer_type == "BUSINESS"
    return original(unit, replace(order, fee_override=None if exempt else order.fee_override))


def _converts_with_fee(quote: Quote) -> bool:
    return quote.platform_fee > 0 and _converts(quote)


for _requirement, _side, _amount, _sign in (
    ("QUO-046", "SENDING", "sending_amount", 1),
    ("QUO-047", "RECEIVING", "receiving_amount", -1),
    ("QUO-053", "SENDING", "receiving_amount", 1),
    ("QUO-054", "RECEIVING", "sending_amount", -1),
):

    def _moved(
        original: Function,
        unit: Unit,
        order: quotes.Order,
        row: tuple[str, str, int] = (_side, _amount, _sign),
    ) -> Quote:
        side, amount, sign = row
        quote: Quote = original(unit, order)
        if order.side == side and _converts_with_fee(quote):
            setattr(quote, amount, getattr(quote, amount) + sign * quote.platform_fee)
        return quote

    declare(
        _requirement,
        "fee-of-one-quote",
        f"the fee of a conversion moves its {_amount.replace('_', ' ')}",
        around(quotes, "draft", _moved),
    )

declare(
    "QUO-161",
    "immediate",
    "the fee of a single transfer is ignored where it is executed at once",
    receives(
        quotes,
        "create",
        where(at_once, lambda body: {n: v for n, v in body.items() if n != "platformFeeOverride"}),
    ),
)

declare(
    "QUO-086",
    "platform-fee-left",
    "the platform's fee is not debited",
    instead(quotes, "debit_total", lambda quote: quote.sending_amount - quote.platform_fee),
)


for _requirement in ("QUO-098", "QUO-099"):
    declare(
        _requirement,
        "receiving-side",
        "the balance is not looked at where the receiving amount is locked",
        net_of_received,
        at="test_what_arrives",
    )


for _name, _is_unfunded in (("internal", _to_internal), ("uma", _to_uma)):
    for _requirement in ("QUO-098", "QUO-099"):
        declare(
            _requirement,
            f"to-{_name}",
            f"what a quote of the kind {_name} pays may be more than there is",
            unfunded_where(_is_unfunded),
        )


@mutant("QUO-854", "what is pulled is pulled again by another execution", (quotes, "execute"))
def pulled_again(original: Handler, unit: Unit, ask: Ask) -> Any:
    quote = quotes.get(unit, ask.params["quoteId"])
    if quote.source_kind == "EXTERNAL" and quote.status != "PENDING":
        ledger.post(
            unit,
            [
                ledger.Leg(
                    ledger.system("rail", quote.sending_currency), quote.sending_currency, -1
                ),
                ledger.Leg(
                    ledger.available(quote.destination["accountId"]), quote.sending_currency, 1
                ),
            ],
        )
        return quotes.view(unit, quote)
    return original(unit, ask)


# --- Another quote --------------------------------------------------------------------------


@mutant("QUO-850", "the source of a quote may have been deleted", (parties, "source_of"), before)
def deleted_source_found(unit: Unit, source: Json) -> None:
    account = unit.session.get(ExternalAccount, str(source.get("accountId")))
    if account is not None:
        account.deleted = False


@mutant("QUO-086", "an execution debits what the latest quote costs", (quotes, "perform"), after)
def latest_debited(unit: Unit, quote: Quote, action: str) -> None:
    others = others_of(unit, quote, "PENDING")
    if others and action == "EXECUTE":
        take(unit, quote.source["accountId"], others[-1].sending_amount - quote.sending_amount)


@mutant("QUO-192", "a proof debits all quotes that wait for one", (quotes, "perform"), after)
def all_debited(unit: Unit, quote: Quote, action: str) -> None:
    if action == "AUTHORIZE":
        for other in others_of(unit, quote, WAITING):
            take(unit, other.source["accountId"], other.sending_amount)


def _pays_the_oldest(patch: Patch) -> None:
    """Let a payment execute the oldest quote that waits for one, whatever its reference."""

    def perform(original: Function, unit: Unit, quote: Quote, action: str) -> None:
        older = others_of(unit, quote, "PENDING") if action == "DEPOSIT" else []
        original(unit, older[0] if older else quote, action)

    patch.wrap(quotes, "perform", perform)


for _requirement in ("QUO-210", "QUO-212"):
    declare(
        _requirement,
        "oldest",
        "a payment executes the oldest quote that waits for one",
        _pays_the_oldest,
    )


# --- Who is asked, and what is refused ------------------------------------------------------


def _conversion_unasked(
    original: Function, unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    crosses = quote.sending_currency != quote.receiving_currency
    (quotes.perform if crosses else original)(unit, quote, action)


for _requirement in ("QUO-180", "QUO-181"):
    declare(
        _requirement,
        "conversion",
        "nobody proves a payment that is converted",
        around(quotes, "start", _conversion_unasked),
    )


def _unexpired_where(condition: Callable[[Quote], bool]) -> Apply:
    """Return a patch by which some quotes do not expire."""
    return around(
        quotes,
        "is_expired",
        lambda original, quote, now: not condition(quote) and original(quote, now),
    )


for _requirement in ("QUO-110", "QUO-111"):
    declare(
        _requirement,
        "conversion",
        "a quote between currencies does not expire",
        _unexpired_where(_converts),
    )
declare(
    "QUO-110",
    "uma",
    "a quote to a UMA address does not expire",
    _unexpired_where(_to_uma),
)


@mutant("QUO-110", "a proof is asked for before the expiry is looked at", (quotes, "execute"))
def challenged_late(original: Handler, unit: Unit, ask: Ask) -> Any:
    quote = quotes.get(unit, ask.params["quoteId"])
    payer = None if quote.customer_id is None else unit.session.get(Customer, quote.customer_id)
    asks = payer is not None and quote.status == "PENDING" and customers.needs_sca(payer)
    if payer is None or not asks:
        return original(unit, ask)
    quote.status = WAITING
    sca.begin(unit, quote, payer)
    return quotes.view(unit, quote)


@mutant("QUO-162", "an account pays itself where a call executes its quote")
def self_paid_by_call(patch: Patch) -> None:
    immediate: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        immediate[:] = [isinstance(ask.body, dict) and at_once(ask.body)]
        return original(unit, ask)

    def refuse(original: Function, source: Any, destination: Any) -> None:
        if any(immediate):
            original(source, destination)

    patch.wrap(quotes, "create", create)
    patch.wrap(parties, "refuse_self_payment", refuse)


@mutant("QUO-156", "what is funded just in time goes to any account", (parties, "destination_of"))
def paid_to_nowhere(original: Function, unit: Unit, destination: Json) -> Any:
    try:
        return original(unit, destination)
    except errors.Refusal:
        query = select(ExternalAccount.id)
        return original(unit, {**destination, "accountId": unit.session.scalar(query)})


for _requirement in ("QUO-206", "QUO-207"):
    declare(
        _requirement,
        "second",
        "the second challenge of a quote never expires",
        second_never_expires,
    )


@mutant("QUO-207", "a call executes a quote whose challenge has expired", (quotes, "execute"))
def executed_unproven(original: Handler, unit: Unit, ask: Ask) -> Any:
    quote = quotes.get(unit, ask.params["quoteId"])
    if quote.status != "FAILED" or quote.challenge_id is None:
        return original(unit, ask)
    quote.status = "PENDING"
    quotes.perform(unit, quote, "EXECUTE")
    return quotes.view(unit, quote)


@mutant("QUO-211", "a call executes what is to be paid in BTC", (quotes, "execute_action"))
def bitcoin_called(original: Function, quote: Quote) -> Any:
    return "EXECUTE" if quote.sending_currency == "BTC" else original(quote)


def _listed_though_refused(
    refusal: errors.Refusal, service: Service, served: Handler, ask: Ask
) -> None:
    if served is quotes.create:
        with service.unit() as unit:
            shown = quotes.create(
                unit, replace(ask, body={**ask.body, "immediatelyExecute": False})
            )
            transaction_of(unit, quotes.get(unit, shown["id"])).status = "PROCESSING"
    raise refusal


declare(
    "QUO-098",
    "refused-and-listed",
    "what is refused for want of funds is listed as if it were paid",
    rescued(Service, "answer", _listed_though_refused, "INSUFFICIENT_FUNDS"),
)


def _override_free(patch: Patch) -> None:
    """Show the fee of a single transfer, and do not take it."""

    def price(
        original: Function, side: str, amount: int, corridor: fees.Corridor, terms: fees.Terms
    ) -> Any:
        free = replace(terms, platform_variable=Decimal(0), platform_fixed=0)
        shown = original(side, amount, corridor, terms)
        return replace(original(side, amount, corridor, free), platform_fee=shown.platform_fee)

    patch.wrap(fees, "price", price)


for _requirement in ("QUO-051", "QUO-052"):
    declare(
        _requirement,
        "platform-fee-free",
        "the platform's fee is shown, and not taken",
        _override_free,
    )


@mutant("QUO-620", "a standing fee goes before that of a single transfer", (quotes, "terms_for"))
def standing_fee_first(original: Function, unit: Unit, order: quotes.Order) -> Any:
    standing = quotes.standing_fee(unit, order.source.currency, order.destination.currency)
    return original(unit, replace(order, fee_override=None) if standing else order)


@mutant(
    "QUO-833",
    "a fee of nothing leaves the standing fee",
    (quotes, "terms_for"),
    around,
)
def nothing_is_no_fee(original: Function, unit: Unit, order: quotes.Order) -> Any:
    if order.fee_override is not None and not any(order.fee_override.values()):
        return original(unit, replace(order, fee_override=None))
    return original(unit, order)


def _fees_added(side: str) -> Apply:
    """Return a patch by which fees of single transfers that lock a side add to the standing fee."""

    def terms_for(original: Function, unit: Unit, order: quotes.Order) -> Any:
        terms = original(unit, order)
        if order.fee_override is None or order.side != side:
            return terms
        standing = original(unit, replace(order, fee_override=None))
        return replace(
            terms,
            platform_variable=terms.platform_variable + standing.platform_variable,
            platform_fixed=terms.platform_fixed + standing.platform_fixed,
        )

    return around(quotes, "terms_for", terms_for)


for _side in ("SENDING", "RECEIVING"):
    declare(
        "QUO-833",
        f"fees-added-{_side.lower()}",
        f"the fee of a single transfer is added to the standing fee where {_side} is locked",
        _fees_added(_side),
    )


for _requirement in ("QUO-120", "QUO-122"):
    declare(
        _requirement,
        "conversion",
        "what is converted is not executed as it is created",
        around(
            quotes,
            "start",
            lambda original, unit, quote, action="EXECUTE": (
                None
                if quote.created_at == unit.now
                and quote.sending_currency != quote.receiving_currency
                else original(unit, quote, action)
            ),
        ),
    )


def _to_address(body: Json) -> bool:
    return bool(body["destination"]["destinationType"] == "UMA_ADDRESS")


declare(
    "QUO-039",
    "number",
    "a description of digits is shown as a number",
    edited(quotes, "view", turned("description", as_number)),
)

for _requirement, _edit in {
    "QUO-033": put("destination.destinationType", "ACCOUNT"),
    "QUO-062": put("expiresAt", "2099-12-31T00:00:00Z"),
    "QUO-044": turned("totalSendingAmount", lambda amount: amount + 1),
    "QUO-045": turned("totalReceivingAmount", lambda amount: amount + 1),
}.items():
    declare(
        _requirement,
        "to-an-address",
        "a quote to a UMA address shows something else",
        _created_where(_to_address, _unread(_edit)),
    )


def _trusting_addresses(original: Function, unit: Unit, quote: Quote, *more: str) -> None:
    if quote.destination_kind == "UMA":
        quotes.perform(unit, quote, "EXECUTE")
    else:
        original(unit, quote, *more)


declare(
    "QUO-180",
    "to-an-address",
    "what is sent to a UMA address needs no proof",
    around(quotes, "start", _trusting_addresses),
)


declare(
    "QUO-120",
    "to-an-address",
    "what is sent to a UMA address is not executed as it is created",
    skipped(
        quotes,
        "start",
        lambda unit, quote, action="EXECUTE": (
            quote.created_at == unit.now and quote.destination_kind == "UMA"
        ),
    ),
)
declare(
    "QUO-086",
    "to-an-address",
    "what is sent to a UMA address is debited by a unit alone",
    around(
        quotes,
        "debit_total",
        lambda original, quote: 1 if quote.destination_kind == "UMA" else original(quote),
    ),
)


def _individuals_alone(kind: str) -> Apply:
    """Refuse quotes of businesses from a kind of source."""

    def refusing(unit: Unit, order: quotes.Order) -> None:
        owner = unit.session.get(Customer, order.source.customer_id or "")
        if order.source.kind == kind and owner and owner.customer_type == "BUSINESS":
            raise errors.Refusal("CONFLICT", "Businesses pay from their internal accounts.")

    return before(quotes, "draft", refusing)


for _requirement, _kind in (("QUO-816", "REALTIME"), ("QUO-817", "EXTERNAL")):
    declare(
        _requirement,
        "individuals-alone",
        f"a business pays from no source that is {_kind}",
        _individuals_alone(_kind),
    )


# --- Just in time, and for a proof ----------------------------------------------------------


for _requirement in ("QUO-210", "QUO-213"):
    declare(
        _requirement,
        "dollar-coins",
        "a payment in USDC executes nothing",
        skipped(
            quotes,
            "perform",
            lambda _unit, quote, action: action == "DEPOSIT" and quote.sending_currency == "USDC",
        ),
    )


@mutant("QUO-213", "what is funded in BTC never arrives", (settlement, "settle"), skipped)
def bitcoin_stuck(unit: Unit, transaction_id: str, **_released: bool) -> bool:
    return transactions.get(unit, transaction_id).sending_currency == "BTC"


def _realtime_by_default(**members: Any) -> Apply:
    """Return a patch by which just-in-time funding takes members that are missing or wrong."""

    def change(body: Json) -> Json:
        source = body.get("source")
        funded = isinstance(source, dict) and source.get("sourceType") == "REALTIME_FUNDING"
        return {**body, **members} if funded else body

    return receives(quotes, "create", change)


for _requirement, _members in (
    ("QUO-143", {"lockedCurrencyAmount": 10_000}),
    ("QUO-144", {"lockedCurrencySide": "SENDING"}),
):
    declare(
        _requirement,
        "real-time",
        f"just-in-time funding has its own {next(iter(_members))}",
        _realtime_by_default(**_members),
    )


def _held_at(step: str) -> Apply:
    """Return a patch by which a challenge keeps the amount back, and nothing lets it go."""

    def hold(unit: Unit, quote: Quote, *_: Any) -> None:
        if quote.source_kind == "INTERNAL":
            ledger.post(unit, quotes.debit_legs(quote))

    return after(sca, step, hold)


declare(
    "QUO-207",
    "kept-back",
    "what a challenge keeps back is never let go",
    _held_at("begin"),
)


@mutant(
    "QUO-126",
    "what is executed as it is created is debited before its proof",
    (sca, "begin"),
    after,
)
def immediate_debited(unit: Unit, quote: Quote, _customer: Any) -> None:
    if quote.created_at == unit.now and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], quote.sending_amount)


def _unproved_at_once(which: Callable[[Quote], bool]) -> Apply:
    """Let some quotes need no proof where one request creates and executes them."""

    def start(
        original: Function, unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
    ) -> None:
        unproved = quote.created_at == unit.now and which(quote)
        (quotes.perform if unproved else original)(unit, quote, action)

    return around(quotes, "start", start)


for _name, _unproved in (("pulled", is_pulled), ("converted", _converts)):
    declare(
        "QUO-126",
        f"{_name}-unproved",
        f"what is {_name} and executed as it is created needs no proof",
        _unproved_at_once(_unproved),
    )


@mutant("QUO-190", "a valid proof does not start what is pulled", (quotes, "perform"))
def pulled_unstarted(original: Function, unit: Unit, quote: Quote, action: rules.Action) -> None:
    if action == "AUTHORIZE" and is_pulled(quote):
        quote.status = "PROCESSING"
    else:
        original(unit, quote, action)


declare(
    "QUO-089",
    "unpulled",
    "nothing is pulled for a quote that is executed as it is created",
    around(quotes, "perform", unpulled_at_once),
)


@mutant("QUO-192", "a valid proof debits nothing that is converted", (quotes, "perform"), after)
def converted_undebited(unit: Unit, quote: Quote, action: rules.Action) -> None:
    if action == "AUTHORIZE" and _converts(quote) and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], -quote.sending_amount)


@mutant("QUO-834", "a payment takes the place of a proof")
def paid_for_proved(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", (WAITING, "DEPOSIT"), rules.Move("PROCESSING"))


def _stands_in(patch: Patch) -> None:
    """Let an authorization execute what waits for no proof."""

    def authorize(original: Handler, unit: Unit, ask: Ask) -> Any:
        quote = quotes.get(unit, ask.params["quoteId"])
        payer = None if quote.customer_id is None else unit.session.get(Customer, quote.customer_id)
        if payer is None or quote.status != "PENDING" or customers.needs_sca(payer):
            return original(unit, ask)
        quotes.perform(unit, quote, "EXECUTE")
        return quotes.view(unit, quote)

    patch.wrap(quotes, "authorize", authorize)


for _requirement in ("QUO-200", "QUO-201"):
    declare(
        _requirement,
        "no-sca",
        "an authorization executes the quotes of customers who need none",
        _stands_in,
    )


declare(
    "QUO-036",
    "name",
    "the sendingCurrency has the name of the receivingCurrency",
    edited(
        quotes,
        "view",
        lambda body: put("sendingCurrency.name", body["receivingCurrency"]["name"])(body),
    ),
)
declare(
    "QUO-036",
    "decimals",
    "a quote that sends BTC says that it has two decimals",
    shown_where(lambda quote: quote.sending_currency == "BTC", put("sendingCurrency.decimals", 2)),
)


@mutant("QUO-086", "what is sent in BTC is debited once more", (quotes, "perform"), after)
def bitcoin_debited_twice(unit: Unit, quote: Quote, _action: str) -> None:
    if quote.sending_currency == "BTC" and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], quote.sending_amount)


# --- The second attempt ---------------------------------------------------------------------


def _second_time(place: Place, key: Callable[..., str]) -> Apply:
    """Return a patch by which a check that has refused once refuses no more."""

    def patch(patch: Patch) -> None:
        refused: set[str] = set()

        def check(original: Function, *arguments: Any) -> Any:
            name = key(*arguments)
            if name in refused:
                return None
            try:
                return original(*arguments)
            except errors.Refusal:
                refused.add(name)
                raise

        patch.wrap(*place, check)

    return patch


declare(
    "QUO-197",
    "second-attempt",
    "a wrong code is refused once",
    _second_time((sca, "check_proof"), lambda _unit, quote, _body: str(quote.id)),
)


@mutant("QUO-098", "what is not covered is refused once")
def uncovered_once(patch: Patch) -> None:
    _second_time((quotes, "refuse_unfunded"), lambda _unit, quote: str(quote.id))(patch)
    patch.replace(ledger, "is_overdrawn", lambda _account: False)


@mutant("QUO-617", "a quote that was not covered is never executed")
def uncovered_for_ever(patch: Patch) -> None:
    failed: set[str] = set()

    def refuse_unfunded(original: Function, unit: Unit, quote: Quote) -> None:
        if quote.id in failed:
            raise errors.Refusal("CONFLICT", "The quote has failed.")
        if not quotes.has_funds(unit, quote):
            failed.add(quote.id)
        original(unit, quote)

    patch.wrap(quotes, "refuse_unfunded", refuse_unfunded)


@mutant("QUO-111", "an expired quote is refused once")
def expired_once(patch: Patch) -> None:
    tried: set[str] = set()

    def next_status(original: Function, unit: Unit, quote: Quote, action: rules.Action) -> Any:
        if quote.id in tried and action == "EXECUTE":
            return "PROCESSING"
        if quotes.status_at(quote, unit.now) == "EXPIRED":
            tried.add(quote.id)
        return original(unit, quote, action)

    patch.wrap(quotes, "next_status", next_status)


@mutant("TRF-124", "a transfer is debited before its proof", (sca, "begin"), after)
def transfer_debited(unit: Unit, quote: Quote, _customer: Any) -> None:
    if quote.created_at == unit.now and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], quote.sending_amount)
