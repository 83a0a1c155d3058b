"""The grounds of the operations of internal accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import TRANSFER, money_of, query_of_customer
from conformance.platform.platform import Platform
from conformance.platform.resource import fill_template


def _create_internal_account(platform: Platform) -> Ground:
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)
    return Ground(
        body=body,
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.rule_based.create(body),
        state=lambda: sorted(
            str(row.get("id")) for row in platform.internal_accounts.of_customer(home.owner)
        ),
    )


def _fund(platform: Platform) -> Ground:
    account = platform.internal_accounts.account(amount=0)
    words = {"{amount}": TRANSFER, "{currency}": platform.profile.currency}
    return Ground(
        path={"accountId": account["id"]},
        right=fill_template(platform.profile.bindings.fund, words),
        state=money_of(platform, account),
    )


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "listCustomerInternalAccounts": query_of_customer,
    "createInternalAccount": _create_internal_account,
    "fundInternalAccount": _fund,
}
