"""Mutants of the platform's own payments, and of what transactions and quotes tell beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.fields import edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, parties, rules, transactions
from conformance.reference.store import ExternalAccount, Quote, Transaction
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]

_REFERENCE = "conformance.reference"
_QUOTE = f"{_REFERENCE}.quotes:view"
_TRANSACTION = f"{_REFERENCE}.transactions:view"
_UNPAID = ("PENDING", "EXPIRED")


# --- The platform's own payments ------------------------------------------------------------


def refused() -> errors.Refusal:
    """Return the refusal of a payment that is none of a customer's."""
    return errors.Refusal("CONFLICT", "Payments are for customers.")


@mutant("QUO-600", "only customers' accounts can be quoted")
def customers_alone(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Json], parties.Party]) -> Any:
        def source_of(unit: Unit, source: Json) -> parties.Party:
            party = original(unit, source)
            if party.kind == "INTERNAL" and party.customer_id is None:
                raise refused()
            return party

        return source_of

    patch.wrap(f"{_REFERENCE}.parties:source_of", wrapper)


@mutant("QUO-601", "quotes of the platform's own accounts are not executed")
def never_executed(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def start(unit: Unit, quote: Quote, *action: rules.Action) -> None:
            if quote.source_kind == "INTERNAL" and quote.customer_id is None:
                raise refused()
            original(unit, quote, *action)

        return start

    patch.wrap(f"{_REFERENCE}.quotes:start", wrapper)


@mutant("TRX-600", "payouts of the platform's own money do not settle")
def never_settled(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def settle(unit: Unit, transaction_id: str, *, released: bool = False) -> None:
            if transactions.get(unit, transaction_id).customer_id is not None:
                original(unit, transaction_id, released=released)

        return settle

    patch.wrap(f"{_REFERENCE}.settlement:settle", wrapper)


@mutant("EXT-600", "payouts to accounts that no customer owns fail")
def ownerless(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], rules.PayoutResult]) -> Any:
        def result_of(unit: Unit, quote: Quote) -> rules.PayoutResult:
            account = unit.session.get(ExternalAccount, quote.destination.get("accountId"))
            if account is not None and account.customer_id is None:
                return rules.PAYOUT_RESULTS["UNKNOWN"]
            return original(unit, quote)

        return result_of

    patch.wrap(f"{_REFERENCE}.settlement:result_of", wrapper)


def failing(*types: str) -> Callable[[Patch], None]:
    """Return a patch after which payouts to accounts of some types fail."""

    def wrapper(original: Callable[[Unit, Quote], rules.PayoutResult]) -> Any:
        def result_of(unit: Unit, quote: Quote) -> rules.PayoutResult:
            account = unit.session.get(ExternalAccount, quote.destination.get("accountId"))
            if account is not None and account.account_type in types:
                return rules.PAYOUT_RESULTS["UNKNOWN"]
            return original(unit, quote)

        return result_of

    return lambda patch: patch.wrap(f"{_REFERENCE}.settlement:result_of", wrapper)


for _id, _types in {
    "EXT-601": ("USD_ACCOUNT", "MXN_ACCOUNT", "EUR_ACCOUNT"),
    "EXT-602": ("RWF_ACCOUNT",),
    "EXT-603": ("SOLANA_WALLET", "SPARK_WALLET"),
    "EXT-604": ("LIGHTNING",),
}.items():
    declare(_id, "unpaid", f"payouts to {_types[0]} fail", failing(*_types))


# --- What a transaction tells ---------------------------------------------------------------


def told(member: str, value: Any) -> Callable[[Patch], None]:
    """Return a patch after which completed transactions show a member."""

    def edit(body: Json) -> Json:
        return put(member, value)(body) if body.get("status") == "COMPLETED" else body

    return edited(_TRANSACTION, edit)


for _id in ("TRX-601", "TRX-605"):
    declare(
        _id,
        "kept",
        "a completed transaction still says what it waits for",
        told("pendingReason", "COMPLIANCE_REVIEW"),
    )


@mutant("TRX-602", "every payout is said to have settled on a chain")
def always_on_chain(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.settlement:network_of",
        lambda original: lambda unit, quote: original(unit, quote) or "SOLANA",
    )


declare(
    "TRX-603",
    "no-reference",
    "a refund has no reference",
    edited(_TRANSACTION, taken("refund.reference")),
)


