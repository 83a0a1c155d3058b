"""What accounts outside the service can receive: the receiver lookup, and the institutions."""

from __future__ import annotations

from sqlalchemy import select

from conformance.reference import errors, money, rules
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.external_accounts.institutions import INSTITUTIONS
from conformance.reference.quotes import uma
from conformance.reference.store import Customer, ExternalAccount, Json, Lookup
from conformance.reference.unit import Ask, Unit, new_id

COUNTERPARTY_FAILURES: dict[str, str] = {
    "DOWN": "LNURLP_REQUEST_FAILED",
    "OUTDATED": "UNSUPPORTED_UMA_VERSION",
    "LOOKUP_REFUSED": "LOOKUP_REQUEST_FAILED",
    "LOOKUP_GARBLED": "PARSE_LNURLP_RESPONSE_ERROR",
    "SENDER_REFUSED": "SENDER_NOT_ACCEPTED",
    "CERTIFICATE_FORGED": "CERT_CHAIN_INVALID",
    "CERTIFICATE_EXPIRED": "CERT_CHAIN_EXPIRED",
    "KEY_HIDDEN": "COUNTERPARTY_PUBKEY_FETCH_ERROR",
    "KEY_GARBLED": "INVALID_PUBKEY_FORMAT",
    "PARAMETERS_OMITTED": "MISSING_REQUIRED_UMA_PARAMETERS",
}
"""The code that a lookup is refused with for how the counterparty does."""

PAYMENT_FAILURES: dict[str, str] = {
    "PAYMENT_UNANSWERED": "PAYREQ_REQUEST_FAILED",
    "PAYMENT_GARBLED": "PARSE_PAYREQ_RESPONSE_ERROR",
    "PAYMENT_FALSIFIED": "INVALID_PAYREQ_RESPONSE",
    "RECEIVER_REFUSED": "INVALID_RECEIVER",
}
"""The code that a quote is refused with for how the counterparty does; a lookup may go before."""

COUNTERPARTY_STATES = ("REACHABLE", *COUNTERPARTY_FAILURES, *PAYMENT_FAILURES)
"""How the institution behind an account may do."""


MAX_RECEIVED_CENTS: int = 10**11
"""What an account outside the service can receive at most, as US cents."""


def discoveries(_unit: Unit, ask: Ask) -> Json:
    """List the receiving institutions of a country and a currency."""
    wanted = ask.query
    return {
        "data": [
            {"bankName": bank, "displayName": name, "country": country, "currency": currency}
            for bank, name, country, currency in INSTITUTIONS
            if wanted.get("country", country) == country
            and wanted.get("currency", currency) == currency
        ]
    }


def lookup(unit: Unit, ask: Ask) -> Json:
    """Return what an external account can receive, priced against the sender's currency."""
    account = externals.get(unit, ask.params["accountId"])
    sending = sender_currency(unit, ask.query)
    refuse_unreachable(account)
    least, largest = min_received(account.currency), max_received(account.currency)
    rate = money.market_rate(sending, account.currency)
    noted = Lookup(id=new_id("Lookup"), account_id=account.id, created_at=unit.now)
    unit.session.add(noted)
    return {
        "accountId": account.id,
        "lookupId": noted.id,
        "sendingCurrency": money.currency_view(sending),
        "supportedCurrencies": [
            {
                "currency": money.currency_view(account.currency),
                "estimatedExchangeRate": money.number(rate),
                "min": least,
                "max": largest,
                "minSendingAmount": money.cost(least, rate, sending, account.currency),
                "maxSendingAmount": money.cost(largest, rate, sending, account.currency),
            }
        ],
        "requiredPayerDataFields": [{"name": "FULL_NAME", "mandatory": True}],
    }


def min_received(currency: str) -> int:
    """Return what an account can receive at least, in smallest units of its currency."""
    return rules.MIN_RECEIVED.get(currency, 1)


def refuse_little(account: ExternalAccount, amount: int) -> None:
    """Refuse to quote less than a minimum of its own that the account's currency has."""
    least = rules.MIN_RECEIVED.get(account.currency, 0)
    if amount < least:
        raise errors.Refusal(
            "AMOUNT_OUT_OF_RANGE",
            f"Expected that at least {least} {account.currency} are received. Send more.",
        )


def max_received(currency: str) -> int:
    """Return what an account can receive at most, in smallest units of its currency.

    Many clients read JSON numbers as doubles, which hold integers up to 2**53.
    """
    return money.convert(MAX_RECEIVED_CENTS, money.market_rate("USD", currency), "USD", currency)


def refuse_unreachable(account: ExternalAccount) -> None:
    """Refuse to look up an account whose institution cannot be asked."""
    code = COUNTERPARTY_FAILURES.get(account.counterparty)
    if code is not None:
        raise errors.Refusal(code, "The institution behind the account could not be asked.")


def refuse_unpayable(account: ExternalAccount) -> None:
    """Refuse to quote a payment that the account's institution does not agree to."""
    code = PAYMENT_FAILURES.get(account.counterparty)
    if code is not None:
        raise errors.Refusal(code, "The institution behind the account did not agree to pay it.")


def refuse_unknown_lookup(unit: Unit, lookup_id: str | None) -> None:
    """Refuse a quote that names a lookup which was never made."""
    if lookup_id is not None and unit.session.get(Lookup, lookup_id) is None:
        raise errors.Refusal(
            "LOOKUP_REQUEST_NOT_FOUND", "No lookup has this id. Look the receiver up again."
        )


def sender_currency(unit: Unit, query: dict[str, str]) -> str:
    """Return the currency a lookup is priced against: the one named, or the sender's default."""
    if "customerId" in query:
        sender = customers.get(unit, query["customerId"])
    elif "senderUmaAddress" in query:
        address = query["senderUmaAddress"]
        uma.refuse_malformed(address)
        found = unit.session.scalar(
            select(Customer).where(Customer.uma_address == address).limit(1)
        )
        if found is None:
            raise errors.Refusal("CUSTOMER_NOT_FOUND", "No customer has this UMA address.")
        sender = found
    else:
        message = "Expected customerId or senderUmaAddress."
        raise errors.invalid_input(errors.field_error("customerId", message))
    if "sendingCurrency" in query:
        return money.currency_of(query["sendingCurrency"]).code
    known = [code for code in sender.currencies if code in rules.CURRENCIES]
    return known[0] if known else unit.settings.platform_currency
