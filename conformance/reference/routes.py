"""The operations: where each is served, by which function, with which success status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.reference import control, invitations, platform
from conformance.reference.authentication import agents, factor_resets, logins
from conformance.reference.cards import card_simulators, cards
from conformance.reference.customers import onboarding
from conformance.reference.embedded_wallets import credentials, devices
from conformance.reference.external_accounts import externals, ownership, receivers, trust
from conformance.reference.internal_accounts import accounts, rule_based
from conformance.reference.quotes import quotes, transfers
from conformance.reference.stablecoins import stablecoin_control, stablecoins
from conformance.reference.transactions import deposit_returns, transactions
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import contact, documents, kyc_links, owners, verifications

if TYPE_CHECKING:
    from types import ModuleType

Handler = Callable[[Unit, Ask], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``path`` is relative to the base URL, or to the origin under ``/control``."""

    id: str
    method: str
    path: str
    module: ModuleType
    function: str
    status: int = 200
    body: bool = False
    form: bool = False
    """Whether the body is a multipart form instead of JSON."""

    @property
    def handler(self) -> Handler:
        """The function that serves it, as its module has it now."""
        handler: Handler = getattr(self.module, self.function)
        return handler


_CUSTOMER = "/customers/{customerId}"
_EXTERNAL = "/customers/external-accounts"
_ONE_EXTERNAL = f"{_EXTERNAL}/{{externalAccountId}}"
_ONE_RESET = "/sca/factors/reset/{resetId}"
_STABLECOIN = "/stablecoins/{stablecoinId}"
_SIMULATE = "/sandbox/cards/{id}/simulate"

