"""Closed vocabularies that the catalogue, the scenarios and the profiles share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "webhook.register": ("url",),
    "customer.approve": ("customerId",),
    "customer.reject": ("customerId",),
    "customer.hold": ("customerId",),
    "hosted_flow.complete": ("customerId", "kycUrl"),
    "document.blurred": ("documentHolder",),
    "document.cropped": ("documentHolder",),
    "document.colorless": ("documentHolder",),
    "document.mismatched": ("documentHolder",),
    "document.expired": ("documentHolder",),
    "document.outdated": ("documentHolder",),
    "document.forged": ("documentHolder",),
    "document.unsuitable": ("documentHolder",),
    "document.incomplete": ("documentHolder",),
    "paperwork.skip": ("platformCustomerId",),
    "paperwork.require": ("platformCustomerId",),
    "internal_account.await": ("customerId",),
    "internal_account.provide": ("accountId",),
    "internal_account.fail": ("accountId",),
    "internal_account.close": ("accountId",),
    "internal_account.freeze": ("accountId",),
    "deposit.await": ("accountId", "amount", "currency"),
    "rule_based.disable": (),
    "rule_based.enable": (),
    "sweep.fail": ("accountId",),
    "external_account.await": ("customerId",),
    "external_account.approve": ("externalAccountId",),
    "external_account.review": ("externalAccountId",),
    "external_account.disable": ("externalAccountId",),
    "ownership.demand": ("externalAccountId",),
    "ownership.prove": ("externalAccountId",),
    "ownership.disprove": ("externalAccountId",),
    "beneficiary.trust": ("externalAccountId",),
    "counterparty.down": ("externalAccountId",),
    "counterparty.outdated": ("externalAccountId",),
    "deposit.arrive": ("accountId", "amount", "currency"),
    "quote.fund": ("quoteId", "customerId"),
    "quote.expire": ("quoteId", "expiresAt"),
    "rate.unavailable": ("customerId", "sendingCurrency", "receivingCurrency"),
    "rate.stale": ("quoteId",),
    "quoting.down": ("customerId",),
    "volume.reached": ("customerId", "currency"),
    "destination.unknown": ("externalAccountId",),
    "destination.blocked": ("externalAccountId",),
    "destination.limited": ("externalAccountId",),
    "payout.return": ("externalAccountId",),
    "payout.screen": ("externalAccountId",),
    "payout.hold": ("externalAccountId",),
    "payout.review": ("externalAccountId",),
    "payout.release": ("transactionId",),
    "refund.fail": ("externalAccountId",),
    "refund.hold": ("externalAccountId",),
    "refund.release": ("transactionId",),
    "sca.second_challenge": ("customerId",),
    "sca.challenge_expire": ("quoteId", "challengeId", "expiresAt"),
    "sca.session_lapse": ("customerId",),
    "sca.lock": ("customerId",),
    "agent.initiate": ("customerId", "accountId", "externalAccountId", "amount"),
}
"""Each trigger (a cause in the world that a client cannot bring about) with its parameters."""

FEATURES: frozenset[str] = frozenset(
    {
        "regulated",
        "unregulated",
        "hosted_onboarding",
        "direct_onboarding",
        "contact_verification",
        "sca",
        "webhooks",
        "realtime_funding",
        "pullable_sources",
        "crypto_payouts",
        "agents",
        "cards",
        "uma",
        "stablecoins",
        "embedded_wallets",
        "rule_based_accounts",
        "platform_fees",
        "deprecated_transfers",
        "trusted_beneficiaries",
        "ownership_verification",
    }
)
"""What an implementation may or may not offer; ``regulated`` and ``unregulated`` are platforms."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the entry of ``known`` that is spelled most like ``word``, if any comes close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None
