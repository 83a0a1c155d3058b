"""Mutants of the webhooks of one kind of payment, or about one cause of its failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, skipped
from conformance.proof.kit.edits import Edit, put, shows, turned, where, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.webhooks.toolkit import is_from_a_wallet, is_of_business
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Unit

Which = Callable[[Unit, Transaction], bool]


def _is_immediate(_unit: Unit, row: Transaction) -> bool:
    return row.executed_at == row.created_at


def _is_authorized(unit: Unit, row: Transaction) -> bool:
    return unit.session.get_one(Quote, row.quote_id).challenge_id is not None


def _is_approved(unit: Unit, row: Transaction) -> bool:
    return unit.session.get_one(Quote, row.quote_id).agent_initiated


def _is_pulled(unit: Unit, row: Transaction) -> bool:
    return unit.session.get_one(Quote, row.quote_id).source_kind == "EXTERNAL"


def _is_of_platform(_unit: Unit, row: Transaction) -> bool:
    return row.customer_id is None


def _is_just_in_time(_unit: Unit, row: Transaction) -> bool:
    return row.source.get("sourceType") == "REALTIME_FUNDING"


def _is_to_a_wallet(unit: Unit, row: Transaction) -> bool:
    account = externals.find(unit, str(row.destination.get("accountId")))
    return account is not None and account.account_type.endswith("_WALLET")


def _is_limited(_unit: Unit, row: Transaction) -> bool:
    return row.failure_reason == "LIMIT_EXCEEDED"


def _was_held(unit: Unit, row: Transaction) -> bool:
    return settlement.result_of(unit, unit.session.get_one(Quote, row.quote_id)).held


def _untold(which: Which, told: str) -> Apply:
    """Return the patch that reports one happening of some payments to nobody."""
    return skipped(
        transactions,
        "announce",
        lambda unit, row, happening: happening == told and which(unit, row),
    )


for _id, _name, _happening, _which in (
    ("EVT-010", "business", "PROCESSING", is_of_business),
    ("EVT-011", "business", "COMPLETED", is_of_business),
    ("EVT-010", "approved", "PROCESSING", _is_approved),
    ("EVT-011", "approved", "COMPLETED", _is_approved),
    ("EVT-012", "immediate", "FAILED", _is_immediate),
    ("EVT-012", "business", "FAILED", is_of_business),
    ("EVT-012", "pulled", "FAILED", _is_pulled),
    ("EVT-013", "authorized", "REFUND_PENDING", _is_authorized),
    ("EVT-010", "of-platform", "PROCESSING", _is_of_platform),
    ("EVT-011", "of-platform", "COMPLETED", _is_of_platform),
    ("EVT-011", "held", "COMPLETED", _was_held),
    ("EVT-011", "to-a-wallet", "COMPLETED", _is_to_a_wallet),
    ("EVT-012", "to-a-wallet", "FAILED", _is_to_a_wallet),
    ("EVT-014", "to-a-wallet", "REFUND_COMPLETED", _is_to_a_wallet),
    ("EVT-012", "of-platform", "FAILED", _is_of_platform),
    ("EVT-013", "of-platform", "REFUND_PENDING", _is_of_platform),
    ("EVT-014", "of-platform", "REFUND_COMPLETED", _is_of_platform),
    ("EVT-013", "limited", "REFUND_PENDING", _is_limited),
    ("EVT-014", "immediate", "REFUND_COMPLETED", _is_immediate),
    ("EVT-014", "limited", "REFUND_COMPLETED", _is_limited),
    ("EVT-010", "from-a-wallet", "PROCESSING", is_from_a_wallet),
    *(
        (requirement, name, happening, which)
        for requirement, happening in (
            ("EVT-012", "FAILED"),
            ("EVT-013", "REFUND_PENDING"),
            ("EVT-014", "REFUND_COMPLETED"),
        )
        for name, which in (("approved", _is_approved), ("from-a-wallet", is_from_a_wallet))
    ),
    ("EVT-015", "immediate", "REFUND_FAILED", _is_immediate),
    ("EVT-015", "authorized", "REFUND_FAILED", _is_authorized),
    ("EVT-015", "of-platform", "REFUND_FAILED", _is_of_platform),
):
    declare(
        _id,
        f"{_name}-untold",
        f"{_happening} is told to nobody where a payment is {_name}",
        _untold(_which, _happening),
    )


def _told_wrongly(which: Which, edit: Edit) -> Apply:
    """Return the patch by which webhooks show some payments otherwise than the list does."""

    def patch(patch: Patch) -> None:
        edits: list[Edit] = []

        def announce(original: Function, unit: Unit, row: Transaction, happening: str) -> None:
            wrong = which(unit, row)
            if wrong:
                edits.append(edit)
            try:
                original(unit, row, happening)
            finally:
                if wrong:
                    edits.pop()

        def view(original: Callable[[Transaction], Json], row: Transaction) -> Any:
            body = original(row)
            return edits[-1](body) if edits else body

        patch.wrap(transactions, "announce", announce)
        patch.wrap(transactions, "view", view)

    return patch


for _id, _name, _member, _value, _which in (
    ("EVT-227", "immediate", "quoteId", "Quote:1", _is_immediate),
    ("EVT-222", "immediate", "sentAmount.amount", 1, _is_immediate),
    ("EVT-223", "authorized", "receivedAmount.amount", 1, _is_authorized),
    ("EVT-226", "authorized", "description", "Payment", _is_authorized),
):
    declare(
        _id,
        f"{_name}-other",
        f"webhooks of {_name} payments show another {_member}",
        _told_wrongly(_which, put(_member, _value)),
    )


for _name, _which in (
    ("immediate", _is_immediate),
    ("authorized", _is_authorized),
    ("approved", _is_approved),
    ("pulled", _is_pulled),
    ("real-time", _is_just_in_time),
):
    declare(
        "EVT-022",
        f"{_name}-stale",
        f"webhooks show a payment that is {_name} and completed as it was before",
        _told_wrongly(_which, where(shows("status", "COMPLETED"), put("status", "PROCESSING"))),
    )


_ON_CHAIN = "destination.onChainTransaction"

for _id, _name, _statement, _edit in (
    ("EVT-246", "untold", "no webhook tells where a payment settled", without(_ON_CHAIN)),
    (
        "EVT-247",
        "other",
        "webhooks tell another transactionHash",
        turned(_ON_CHAIN, lambda on_chain: {**on_chain, "transactionHash": "0x0"}),
    ),
    (
        "EVT-845",
        "other",
        "webhooks tell another network",
        turned(_ON_CHAIN, lambda on_chain: {**on_chain, "network": "ETHEREUM"}),
    ),
):
    declare(_id, _name, _statement, _told_wrongly(lambda _unit, _row: True, _edit))


@mutant("EVT-209", "a quote that is not covered is told of as if it were paid")
def uncovered_told(patch: Patch) -> None:
    told: list[Json] = []

    def refuse(original: Function, unit: Unit, quote: Quote) -> None:
        try:
            original(unit, quote)
        except errors.Refusal:
            row = transactions.get(unit, quote.transaction_id)
            aside = Unit(unit.session, unit.settings, unit.seed, unit.now)
            transactions.announce(aside, row, "PROCESSING")
            told.extend(aside.events)
            raise

    def answer(original: Function, service: Service, *arguments: Any) -> Any:
        try:
            return original(service, *arguments)
        finally:
            while told:
                service.deliveries.put(told.pop())

    patch.wrap(quotes, "refuse_unfunded", refuse)
    patch.wrap(Service, "answer", answer)
