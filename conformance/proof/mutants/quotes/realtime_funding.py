"""Mutants of quotes that are funded in real time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited, instead, receives, skipped
from conformance.proof.kit.edits import Edit, put, where
from conformance.proof.kit.tables import with_field
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import without_nulls
from conformance.proof.patch import Apply, Patch
from conformance.reference import fields, rules
from conformance.reference.authentication import sca
from conformance.reference.quotes import parties, quotes
from conformance.reference.rules import Move
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit, new_id

# --- Real-time funding: what is shown -------------------------------------------------------


_INSTRUCTIONS: tuple[tuple[str, str, str, Callable[[list[Json]], Any]], ...] = (
    ("QUO-016", "object", "payment instructions are one object", lambda found: found[0]),
    (
        "QUO-017",
        "flat",
        "payment instructions are not nested under accountOrWalletInfo",
        lambda found: [entry["accountOrWalletInfo"] for entry in found],
    ),
    (
        "QUO-018",
        "untyped",
        "payment instructions do not say what kind of account they name",
        lambda found: [_with_info(entry, {"accountType": None}) for entry in found],
    ),
    (
        "QUO-018",
        "coded",
        "the kind of account of a payment instruction is a number",
        lambda found: [_with_info(entry, {"accountType": 3}) for entry in found],
    ),
    (
        "QUO-019",
        "listed",
        "the notes of payment instructions are a list",
        lambda found: [{**entry, "instructionsNotes": ["Include it."]} for entry in found],
    ),
    ("QUO-040", "empty", "a quote has an empty list of payment instructions", lambda _: []),
    ("QUO-040", "absent", "a quote has no payment instructions", lambda _: None),
)
"""Requirement, name, statement, and what is shown in the place of the instructions."""


def _with_info(entry: Json, members: Json) -> Json:
    info = without_nulls({**entry["accountOrWalletInfo"], **members})
    return {**entry, "accountOrWalletInfo": info}


for _requirement, _name, _statement, _shown in _INSTRUCTIONS:
    declare(_requirement, _name, _statement, edited(quotes, "visible_payment_instructions", _shown))


def _beyond_the_chain(found: list[Json]) -> list[Json]:
    return [entry for entry in found if entry["accountOrWalletInfo"]["accountType"] != "BITCOIN_L1"]


declare(
    "QUO-822",
    "lightning",
    "Bitcoin is received on Lightning and Spark alone",
    edited(quotes, "visible_payment_instructions", _beyond_the_chain),
)
for _id, _currency in (("QUO-823", "USD"), ("QUO-824", "USDC"), ("QUO-825", "BTC")):
    declare(
        _id,
        "unoffered",
        f"nobody pays just in time in {_currency}",
        instead(
            rules,
            "REALTIME_CURRENCIES",
            tuple(code for code in rules.REALTIME_CURRENCIES if code != _currency),
        ),
    )
declare(
    "QUO-826",
    "customers-alone",
    "customers alone pay just in time",
    with_field(rules, "QUOTE_FIELDS", "source.customerId", required=True),
)


@mutant(
    "QUO-040", "the platform is not told where to pay", (quotes, "visible_payment_instructions")
)
def platform_uninstructed(original: Callable[[Quote], Any], quote: Quote) -> Any:
    return None if quote.customer_id is None else original(quote)


@mutant("QUO-210", "what the platform pays is not matched", (quotes, "perform"), skipped)
def platform_payment_lost(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    return action == "DEPOSIT" and quote.customer_id is None


@mutant("QUO-042", "payment instructions are shown before the customer proved")
def instructions_revealed(patch: Patch) -> None:
    patch.replace(quotes, "visible_payment_instructions", _instructions)


@mutant("QUO-042", "the first of two proofs reveals the payment instructions")
def instructions_revealed_early(patch: Patch) -> None:
    proven: set[str] = set()

    def open_challenge(original: Callable[[Unit, Quote], None], unit: Unit, quote: Quote) -> None:
        if quote.challenge_id is not None:
            proven.add(quote.id)
        original(unit, quote)

    patch.wrap(sca, "open_challenge", open_challenge)
    patch.wrap(
        quotes,
        "visible_payment_instructions",
        lambda original, quote: _instructions(quote) if quote.id in proven else original(quote),
    )


@mutant("QUO-043", "payment instructions stay withheld after the proof")
def instructions_withheld(patch: Patch) -> None:
    patch.replace(
        quotes,
        "visible_payment_instructions",
        lambda quote: None if quote.challenge_id else _instructions(quote),
    )


@mutant("QUO-038", "real-time funding is quoted in the platform's own currency")
def platform_currency(patch: Patch) -> None:
    patch.wrap(
        parties,
        "realtime_source",
        lambda original, unit, source: dataclasses.replace(
            original(unit, source), currency=unit.settings.platform_currency
        ),
    )


# --- Real-time funding: how it is executed --------------------------------------------------


@mutant(
    "QUO-074",
    "a quote to be funded in real time starts as if it were paid",
    (quotes, "draft"),
    edited,
)
def starts_processing(quote: Quote) -> Quote:
    if quote.source_kind == "REALTIME" and quote.status == "PENDING":
        quote.status = "PROCESSING"
    return quote


@mutant("QUO-124", "immediatelyExecute executes a quote whose payment has not arrived")
def immediate_unpaid(patch: Patch) -> None:
    patch.wrap(
        quotes,
        "between_fields_errors",
        lambda original, body: [e for e in original(body) if e["field"] != "immediatelyExecute"],
    )


def _pending_where(payer: str) -> Apply:
    """Return a patch after which nothing is executed at once where a source names a payer."""
    return receives(
        quotes,
        "create",
        where(
            lambda body: bool(fields.at(body, f"source.{payer}")), put("immediatelyExecute", False)
        ),
    )


for _payer in ("customerId", "platform"):
    declare(
        "QUO-835",
        f"passed-over-with-{_payer}",
        f"immediatelyExecute is passed over where the {_payer} will fund the quote",
        _pending_where(_payer),
    )


@mutant("QUO-153", "real-time funding without a currency is in the platform's own")
def currency_by_default(patch: Patch) -> None:
    patch.wrap(
        parties,
        "realtime_source",
        lambda original, unit, source: original(
            unit, {"currency": unit.settings.platform_currency, **source}
        ),
    )
    with_field(rules, "QUOTE_FIELDS", "source.currency", required=False)(patch)


@mutant("QUO-210", "what is paid to a UMA address is not matched", (quotes, "perform"), skipped)
def uma_payment_lost(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    return action == "DEPOSIT" and quote.destination_kind == "UMA"


@mutant("QUO-210", "what a business pays is not matched", (quotes, "perform"), skipped)
def business_payment_lost(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    payer = unit.session.get(Customer, quote.customer_id) if quote.customer_id else None
    return action == "DEPOSIT" and payer is not None and payer.customer_type == "BUSINESS"


@mutant("QUO-210", "a payment waits for a call of execute", (quotes, "perform"), skipped)
def payment_not_enough(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    return action == "DEPOSIT"


@mutant(
    "QUO-210",
    "a payment is not matched once its quote has been authorized",
    (quotes, "perform"),
    skipped,
)
def authorized_payment_lost(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    return action == "DEPOSIT" and quote.challenge_id is not None


def _executed_unpaid(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", ("PENDING", "EXECUTE_REALTIME"), Move("PROCESSING"))


def _shown_to_businesses(edit: Edit) -> Apply:
    """Return a patch by which what a business funds just in time is shown wrongly."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        payer = unit.session.get(Customer, str(ask.body["source"].get("customerId")))
        is_business = payer is not None and payer.customer_type == "BUSINESS"
        return edit(answer) if is_business else answer

    return around(quotes, "create", create)