@mutant("TRX-604", "where a payment from a wallet was settled is not kept")
def deposit_off_chain(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:record_deposit", lambda *_: None)


# --- Challenges, expiry, references ---------------------------------------------------------


@mutant("QUO-602", "a repeated execution ends the challenge")
def challenge_ended(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Ask], Any]) -> Any:
        def execute(unit: Unit, ask: Ask) -> Any:
            quote = unit.session.get(Quote, ask.params["quoteId"])
            if quote is not None and quote.status == "PENDING_AUTHORIZATION":
                quote.status = "FAILED"
                unit.session.commit()
                raise errors.Refusal("INVALID_STATE_TRANSITION", "The quote waits for a proof.")
            return original(unit, ask)

        return execute

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


def once_expired(unit: Unit, customer_id: str | None) -> bool:
    """Return whether a quote of a customer has expired."""
    rows = unit.session.query(Transaction).filter_by(customer_id=customer_id)
    return any(row.status in _UNPAID and row.expires_at <= unit.now for row in rows)


@mutant("QUO-603", "who let a quote expire gets no other one")
def no_second_quote(patch: Patch) -> None:
    def wrapper(original: Callable[..., Quote]) -> Any:
        def draft(unit: Unit, order: Any) -> Quote:
            if once_expired(unit, order.source.customer_id):
                raise errors.Refusal("QUOTE_EXPIRED", "The quote has expired.")
            return original(unit, order)

        return draft

    patch.wrap(f"{_REFERENCE}.quotes:draft", wrapper)


@mutant("QUO-604", "who let a quote expire executes no other one")
def no_second_execution(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def start(unit: Unit, quote: Quote, *action: rules.Action) -> None:
            if once_expired(unit, quote.customer_id):
                raise errors.Refusal("QUOTE_EXPIRED", "The quote has expired.")
            original(unit, quote, *action)

        return start

    patch.wrap(f"{_REFERENCE}.quotes:start", wrapper)


@mutant("QUO-605", "payments are matched by their amount alone")
def any_reference(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:is_meant", lambda *_: True)


@mutant("QUO-606", "after a payment with another reference no payment is matched any more")
def ended_by_another(patch: Patch) -> None:
    def wrapper(original: Callable[[Quote, str | None], bool]) -> Any:
        def is_meant(quote: Quote, reference: str | None) -> bool:
            meant = bool(quote.instructions) and original(quote, reference)
            if not meant:
                quote.instructions = []
            return meant

        return is_meant

    patch.wrap(f"{_REFERENCE}.settlement:is_meant", wrapper)


@mutant("QUO-607", "all quotes are paid to one account without a reference of their own")
def one_account(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.accounts:instructions_for",
        lambda original: lambda currency, _digits: original(currency, "0123456789"),
    )


def fee_across_alone(body: Json) -> Json:
    """Take the platform's fee from a quote within one currency."""
    same = body["sendingCurrency"]["code"] == body["receivingCurrency"]["code"]
    return taken("platformFeesIncluded")(body) if same else body


declare(
    "QUO-608", "across-alone", "the platform's fee is missing", edited(_QUOTE, fee_across_alone)
)


# --- What execution leaves as it was --------------------------------------------------------

EXECUTED: tuple[tuple[str, str, Any], ...] = (
    ("QUO-609", "source.accountId", "InternalAccount:8d0cf2a4"),
    ("QUO-610", "destination.accountId", "ExternalAccount:8d0cf2a4"),
    ("QUO-611", "expiresAt", "2099-12-31T00:00:00Z"),
    ("QUO-612", "createdAt", "2025-10-13T00:00:00Z"),
    ("QUO-613", "receivingCurrency.code", "XXX"),
    ("QUO-614", "description", "Payout"),
)
"""Requirement, member of a quote, and what it is once the quote is executed."""

for _id, _path, _value in EXECUTED:
    declare(
        _id,
        f"{_path.replace('.', '-')}-otherwise",
        f"execution changes the {_path}",
        edited(f"{_REFERENCE}.quotes:execute", put(_path, _value)),
    )

declare(
    "TRX-606",
    "before-its-time",
    "a transaction settles before it is created",
    edited(
        _TRANSACTION,
        lambda body: {**body, "settledAt": "2025-10-13T00:00:00Z"} if "settledAt" in body else body,
    ),
)
