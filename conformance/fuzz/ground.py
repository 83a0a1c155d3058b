"""Grounds: live resources by which generated requests get past the look-ups to the logic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.client.stablecoins import Kind
from conformance.client.transfers import Direction
from conformance.verdict.decisions import ResourceMissing

Json = dict[str, Any]

_DEPOSIT = 100_000


@dataclass(frozen=True)
class Ground:
    """What exists on the target for the requests of one operation.

    ``path`` and ``query`` are values of parameters, ``live`` values of members by their dotted
    paths. ``body`` is a valid one (of a form, its parts), and ``twin`` sends one that the operation
    accepts. In a value of ``headers``, ``{key}`` stands for a text of each request's own.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, Any] = field(default_factory=dict)
    body: Json = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    twin: Callable[[], Answer] | None = None


def ground(name: str, platform: Platform) -> Ground:
    """Return the ground of an operation, laid out anew."""
    return GROUNDS[name](platform) if name in GROUNDS else Ground()


def _owner(platform: Platform) -> Json:
    return platform.customer()


def _account(platform: Platform) -> Json:
    funded = "deposit.arrive" in platform.profile.triggers
    return platform.account(amount=_DEPOSIT if funded else 0)


def _create_quote(platform: Platform) -> Ground:
    source = _account(platform)
    body = platform.quote_body(source)
    return Ground(
        live={
            "source.accountId": source["id"],
            "source.customerId": source["customerId"],
            "source.currency": platform.profile.resources.realtime_currency,
            "destination.accountId": body["destination"]["accountId"],
        },
        body=body,
        twin=lambda: platform.create_quote(body),
    )


def _execute_quote(platform: Platform) -> Ground:
    return Ground(path={"quoteId": platform.quote(_account(platform))["id"]})


def _authorize_quote(platform: Platform) -> Ground:
    can_challenge = "deposit.arrive" in platform.profile.triggers and platform.profile.features.sca
    quote = platform.challenged() if can_challenge else platform.quote(_account(platform))
    return Ground(
        path={"quoteId": quote["id"]},
        body={"code": platform.profile.bindings.sca_wrong_code},
        # With a quote of its own: the proofs before may have locked the other's customer out.
        twin=lambda: platform.authorize(platform.challenged()),
    )


def _approve_transaction(platform: Platform) -> Ground:
    quote = platform.quote(_account(platform))
    return Ground(path={"transactionId": quote["transactionId"]})


def _create_customer(platform: Platform) -> Ground:
    body = platform.customer_body(endUserTermsConsent=platform.terms_consent())
    return Ground(body=body, twin=lambda: platform.create_customer(body))


def _of_customer(platform: Platform) -> Ground:
    return Ground(path={"customerId": _owner(platform)["id"]})


def _by_customer(platform: Platform) -> Ground:
    return Ground(query={"customerId": _owner(platform)["id"]})


def _create_external_account(platform: Platform) -> Ground:
    owner = _owner(platform)
    body = platform.destination_body(owner)
    return Ground(
        live={"customerId": owner["id"], "currency": body["currency"]},
        body=body,
        twin=lambda: platform.create_external_account(body),
    )


def _of_external_account(platform: Platform) -> Ground:
    owner = _owner(platform)
    account = platform.destination(owner)["id"]
    return Ground(
        path={"externalAccountId": account, "accountId": account},
        query={"customerId": owner["id"], "sendingCurrency": platform.currency},
    )


def _untrust(platform: Platform) -> Ground:
    if not platform.triggers.maps("beneficiary.trust"):
        return _of_external_account(platform)
    account = platform.trusted(platform.truster())
    return Ground(path={"externalAccountId": account["id"]})


def _confirm(operation: str) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        here = _untrust(platform)
        account = {"id": here.path["externalAccountId"]}
        platform.untrust(account)
        # A path of which the specification means the other reading may be answered by anybody.
        if not platform.serves_confirmation(operation, account):
            raise ResourceMissing(f"{operation} is not served")
        return replace(here, body=platform.confirmation_body(right=False))

    return lay


def _prove(platform: Platform) -> Ground:
    if not platform.triggers.maps("ownership.demand"):
        return _of_external_account(platform)
    account = platform.unproven(platform.payer())
    return Ground(
        path={"externalAccountId": account["id"]},
        body=dict(platform.profile.bindings.ownership_challenges.get("signature", {})),
    )


def _verify(platform: Platform) -> Ground:
    here = _prove(platform)
    platform.start_proof({"id": here.path["externalAccountId"]}, "signature")
    return replace(here, body=platform.proof_body(right=False))


def _fund(platform: Platform) -> Ground:
    return Ground(path={"accountId": platform.account(amount=0)["id"]})


def _transfer(direction: Direction) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        account = _account(platform)
        ends = [account, platform.destination({"id": account["customerId"]})]
        source, destination = reversed(ends) if direction == "in" else ends
        return Ground(body=platform.transfer_body(direction, source, destination, 1_000))

    return lay


def _create_kyc_link(platform: Platform) -> Ground:
    customer = platform.applicant()
    return Ground(
        path={"customerId": customer["id"]},
        body={"redirectUri": platform.profile.bindings.redirect_uri},
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.create_kyc_link(customer),
    )


