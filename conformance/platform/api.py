"""The operations of the interface, a method each. Written by ``payments-conformance generate``."""

from __future__ import annotations

from typing import Any, Unpack

from conformance.exchange.answer import Answer
from conformance.exchange.forms import Form
from conformance.platform.operations import Operations, Options, Query


class Api(Operations):
    """Sends one request of an operation and returns its answer, whatever it is.

    Its methods come in the order of the document, area by area. Parameters of the path come first,
    then ``query`` and ``body`` or ``form`` where the operation takes one.
    """

    # Authentication

    def start_factor_reset(
        self, query: Query | None = None, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /sca/factors/reset``."""
        return self._send("startFactorReset", query=query, body=body, **options)

    def get_factor_reset(
        self, reset_id: Any, query: Query | None = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``GET /sca/factors/reset/{resetId}``."""
        return self._send("getFactorReset", path={"resetId": reset_id}, query=query, **options)

    def complete_factor_reset(
        self,
        reset_id: Any,
        query: Query | None = None,
        body: Any = None,
        **options: Unpack[Options],
    ) -> Answer:
        """Send ``POST /sca/factors/reset/{resetId}/complete``."""
        return self._send(
            "completeFactorReset", path={"resetId": reset_id}, query=query, body=body, **options
        )

    def complete_sca_login(
        self, query: Query | None = None, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /sca/login/complete``."""
        return self._send("completeScaLogin", query=query, body=body, **options)

    # Customers

    def create_customer(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /customers``."""
        return self._send("createCustomer", body=body, **options)

    def get_end_user_terms(self, **options: Unpack[Options]) -> Answer:
        """Send ``GET /customers/end-user-terms``."""
        return self._send("getEndUserTerms", **options)

    def get_customer(self, customer_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``GET /customers/{customerId}``."""
        return self._send("getCustomer", path={"customerId": customer_id}, **options)

    def update_customer(
        self, customer_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``PATCH /customers/{customerId}``."""
        return self._send("updateCustomer", path={"customerId": customer_id}, body=body, **options)

    # Verification

    def create_kyc_link(
        self, customer_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/{customerId}/kyc-link``."""
        return self._send("createKycLink", path={"customerId": customer_id}, body=body, **options)

    def send_email_code(self, customer_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``POST /customers/{customerId}/verify-email``."""
        return self._send("sendEmailCode", path={"customerId": customer_id}, **options)

    def confirm_email(
        self, customer_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/{customerId}/verify-email/confirm``."""
        return self._send("confirmEmail", path={"customerId": customer_id}, body=body, **options)

    def send_phone_code(self, customer_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``POST /customers/{customerId}/verify-phone``."""
        return self._send("sendPhoneCode", path={"customerId": customer_id}, **options)

    def confirm_phone(
        self, customer_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/{customerId}/verify-phone/confirm``."""
        return self._send("confirmPhone", path={"customerId": customer_id}, body=body, **options)

    def create_beneficial_owner(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /beneficial-owners``."""
        return self._send("createBeneficialOwner", body=body, **options)

    def create_document(self, form: Form | None = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /documents``."""
        return self._send("createDocument", form=form, **options)

    def list_verifications(self, query: Query | None = None, **options: Unpack[Options]) -> Answer:
        """Send ``GET /verifications``."""
        return self._send("listVerifications", query=query, **options)

    def create_verification(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /verifications``."""
        return self._send("createVerification", body=body, **options)

    # Configuration

    def get_config(self, **options: Unpack[Options]) -> Answer:
        """Send ``GET /config``."""
        return self._send("getConfig", **options)

    def update_config(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``PATCH /config``."""
        return self._send("updateConfig", body=body, **options)

    # Internal accounts

    def list_customer_internal_accounts(
        self, query: Query | None = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``GET /customers/internal-accounts``."""
        return self._send("listCustomerInternalAccounts", query=query, **options)

    def create_internal_account(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /internal-accounts``."""
        return self._send("createInternalAccount", body=body, **options)

    def list_platform_internal_accounts(
        self, query: Query | None = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``GET /platform/internal-accounts``."""
        return self._send("listPlatformInternalAccounts", query=query, **options)

    def fund_internal_account(
        self, account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /sandbox/internal-accounts/{accountId}/fund``."""
        return self._send(
            "fundInternalAccount", path={"accountId": account_id}, body=body, **options
        )

    # External accounts

    def list_customer_external_accounts(
        self, query: Query | None = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``GET /customers/external-accounts``."""
        return self._send("listCustomerExternalAccounts", query=query, **options)

    def create_external_account(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /customers/external-accounts``."""
        return self._send("createExternalAccount", body=body, **options)

    def get_external_account(self, external_account_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``GET /customers/external-accounts/{externalAccountId}``."""
        return self._send(
            "getExternalAccount", path={"externalAccountId": external_account_id}, **options
        )

    def delete_external_account(
        self, external_account_id: Any, **options: Unpack[Options]
    ) -> Answer:
        """Send ``DELETE /customers/external-accounts/{externalAccountId}``."""
        return self._send(
            "deleteExternalAccount", path={"externalAccountId": external_account_id}, **options
        )

    def untrust_beneficiary(
        self, external_account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/external-accounts/{externalAccountId}/untrust``."""
        return self._send(
            "untrustBeneficiary",
            path={"externalAccountId": external_account_id},
            body=body,
            **options,
        )

    def confirm_untrust(
        self, external_account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/external-accounts/{externalAccountId}/untrust/confirm``."""
        return self._send(
            "confirmUntrust", path={"externalAccountId": external_account_id}, body=body, **options
        )

    def confirm_beneficiary(
        self, external_account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/external-accounts/{externalAccountId}/confirm``."""
        return self._send(
            "confirmBeneficiary",
            path={"externalAccountId": external_account_id},
            body=body,
            **options,
        )

    def challenge_ownership(
        self, external_account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/external-accounts/{externalAccountId}/challenge``."""
        return self._send(
            "challengeOwnership",
            path={"externalAccountId": external_account_id},
            body=body,
            **options,
        )

    def verify_ownership(
        self, external_account_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /customers/external-accounts/{externalAccountId}/verify``."""
        return self._send(
            "verifyOwnership", path={"externalAccountId": external_account_id}, body=body, **options
        )

    def list_platform_external_accounts(self, **options: Unpack[Options]) -> Answer:
        """Send ``GET /platform/external-accounts``."""
        return self._send("listPlatformExternalAccounts", **options)

    def lookup_external_account(
        self, account_id: Any, query: Query | None = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``GET /receiver/external-account/{accountId}``."""
        return self._send(
            "lookupExternalAccount", path={"accountId": account_id}, query=query, **options
        )

    def list_discoveries(self, query: Query | None = None, **options: Unpack[Options]) -> Answer:
        """Send ``GET /discoveries``."""
        return self._send("listDiscoveries", query=query, **options)

    # Quotes

    def create_quote(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /quotes``."""
        return self._send("createQuote", body=body, **options)

    def execute_quote(self, quote_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``POST /quotes/{quoteId}/execute``."""
        return self._send("executeQuote", path={"quoteId": quote_id}, **options)

    def authorize_quote(
        self, quote_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /quotes/{quoteId}/authorize``."""
        return self._send("authorizeQuote", path={"quoteId": quote_id}, body=body, **options)

    def transfer_in(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /transfer-in``."""
        return self._send("transferIn", body=body, **options)

    def transfer_out(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /transfer-out``."""
        return self._send("transferOut", body=body, **options)

    # Transactions

    def list_transactions(self, query: Query | None = None, **options: Unpack[Options]) -> Answer:
        """Send ``GET /transactions``."""
        return self._send("listTransactions", query=query, **options)

    def approve_transaction(self, transaction_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``POST /transactions/{transactionId}/approve``."""
        return self._send("approveTransaction", path={"transactionId": transaction_id}, **options)

    # Cards

    def simulate_return_reversal(
        self, id_: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /sandbox/cards/{id}/simulate/return_reversal``."""
        return self._send("simulateReturnReversal", path={"id": id_}, body=body, **options)

    # Stablecoins

    def list_stablecoins(self, **options: Unpack[Options]) -> Answer:
        """Send ``GET /stablecoins``."""
        return self._send("listStablecoins", **options)

    def create_stablecoin(self, body: Any = None, **options: Unpack[Options]) -> Answer:
        """Send ``POST /stablecoins``."""
        return self._send("createStablecoin", body=body, **options)

    def mint_stablecoin(
        self, stablecoin_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /stablecoins/{stablecoinId}/mints``."""
        return self._send(
            "mintStablecoin", path={"stablecoinId": stablecoin_id}, body=body, **options
        )

    def burn_stablecoin(
        self, stablecoin_id: Any, body: Any = None, **options: Unpack[Options]
    ) -> Answer:
        """Send ``POST /stablecoins/{stablecoinId}/burns``."""
        return self._send(
            "burnStablecoin", path={"stablecoinId": stablecoin_id}, body=body, **options
        )

    def list_stablecoin_operations(self, stablecoin_id: Any, **options: Unpack[Options]) -> Answer:
        """Send ``GET /stablecoins/{stablecoinId}/operations``."""
        return self._send(
            "listStablecoinOperations", path={"stablecoinId": stablecoin_id}, **options
        )
