"""What mutants of several webhooks have in common."""

from __future__ import annotations

from conformance.reference.internal_accounts import accounts
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.unit import Unit

OUTGOING = "OUTGOING_PAYMENT."


def is_of_business(unit: Unit, row: Quote | Transaction) -> bool:
    """Return whether it is a business whose money a quote or a transaction moves."""
    owner = unit.session.get(Customer, row.customer_id or "")
    return owner is not None and owner.customer_type == "BUSINESS"


def is_from_a_wallet(unit: Unit, row: Quote | Transaction) -> bool:
    """Return whether a quote or a transaction pays from an embedded wallet."""
    account = accounts.find(unit, str(row.source.get("accountId")))
    return account is not None and account.type == "EMBEDDED_WALLET"
