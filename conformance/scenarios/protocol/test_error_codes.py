"""Error codes: the codes that fit a refusal, and the status of each code."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from conformance.contract.judge import error_codes, judge
from conformance.exchange.answer import Answer
from conformance.platform.given.embedded_wallets import REQUEST
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource, unknown_id
from conformance.scenarios.embedded_wallets.signing import funded_wallet, payment
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import (
    INVALID,
    REFUSED,
    TOO_LARGE,
    WRONG_AMOUNT,
    require_refusal,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

JSON_CONTENT = {"content-type": "application/json"}
NOT_FOUND_CODES = tuple(code for code, statuses in error_codes().items() if 404 in statuses)
NOBODY = "nobody"


@requirement("ERR-070")
def test_a_body_that_cannot_be_read_is_called_that(platform: Platform) -> None:
    """A body without its last brace is refused with a code for an invalid request."""
    content_of_quote = json.dumps(platform.quotes.body()).encode()

    refusal, twin = (
        platform.api.client.call("createQuote", content=content, headers=JSON_CONTENT, valid=False)
        for content in (content_of_quote[:-1], content_of_quote)
    )

    refusal.refused(*INVALID, twin=twin)


@pytest.mark.parametrize(
    ("amount", "codes"),
    [
        case("ERR-071", "negative", -10_000, WRONG_AMOUNT),
        case("ERR-072", "zero", 0, WRONG_AMOUNT),
        case("ERR-073", "large", 2**63, (*WRONG_AMOUNT, *TOO_LARGE)),
    ],
)
def test_an_amount_that_cannot_be_moved_is_called_that(
    platform: Platform, amount: int, codes: tuple[str, ...]
) -> None:
    """The code of the refusal is about the amount, or about any invalid request."""
    body = platform.quotes.body()

    refusal = platform.api.create_quote({**body, "lockedCurrencyAmount": amount}, valid=False)

    require_refusal(refusal)
    # The daily volume is the only cause with a status of its own.
    refusal.refused(*REFUSED, 429, *codes, twin=platform.api.create_quote(body))


@requirement("ERR-074")
def test_a_currency_that_is_not_offered_is_called_that(platform: Platform) -> None:
    """A just-in-time quote in an unsupported currency is refused with a code that fits it."""
    body = platform.quotes.realtime_body()
    foreign = having("source.currency", platform.profile.bindings.unsupported_currency)

    refusal = platform.api.create_quote(foreign(body))

    require_refusal(refusal)
    twin = platform.api.create_quote(body)
    refusal.refused("INVALID_CURRENCY", "QUOTE_RATE_UNAVAILABLE", *INVALID, twin=twin)


@requirement("ERR-075")
def test_a_moment_that_is_none_is_called_that(platform: Platform) -> None:
    """A consent whose moment is "the day before yesterday" is refused with a code that fits it."""
    template = platform.profile.bindings.terms_consent
    moment = next((name for name, word in template.items() if word == "{now}"), None)
    if moment is None:
        raise ResourceMissing("bindings.terms_consent of the profile has no place for a moment")
    body = platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    without_timestamp = having(f"endUserTermsConsent.{moment}", "the day before yesterday")

    refusal = platform.api.create_customer(without_timestamp(body))

    require_refusal(refusal)
    refusal.refused("INVALID_TIMESTAMP", *INVALID, twin=platform.api.create_customer(body))


@requirement("ERR-076")
def test_a_bank_account_that_cannot_be_is_called_that(platform: Platform) -> None:
    """A US account number that is a word is refused with a code about bank accounts or input."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "usd_account"
    )

    refusal = platform.api.create_external_account(
        having("accountInfo.accountNumber", "word")(body), valid=False
    )

    require_refusal(refusal)
    twin = platform.api.create_external_account(body)
    refusal.refused("INVALID_BANK_ACCOUNT", *INVALID, twin=twin)


