"""What mutants of several modules change in external accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlalchemy import select

from conformance.proof.kit.builders import Json, Place, around, instead
from conformance.proof.kit.tables import with_status
from conformance.proof.patch import Apply
from conformance.reference import errors, money
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import limits
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Unit

Reach = Callable[[Unit, ExternalAccount, str], None]


Move = tuple[str, str]


UNPROVEN = "PENDING_OWNERSHIP_VERIFICATION"


WAITS_NO_MORE: Move = ("PENDING", "ACTIVE")


REVIEWED: Move = ("ACTIVE", "UNDER_REVIEW")


APPROVED: Move = ("UNDER_REVIEW", "ACTIVE")


DISABLED: Move = ("ACTIVE", "INACTIVE")


DEMANDED: Move = ("ACTIVE", UNPROVEN)


PROVED: Move = (UNPROVEN, "ACTIVE")


DISPROVED: Move = (UNPROVEN, "UNVERIFIED")


def moving(move: Move, otherwise: Reach) -> Apply:
    """Return a patch after which something else happens in the place of one move."""

    def other(reach: Reach, unit: Unit, account: ExternalAccount, status: str) -> None:
        if (account.status, status) == move:
            otherwise(unit, account, status)
        else:
            reach(unit, account, status)

    return around(externals, "reach", other)


def _unproven_refused_by(code: str) -> Apply:
    def refuse(_unit: Unit, _amount: int, _currency: str) -> None:
        raise errors.Refusal(code, "The account cannot receive.")

    return instead(limits, "refuse_unproven", refuse)


REFUSED_UNPROVEN: tuple[tuple[str, str, Apply], ...] = (
    *(
        (
            code.lower(),
            f"an account that is not proved is refused with {code}",
            _unproven_refused_by(code),
        )
        for code in ("INVALID_BANK_ACCOUNT", "CONFLICT")
    ),
    (
        "conflict-status",
        "an account that is not proved is a conflict",
        with_status("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", 409),
    ),
)
"""How an account that is not proved is refused otherwise: name, statement and change."""


CREATE: Place = (externals, "create")


def siblings(unit: Unit, account: ExternalAccount) -> Iterable[ExternalAccount]:
    """Return all accounts of an account's owner, the oldest first."""
    query = select(ExternalAccount).where(ExternalAccount.customer_id == account.customer_id)
    return unit.session.scalars(query.order_by(ExternalAccount.created_at))


def priced_unseen(original: Callable[[Unit, Json], str], unit: Unit, query: Json) -> str:
    """Price a lookup without a look at its sender where it names the currency to send."""
    named = query.get("sendingCurrency")
    return money.currency_of(named).code if named else original(unit, query)
