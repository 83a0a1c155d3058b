"""What mutants of several modules change in internal accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, around
from conformance.proof.kit.edits import Edit
from conformance.proof.kit.tables import with_columns
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, money
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts, rule_based
from conformance.reference.store import InternalAccount
from conformance.reference.unit import Ask, Reply, Unit

EURO = money.currency_view("EUR")


def siblings(unit: Unit, account: InternalAccount) -> list[InternalAccount]:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == account.customer_id, InternalAccount.id != account.id
    )
    return list(unit.session.scalars(query))


def answered(change: Callable[[Reply], Reply]) -> Apply:
    """Return a patch after which what is created is answered in another way."""
    return around(rule_based, "create", lambda create, unit, ask: change(create(unit, ask)))


def shown(edit: Edit) -> Apply:
    """Return a patch after which what is created is shown as ``edit`` makes it."""
    return answered(lambda reply: Reply(reply.status, edit(deepcopy(reply.body))))


def labelled(label: Callable[[str | None], str | None]) -> Apply:
    """Return a patch after which the label of what is created is shown as ``label`` makes it."""
    return shown(lambda body: {**body, "label": label(body["label"])})


def rowed(path: str, **changes: Any) -> Apply:
    """Return a patch of the rule of one member."""
    return with_columns(rule_based, "ACCOUNT_FIELDS", path, **changes)


def crediting(change: Function) -> Apply:
    """Return a patch after which deposits are booked as ``change`` does it.

    It takes the unit, the account, the amount and the function that books.
    """
    return around(
        accounts,
        "credit",
        lambda credit, unit, account, amount: change(unit, account, amount, credit),
    )


def stranger(unit: Unit, account: InternalAccount) -> InternalAccount | None:
    """Return the account that another customer was given last."""
    query = select(InternalAccount).where(
        InternalAccount.customer_id.is_not(None),
        InternalAccount.customer_id != account.customer_id,
        InternalAccount.currency == account.currency,
    )
    return unit.session.scalar(query.order_by(InternalAccount.created_at.desc()).limit(1))


def deposited(change: Callable[[int], int]) -> Apply:
    """Return a patch after which another amount arrives than was deposited."""

    def patch(patch: Patch) -> None:
        patch.wrap(
            accounts,
            "credit",
            lambda original, unit, account, amount: original(unit, account, change(amount)),
        )

    return patch


def made(unit: Unit, body: Json) -> None:
    """Open an account for the holder in a body, as if nothing were wrong with it."""
    rule_based.mint(unit, customers.get(unit, body["customerId"]), {**body, "type": "RULE_BASED"})


def despite(code: str, make: Callable[[Unit, Ask], None]) -> Apply:
    """Return a patch after which something is made although a request is refused with a code."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != code or not isinstance(ask.body, dict):
                raise
            make(unit, ask)
            raise errors.Rejection(refusal.code, refusal.reason) from refusal

    return around(rule_based, "create", create)


INFO = "fundingPaymentInstructions.*.accountOrWalletInfo"


def key_without_marks(_unit: Unit, ask: Ask) -> None:
    """Refuse an ``Idempotency-Key`` that has more than letters, digits and hyphens."""
    if not re.fullmatch("[A-Za-z0-9-]*", ask.headers.get("idempotency-key", "")):
        raise errors.invalid_input(errors.field_error("Idempotency-Key", "This is no key."))