@requirement("ERR-077")
def test_an_account_that_does_not_exist_is_called_that(platform: Platform) -> None:
    """Reading an unknown external account is refused with 404 and a code that is listed there."""
    creation = platform.api.create_external_account(
        platform.external_accounts.body(platform.external_accounts.account_holder())
    )
    account = arranged_resource(creation)

    refusal = platform.api.get_external_account(unknown_id(account["id"]))

    twin = platform.api.get_external_account(account["id"])
    refusal.refused(404, *NOT_FOUND_CODES, twin=twin)


@requirement("ERR-078")
def test_a_source_that_does_not_exist_is_called_that(platform: Platform) -> None:
    """A quote from an unknown account is refused with a code about missing or invalid resources."""
    body = platform.quotes.body()
    with_unknown_source = having("source.accountId", unknown_id(body["source"]["accountId"]))

    refusal = platform.api.create_quote(with_unknown_source(body))

    require_refusal(refusal)
    twin = platform.api.create_quote(body)
    refusal.refused(*NOT_FOUND_CODES, "INVALID_BANK_ACCOUNT", *INVALID, twin=twin)


# --- Statuses -------------------------------------------------------------------------------


def _create_with_unknown_terms(platform: Platform) -> Answer:
    body = platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    version = platform.profile.bindings.terms_consent
    name = next((name for name, word in version.items() if word == "{version}"), None)
    if name is None:
        raise ResourceMissing("bindings.terms_consent of the profile has no place for a version")
    return platform.api.create_customer(having(f"endUserTermsConsent.{name}", "never")(body))


def _quote_to_itself(platform: Platform) -> Answer:
    source = platform.internal_accounts.account()
    return platform.api.create_quote(platform.quotes.body(source, source, immediatelyExecute=True))


def _quote_without_funds(platform: Platform) -> Answer:
    source = platform.internal_accounts.account(amount=20_000)
    body = platform.quotes.body(source, amount=20_001, immediatelyExecute=True)
    return platform.api.create_quote(body)


def _send_unknown_id(operation: str, parameter: str, kind: str) -> Callable[[Platform], Answer]:
    unknown = f"{kind}:00000000-0000-4000-8000-000000000000"
    return lambda platform: platform.api.client.call(operation, path={parameter: unknown})


def _call_as_stranger(platform: Platform) -> Answer:
    return platform.api.client.call(
        "getConfig", auth=platform.api.client.credentials(token_id=NOBODY, client_secret=NOBODY)
    )


def _pay_by_unknown_request(platform: Platform) -> Answer:
    """Sign a payment out of a wallet rightly, for a Request-Id that nobody was given."""
    try:
        payout = payment(platform, funded_wallet(platform))
        headers = payout.headers()
    except (PreconditionFailed, TriggerFailed) as error:
        # Nothing else that is decided here depends on wallets.
        raise ResourceMissing(f"no payment out of a wallet is signed: {error}") from error
    return payout.send({**headers, REQUEST: unknown_id(headers[REQUEST])})


REFUSALS: dict[str, Callable[[Platform], Answer]] = {
    "unknown-customer": _send_unknown_id("getCustomer", "customerId", "Customer"),
    "unknown-account": _send_unknown_id(
        "getExternalAccount", "externalAccountId", "ExternalAccount"
    ),
    "unknown-quote": _send_unknown_id("executeQuote", "quoteId", "Quote"),
    "unknown-transaction": _send_unknown_id("approveTransaction", "transactionId", "Transaction"),
    "unknown-terms": _create_with_unknown_terms,
    "payment-to-itself": _quote_to_itself,
    "payment-without-funds": _quote_without_funds,
    "credentials-of-nobody": _call_as_stranger,
    "unknown-request": _pay_by_unknown_request,
}
"""Functions that send a request and return its refusal, each with another code."""


@pytest.mark.parametrize(
    "way",
    [case("CNV-010", name, way) for name, way in REFUSALS.items()],
)
def test_a_code_stands_under_the_status_at_which_it_is_listed(
    platform: Platform, way: Callable[[Platform], Answer]
) -> None:
    """Each code of the interface comes with its status; any other code may come with any status."""
    refusal = way(platform)

    if refusal.code not in judge().statuses:
        raise ResourceMissing(f"no code of the interface came: {refusal}")