for _requirement, _what, _edit in (
    ("QUO-038", "in EUR", put("sendingCurrency.code", "EUR")),
    ("QUO-040", "without instructions", put("paymentInstructions", [])),
    ("QUO-074", "as if it were paid", put("status", "PROCESSING")),
):
    declare(
        _requirement,
        "business",
        f"what a business funds just in time is shown {_what}",
        _shown_to_businesses(_edit),
    )


def _called_for_the_platform(original: Callable[[Quote], str], quote: Quote) -> str:
    return "EXECUTE" if quote.customer_id is None else original(quote)


for _requirement in ("QUO-211", "QUO-212"):
    declare(
        _requirement,
        "platform",
        "a call executes what the platform has not paid",
        around(quotes, "execute_action", _called_for_the_platform),
    )

declare("QUO-211", "unpaid", "a call executes a quote that is not paid", _executed_unpaid)
declare("QUO-212", "unpaid", "a call starts a payout that is not paid", _executed_unpaid)


@mutant(
    "QUO-212",
    "the payout of a real-time funded quote is under way from its creation on",
    (quotes, "transaction_of"),
)
def processing_unpaid(
    original: Callable[..., Transaction], unit: Unit, quote: Quote, order: Any
) -> Transaction:
    transaction = original(unit, quote, order)
    if quote.source_kind == "REALTIME":
        transaction.status = "PROCESSING"
    return transaction


