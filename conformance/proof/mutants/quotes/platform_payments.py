"""Mutants of payments from the platform's own accounts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, before, edited, together
from conformance.proof.kit.edits import put, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import platform_pays_itself, receivers_asked
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Quote, Transaction
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit, timestamp

_UNPAID = ("PENDING", "EXPIRED")


# --- The platform's own payments ------------------------------------------------------------


def refused() -> errors.Refusal:
    """Return the refusal of a payment that is none of a customer's."""
    return errors.Refusal("CONFLICT", "Payments are for customers.")


@mutant("QUO-600", "only customers' accounts can be quoted", (parties, "source_of"), edited)
def customers_alone(party: parties.Party) -> parties.Party:
    if party.kind == "INTERNAL" and party.customer_id is None:
        raise refused()
    return party


@mutant(
    "QUO-601", "quotes of the platform's own accounts are not executed", (quotes, "start"), before
)
def never_executed(unit: Unit, quote: Quote, *action: rules.Action) -> None:
    if quote.source_kind == "INTERNAL" and quote.customer_id is None:
        raise refused()


declare(
    "QUO-601",
    "receivers-asked",
    "the platform waits for a proof of the customer whom it pays",
    receivers_asked,
)


def _of_platform(quote: Quote) -> bool:
    return quote.customer_id is None


@mutant("QUO-086", "what the platform sends, the service pays", (quotes, "debit_legs"))
def platform_not_debited(original: Function, quote: Quote) -> list[ledger.Leg]:
    debit, held = original(quote)
    if not _of_platform(quote):
        return [debit, held]
    return [replace(debit, account=ledger.system("rail", debit.currency)), held]


@mutant("QUO-089", "what the platform pays arrives nowhere", (settlement, "target_account"))
def platform_pays_nobody(original: Callable[..., str], quote: Quote) -> str:
    if _of_platform(quote):
        return ledger.system("rail", quote.receiving_currency)
    return original(quote)


declare(
    "QUO-110",
    "of-the-platform",
    "a quote of the platform does not expire",
    around(
        quotes,
        "is_expired",
        lambda original, quote, now: not _of_platform(quote) and original(quote, now),
    ),
)


declare(
    "QUO-162",
    "of-the-platform",
    "the platform may pay itself",
    platform_pays_itself,
)


def _shown_of_platform(member: str, value: Any) -> Apply:
    """Return a patch after which quotes of the platform show a member otherwise."""

    def view(original: Function, unit: Unit, quote: Quote) -> Json:
        body: Json = original(unit, quote)
        return put(member, value)(body) if _of_platform(quote) else body

    return around(quotes, "view", view)


for _id, _member, _value in (
    ("QUO-032", "source.accountId", "InternalAccount:8d0cf2a4"),
    ("QUO-034", "destination.accountId", "ExternalAccount:8d0cf2a4"),
    ("QUO-041", "paymentInstructions", [{"accountOrWalletInfo": {"accountType": "US_ACCOUNT"}}]),
    ("QUO-062", "expiresAt", "2099-12-31T00:00:00Z"),
    ("QUO-044", "totalSendingAmount", 10_000_000),
    ("QUO-045", "totalReceivingAmount", 1),
    ("QUO-048", "exchangeRate", 0.98),
    ("QUO-049", "exchangeRate", 0.98),
    ("QUO-050", "feesIncluded", None),
):
    declare(
        _id,
        "of-the-platform",
        f"a quote of the platform shows another {_member}",
        _shown_of_platform(_member, _value),
    )


# --- Challenges, expiry, references ---------------------------------------------------------


@mutant("QUO-602", "a repeated execution ends the challenge", (quotes, "execute"), before)
def challenge_ended(unit: Unit, ask: Ask) -> None:
    quote = unit.session.get(Quote, ask.params["quoteId"])
    if quote is not None and quote.status == "PENDING_AUTHORIZATION":
        quote.status = "FAILED"
        unit.session.commit()
        raise errors.Refusal("INVALID_STATE_TRANSITION", "The quote waits for a proof.")


def once_expired(unit: Unit, customer_id: str | None) -> bool:
    """Return whether a quote of a customer has expired."""
    rows = unit.session.query(Transaction).filter_by(customer_id=customer_id)
    return any(row.status in _UNPAID and row.expires_at <= unit.now for row in rows)


@mutant("QUO-603", "who let a quote expire gets no other one", (quotes, "draft"), before)
def no_second_quote(unit: Unit, order: Any) -> None:
    if once_expired(unit, order.source.customer_id):
        raise errors.Refusal("QUOTE_EXPIRED", "The quote has expired.")


@mutant("QUO-604", "who let a quote expire executes no other one", (quotes, "start"), before)
def no_second_execution(unit: Unit, quote: Quote, *action: rules.Action) -> None:
    if once_expired(unit, quote.customer_id):
        raise errors.Refusal("QUOTE_EXPIRED", "The quote has expired.")


@mutant("QUO-605", "payments are matched by their amount alone")
def any_reference(patch: Patch) -> None:
    patch.replace(settlement, "is_meant", lambda *_: True)


@mutant(
    "QUO-606",
    "after a payment with another reference no payment is matched any more",
    (settlement, "is_meant"),
)
def ended_by_another(
    original: Callable[[Quote, str | None], bool], quote: Quote, reference: str | None
) -> bool:
    meant = bool(quote.instructions) and original(quote, reference)
    if not meant:
        quote.instructions = []
    return meant


@mutant("QUO-607", "all quotes are paid to one account without a reference of their own")
def one_account(patch: Patch) -> None:
    patch.wrap(
        accounts,
        "instructions_for",
        lambda original, currency, _digits: original(currency, "0123456789"),
    )


def fee_across_alone(body: Json) -> Json:
    """Take the platform's fee from a quote within one currency."""
    same = body["sendingCurrency"]["code"] == body["receivingCurrency"]["code"]
    return without("platformFeesIncluded")(body) if same else body


declare(
    "QUO-608",
    "across-alone",
    "the platform's fee is missing",
    edited(quotes, "view", fee_across_alone),
)


# --- What execution leaves as it was --------------------------------------------------------


EXECUTED: tuple[tuple[str, str, Any], ...] = (
    ("QUO-609", "source.accountId", "InternalAccount:8d0cf2a4"),
    ("QUO-610", "destination.accountId", "ExternalAccount:8d0cf2a4"),
    ("QUO-611", "expiresAt", "2099-12-31T00:00:00Z"),
    ("QUO-612", "createdAt", "2025-10-13T00:00:00Z"),
    ("QUO-613", "receivingCurrency.code", "XXX"),
    ("QUO-614", "description", "Payout"),
    ("QUO-902", "description", None),
)
"""Requirement, member of a quote, and what it is once the quote is executed."""


def _cut_to_seconds(quote: Json) -> Json:
    return {**quote, "createdAt": f"{quote['createdAt'][:19]}Z"}


def _created_by_executing(original: Handler, unit: Unit, ask: Ask) -> Any:
    return _cut_to_seconds({**original(unit, ask), "createdAt": timestamp(unit.now)})


declare(
    "QUO-612",
    "whole-seconds",
    "a quote shows whole seconds, and once it is executed those of its execution",
    together(
        edited(quotes, "create", _cut_to_seconds),
        around(quotes, "execute", _created_by_executing),
    ),
)
for _id, _path, _value in EXECUTED:
    declare(
        _id,
        f"{_path.replace('.', '-')}-otherwise",
        f"execution changes the {_path}",
        edited(quotes, "execute", put(_path, _value)),
    )