def _of_channel(channel: str) -> Callable[[Platform], Ground]:
    def confirm(platform: Platform) -> Answer:
        customer = platform.contact_customer(channel)
        platform.send(customer, channel)
        return platform.confirm_code(customer, channel)

    def lay(platform: Platform) -> Ground:
        customer = platform.contact_customer(channel)
        platform.send(customer, channel)
        return Ground(
            path={"customerId": customer["id"]},
            body={"code": platform.profile.bindings.contact_wrong_code},
            # With a customer of its own: the codes before may have locked the other one out.
            twin=lambda: confirm(platform),
        )

    return lay


def _create_owner(platform: Platform) -> Ground:
    business = platform.applicant(business=True)
    body = platform.owner_body(business)
    return Ground(
        live={"customerId": business["id"]}, body=body, twin=lambda: platform.create_owner(body)
    )


def _create_document(platform: Platform) -> Ground:
    form = platform.document_form(platform.applicant())
    return Ground(
        live={name: form[name] for name in ("documentHolder", "documentType")},
        body=form,
        twin=lambda: platform.create_document(form),
    )


def _create_verification(platform: Platform) -> Ground:
    customer = platform.applicant()
    return Ground(
        live={"customerId": customer["id"]},
        body={"customerId": customer["id"]},
        twin=lambda: platform.submit(customer),
    )


def _create_internal_account(platform: Platform) -> Ground:
    home = platform.home()
    body = platform.rule_based_body(home)
    return Ground(
        body=body,
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.create_internal_account(body),
    )


def _start_factor_reset(platform: Platform) -> Ground:
    customer = platform.factor_holder()
    names = platform.profile.bindings
    return Ground(
        query={"customerId": customer["id"]},
        live={"factor": names.reset_factor},
        body={"factor": names.reset_factor, "endUserIpAddress": names.end_user_ip},
        # Of a customer of its own: the other may have started too many.
        twin=lambda: platform.start_reset(platform.factor_holder()),
    )


def _of_factor_reset(platform: Platform) -> Ground:
    passes = platform.triggers.maps("factor_reset.pass")
    reset = platform.passed_reset() if passes else platform.factor_reset()
    return Ground(
        path={"resetId": reset["resetId"]},
        query={"customerId": reset["customerId"]},
        body=platform.completion_body(reset),
        twin=lambda: platform.complete_reset(platform.passed_reset()),
    )


def _login(platform: Platform) -> Ground:
    return Ground(query={"customerId": platform.sca_customer()["id"]})


def _of_stablecoin(kind: Kind) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        coin = platform.coin(kind)
        return Ground(path={"stablecoinId": coin.id}, body=platform.operation_body(kind, coin))

    return lay


def _create_stablecoin(platform: Platform) -> Ground:
    return Ground(body=platform.operation_body("register", platform.registered()))


def _reverse_return(platform: Platform) -> Ground:
    if not all(map(platform.triggers.maps, ("deposit.arrive", "card.issue", "card.authorize"))):
        return Ground()
    card = platform.card()
    path, body = platform.return_reversal(card, platform.approved_purchase(card)["id"])
    return Ground(path=path, body=body)


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createQuote": _create_quote,
    "executeQuote": _execute_quote,
    "authorizeQuote": _authorize_quote,
    "approveTransaction": _approve_transaction,
    "createCustomer": _create_customer,
    "getCustomer": _of_customer,
    "updateCustomer": _of_customer,
    "listCustomerInternalAccounts": _by_customer,
    "listCustomerExternalAccounts": _by_customer,
    "createExternalAccount": _create_external_account,
    "getExternalAccount": _of_external_account,
    "deleteExternalAccount": _of_external_account,
    "lookupExternalAccount": _of_external_account,
    "untrustBeneficiary": _untrust,
    "confirmUntrust": _confirm("confirmUntrust"),
    "confirmBeneficiary": _confirm("confirmBeneficiary"),
    "challengeOwnership": _prove,
    "verifyOwnership": _verify,
    "createInternalAccount": _create_internal_account,
    "fundInternalAccount": _fund,
    "simulateReturnReversal": _reverse_return,
    "transferIn": _transfer("in"),
    "transferOut": _transfer("out"),
    "createKycLink": _create_kyc_link,
    "sendEmailCode": _of_channel("email"),
    "confirmEmail": _of_channel("email"),
    "sendPhoneCode": _of_channel("phone"),
    "confirmPhone": _of_channel("phone"),
    "createBeneficialOwner": _create_owner,
    "createDocument": _create_document,
    "createVerification": _create_verification,
    "listVerifications": _by_customer,
    "startFactorReset": _start_factor_reset,
    "getFactorReset": _of_factor_reset,
    "completeFactorReset": _of_factor_reset,
    "completeScaLogin": _login,
    "createStablecoin": _create_stablecoin,
    "mintStablecoin": _of_stablecoin("mint"),
    "burnStablecoin": _of_stablecoin("burn"),
    "listStablecoinOperations": _of_stablecoin("mint"),
}
"""How the ground of each operation is laid; an operation without needs none."""