# A path that another would match as well comes before it.
OPERATIONS: dict[str, Operation] = {
    row.id: row
    for row in (
        Operation("getEndUserTerms", "GET", "/customers/end-user-terms", onboarding, "terms"),
        Operation(
            "listCustomerInternalAccounts",
            "GET",
            "/customers/internal-accounts",
            accounts,
            "list_for_customers",
        ),
        Operation("createExternalAccount", "POST", _EXTERNAL, externals, "create", 201, body=True),
        Operation(
            "listCustomerExternalAccounts", "GET", _EXTERNAL, externals, "list_for_customers"
        ),
        Operation(
            "getExternalAccount", "GET", f"{_EXTERNAL}/{{externalAccountId}}", externals, "read"
        ),
        Operation(
            "deleteExternalAccount",
            "DELETE",
            f"{_EXTERNAL}/{{externalAccountId}}",
            externals,
            "remove",
            204,
        ),
        Operation("untrustBeneficiary", "POST", f"{_ONE_EXTERNAL}/untrust", trust, "untrust"),
        Operation(
            "confirmUntrust",
            "POST",
            f"{_ONE_EXTERNAL}/untrust/confirm",
            trust,
            "confirm",
            body=True,
        ),
        Operation(
            "confirmBeneficiary", "POST", f"{_ONE_EXTERNAL}/confirm", trust, "confirm", body=True
        ),
        Operation(
            "challengeOwnership",
            "POST",
            f"{_ONE_EXTERNAL}/challenge",
            ownership,
            "challenge",
            201,
            body=True,
        ),
        Operation(
            "verifyOwnership", "POST", f"{_ONE_EXTERNAL}/verify", ownership, "verify", body=True
        ),
        Operation(
            "createInternalAccount",
            "POST",
            "/internal-accounts",
            rule_based,
            "create",
            201,
            body=True,
        ),
        Operation("createCustomer", "POST", "/customers", onboarding, "create", 201, body=True),
        Operation("getCustomer", "GET", _CUSTOMER, onboarding, "read"),
        Operation("updateCustomer", "PATCH", _CUSTOMER, onboarding, "update", body=True),
        Operation(
            "createKycLink", "POST", f"{_CUSTOMER}/kyc-link", kyc_links, "create", 201, body=True
        ),
        Operation("sendEmailCode", "POST", f"{_CUSTOMER}/verify-email", contact, "send_email", 204),
        Operation(
            "confirmEmail",
            "POST",
            f"{_CUSTOMER}/verify-email/confirm",
            contact,
            "confirm_email",
            body=True,
        ),
        Operation("sendPhoneCode", "POST", f"{_CUSTOMER}/verify-phone", contact, "send_phone", 204),
        Operation(
            "confirmPhone",
            "POST",
            f"{_CUSTOMER}/verify-phone/confirm",
            contact,
            "confirm_phone",
            body=True,
        ),
        Operation(
            "createBeneficialOwner", "POST", "/beneficial-owners", owners, "create", 201, body=True
        ),
        Operation("createDocument", "POST", "/documents", documents, "create", 201, form=True),
        Operation(
            "createVerification", "POST", "/verifications", verifications, "create", body=True
        ),
        Operation("listVerifications", "GET", "/verifications", verifications, "list_for_customer"),
        Operation("getConfig", "GET", "/config", platform, "read"),
        Operation("updateConfig", "PATCH", "/config", platform, "update", body=True),
        Operation(
            "listPlatformInternalAccounts",
            "GET",
            "/platform/internal-accounts",
            accounts,
            "list_for_platform",
        ),
        Operation(
            "listPlatformExternalAccounts",
            "GET",
            "/platform/external-accounts",
            externals,
            "list_for_platform",
        ),
        Operation(
            "fundInternalAccount",
            "POST",
            "/sandbox/internal-accounts/{accountId}/fund",
            rule_based,
            "fund",
            body=True,
        ),
        Operation(
            "lookupExternalAccount",
            "GET",
            "/receiver/external-account/{accountId}",
            receivers,
            "lookup",
        ),
        Operation("listDiscoveries", "GET", "/discoveries", receivers, "discoveries"),
        Operation("createQuote", "POST", "/quotes", quotes, "create", 201, body=True),
        Operation("executeQuote", "POST", "/quotes/{quoteId}/execute", quotes, "execute"),
        Operation(
            "authorizeQuote", "POST", "/quotes/{quoteId}/authorize", quotes, "authorize", body=True
        ),
        Operation("listTransactions", "GET", "/transactions", transactions, "list_all"),
        Operation(
            "approveTransaction",
            "POST",
            "/transactions/{transactionId}/approve",
            quotes,
            "approve",
        ),
        Operation("transferIn", "POST", "/transfer-in", transfers, "transfer_in", 201, body=True),
        Operation(
            "transferOut", "POST", "/transfer-out", transfers, "transfer_out", 201, body=True
        ),
        Operation("claimInvitation", "POST", "/invitations/{code}/claim", invitations, "claim"),
        Operation(
            "startFactorReset", "POST", "/sca/factors/reset", factor_resets, "start", 201, body=True
        ),
        Operation("getFactorReset", "GET", _ONE_RESET, factor_resets, "read"),
        Operation(
            "completeFactorReset",
            "POST",
            f"{_ONE_RESET}/complete",
            factor_resets,
            "complete",
            204,
            body=True,
        ),
        Operation("startScaLogin", "POST", "/sca/login", logins, "start", body=True),
        Operation("completeScaLogin", "POST", "/sca/login/complete", logins, "complete", body=True),
        Operation("listStablecoins", "GET", "/stablecoins", stablecoins, "list_all"),
        Operation(
            "createStablecoin", "POST", "/stablecoins", stablecoins, "create", 201, body=True
        ),
        Operation(
            "mintStablecoin", "POST", f"{_STABLECOIN}/mints", stablecoins, "mint", 201, body=True
        ),
        Operation(
            "burnStablecoin", "POST", f"{_STABLECOIN}/burns", stablecoins, "burn", 201, body=True
        ),
        Operation(
            "listStablecoinOperations",
            "GET",
            f"{_STABLECOIN}/operations",
            stablecoins,
            "operations",
        ),
        Operation("addCredential", "POST", "/auth/credentials", credentials, "add", 201, body=True),
        Operation(
            "simulateReturnReversal",
            "POST",
            f"{_SIMULATE}/return_reversal",
            card_simulators,
            "reverse_return",
            202,
            body=True,
        ),
        Operation("issueCard", "POST", "/cards", cards, "issue", 201, body=True),
        Operation("listCards", "GET", "/cards", cards, "list_all"),
        Operation("getCard", "GET", "/cards/{cardId}", cards, "read"),
        Operation("updateCard", "PATCH", "/cards/{cardId}", cards, "update", body=True),
        *(
            Operation(
                f"simulate:{name}",
                "POST",
                f"{_SIMULATE}/{name}",
                card_simulators,
                function,
                202,
                body=True,
            )
            for name, function in (
                ("authorization", "authorize"),
                ("clearing", "clear"),
                ("partial_clearing", "clear_partly"),
                ("force_clearing", "misclear"),
                ("reversal", "reverse"),
                ("authorization_expiry", "lapse"),
                ("return", "return_purchase"),
                ("standalone_return", "refund"),
                ("balance_inquiry", "inquire"),
            )
        ),
    )
}

