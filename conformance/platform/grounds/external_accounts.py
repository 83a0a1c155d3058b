"""The grounds of the operations of external accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import (
    approved_customer,
    external_account_of,
    query_of_customer,
)
from conformance.platform.platform import Platform
from conformance.testdata.accounts import account_examples
from conformance.verdict.decisions import (
    ResourceMissing,
)


def _create_external_account(platform: Platform) -> Ground:
    owner = approved_customer(platform)
    body = platform.external_accounts.body(owner)
    return Ground(
        live={"customerId": owner["id"], "currency": body["currency"]},
        body=body,
        twin=lambda: platform.api.create_external_account(body),
        state=lambda: sorted(
            str(row.get("id")) for row in platform.external_accounts.of_customer(owner)
        ),
    )


def _of_external_account(platform: Platform) -> Ground:
    owner = approved_customer(platform)
    account = platform.external_accounts.account(owner)
    return Ground(
        path={"externalAccountId": account["id"], "accountId": account["id"]},
        query={"customerId": owner["id"], "sendingCurrency": platform.profile.currency},
        state=external_account_of(platform, account),
    )


def _untrust(platform: Platform) -> Ground:
    if not platform.triggers.maps("beneficiary.trust"):
        return _of_external_account(platform)
    account = platform.trust.trusted(platform.trust.customer())
    return Ground(
        path={"externalAccountId": account["id"]},
        right=dict(platform.profile.bindings.untrust),
    )


def _confirm(operation: str) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        here = _untrust(platform)
        account = {"id": here.path["externalAccountId"]}
        platform.trust.ask_to_untrust(account)
        # A path of which the specification means the other reading may be answered by anybody.
        if not platform.trust.serves_confirmation(operation, account):
            raise ResourceMissing(f"{operation} is not served")
        # The wrong code that told so may have ended the untrusting.
        platform.trust.ask_to_untrust(account)
        return replace(
            here,
            body=platform.trust.confirmation_body(account, right=False),
            right=platform.trust.confirmation_body(account),
        )

    return lay


def _prove(platform: Platform) -> Ground:
    if not platform.triggers.maps("ownership.demand"):
        return _of_external_account(platform)
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    return Ground(
        path={"externalAccountId": account["id"]},
        body=dict(platform.profile.bindings.ownership_challenges.get("signature", {})),
    )


def _verify(platform: Platform) -> Ground:
    here = _prove(platform)
    account = {"id": here.path["externalAccountId"]}
    started = platform.ownership.start(account, "signature")
    return replace(
        here,
        body=platform.ownership.body(account, started, right=False),
        right=platform.ownership.body(account, started) if platform.ownership.can_sign else None,
        state=external_account_of(platform, account),
    )


def _list_discoveries(_: Platform) -> Ground:
    examples = account_examples().values()
    known = {one.country: one.currency for one in examples if one.country is not None}
    country = min(known)
    return Ground(asking={"country": country, "currency": known[country]})


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "listCustomerExternalAccounts": query_of_customer,
    "createExternalAccount": _create_external_account,
    "getExternalAccount": _of_external_account,
    "deleteExternalAccount": _of_external_account,
    "lookupExternalAccount": _of_external_account,
    "untrustBeneficiary": _untrust,
    "confirmUntrust": _confirm("confirmUntrust"),
    "confirmBeneficiary": _confirm("confirmBeneficiary"),
    "challengeOwnership": _prove,
    "verifyOwnership": _verify,
    "listDiscoveries": _list_discoveries,
}