@mutant("QUO-212", "an approval is taken for the payment", (quotes, "approve"))
def approved_unpaid(original: Callable[..., Any], unit: Unit, ask: Ask) -> Any:
    quote, transaction = transactions.locked(unit, ask.params["transactionId"])
    if quote.source_kind != "REALTIME":
        return original(unit, ask)
    quotes.perform(unit, quote, "DEPOSIT")
    return transactions.view(transaction)


@mutant("QUO-213", "a real-time funded payout stays in processing", (settlement, "settle"))
def never_settled(
    original: Callable[..., None], unit: Unit, transaction_id: str, *, released: bool = False
) -> None:
    quote, _ = transactions.locked(unit, transaction_id)
    if quote.source_kind != "REALTIME":
        original(unit, transaction_id, released=released)


@mutant("QUO-981", "a second payment starts the payout again, which stays in processing")
def paid_again(patch: Patch) -> None:
    again: set[str] = set()

    def perform(
        original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action
    ) -> None:
        if quote.status == "COMPLETED":
            again.add(quote.transaction_id)
        original(unit, quote, action)

    def settle(
        original: Callable[..., None], unit: Unit, transaction_id: str, *, released: bool = False
    ) -> None:
        if transaction_id not in again:
            original(unit, transaction_id, released=released)

    patch.row(rules, "QUOTE_TRANSITIONS", ("COMPLETED", "DEPOSIT"), Move("PROCESSING"))
    patch.wrap(quotes, "perform", perform)
    patch.wrap(settlement, "settle", settle)


@mutant("QUO-981", "a second payment makes another transaction of the same quote")
def paid_once_more(patch: Patch) -> None:
    def perform(
        original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action
    ) -> None:
        if quote.status == "COMPLETED":
            first = transactions.get(unit, quote.transaction_id)
            members = {column.key: getattr(first, column.key) for column in first.__table__.columns}
            unit.session.add(Transaction(**{**members, "id": new_id("Transaction")}))
            return
        original(unit, quote, action)

    patch.wrap(quotes, "perform", perform)


@mutant("QUO-982", "a payment executes a quote that has expired")
def paid_late(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", ("EXPIRED", "DEPOSIT"), Move("PROCESSING"))


declare(
    "QUO-630",
    "unchecked",
    "the platform's fee is taken from just-in-time funding in any currency",
    skipped(quotes, "refuse_foreign_override", lambda order: order.source.kind == "REALTIME"),
)


# --- Parts of patches -----------------------------------------------------------------------


def _instructions(quote: Quote) -> list[Json] | None:
    return quote.instructions or None