CONTROL: tuple[Operation, ...] = (
    Operation("", "POST", "/customers/{customerId}/review", control, "review", 204, body=True),
    Operation("", "POST", "/customers/{customerId}/reopening", control, "reopen", 204),
    Operation(
        "",
        "POST",
        "/customers/{customerId}/condition",
        control,
        "condition_customer",
        204,
        body=True,
    ),
    Operation(
        "", "POST", "/customers/{customerId}/hosted-flow", control, "complete_flow", 204, body=True
    ),
    Operation(
        "", "POST", "/customers/{customerId}/code", control, "tell_contact_code", 200, body=True
    ),
    Operation(
        "",
        "POST",
        "/internal-accounts/{accountId}/status",
        control,
        "move_internal_account",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/internal-accounts/{accountId}/pending-deposit",
        control,
        "expect_deposit",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/internal-accounts/{accountId}/returned-deposit",
        deposit_returns,
        "start",
        body=True,
    ),
    Operation("", "POST", "/documents/condition", control, "condition_document", 204, body=True),
    Operation("", "POST", "/paperwork", control, "choose_paperwork", 204, body=True),
    Operation("", "POST", "/rule-based-accounts", control, "choose_rule_based", 204, body=True),
    Operation(
        "",
        "POST",
        "/internal-accounts/{accountId}/sweep",
        control,
        "condition_sweep",
        204,
        body=True,
    ),
    Operation("", "POST", "/quotes/{quoteId}/expire", control, "expire_quote", 204),
    Operation("", "POST", "/quotes/{quoteId}/deposit", control, "deposit", 204, body=True),
    Operation("", "POST", "/quotes/{quoteId}/rate", control, "move_rate", 204, body=True),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/condition",
        control,
        "condition_external_account",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/status",
        control,
        "move_external_account",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/signature",
        control,
        "sign_as_owner",
        200,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/ownership",
        control,
        "conclude_liveness",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/trust",
        control,
        "trust_beneficiary",
        204,
    ),
    Operation(
        "",
        "POST",
        "/external-accounts/{externalAccountId}/counterparty",
        control,
        "condition_counterparty",
        204,
        body=True,
    ),
    Operation(
        "",
        "POST",
        "/sca/resets/{resetId}/liveness",
        factor_resets,
        "conclude_liveness",
        204,
        body=True,
    ),
    Operation("", "POST", "/sca/resets/{resetId}/expire", factor_resets, "expire", 204),
    Operation(
        "", "POST", "/customers/{customerId}/factors", factor_resets, "enroll", 204, body=True
    ),
    Operation("", "POST", "/transactions/{transactionId}/release", control, "release", 204),
    Operation("", "POST", "/sca/challenges/{challengeId}/expire", control, "expire_challenge", 204),
    Operation(
        "", "POST", "/sca/challenges/{challengeId}/code", control, "tell_challenge_code", 200
    ),
    Operation("", "POST", "/wallets/{accountId}/signature", devices, "sign", 200, body=True),
    Operation("", "POST", "/wallets/{accountId}/condition", devices, "condition", 204, body=True),
    Operation("", "POST", "/agents", agents, "connect", 201, body=True),
    Operation("", "POST", "/agents/transactions", control, "initiate_by_agent", 200, body=True),
    Operation(
        "",
        "POST",
        f"{_STABLECOIN}/condition",
        stablecoin_control,
        "condition",
        204,
        body=True,
    ),
    Operation("", "POST", f"{_STABLECOIN}/provider-accounts", stablecoin_control, "link_provider"),
)
