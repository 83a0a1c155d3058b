"""The two ends of a quote: where its money comes from and goes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from conformance.reference import errors, money, rules
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals, receivers
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import uma

if TYPE_CHECKING:
    from conformance.reference.store import ExternalAccount, Json, Quote
    from conformance.reference.unit import Unit


@dataclass(frozen=True, slots=True)
class Party:
    """One end of a quote. ``echo`` is the request's object as the quote shows it again."""

    kind: Literal["INTERNAL", "EXTERNAL", "REALTIME", "UMA"]
    currency: str
    echo: Json
    account_id: str | None = None
    customer_id: str | None = None
    external: ExternalAccount | None = None


def echo_source(source: Json) -> Json:
    """Return a source as sent: its type and account id, or whom the funding is for."""
    kept = ("sourceType", "accountId", "customerId", "platform", "currency")
    return {name: source[name] for name in kept if name in source}


def echo_destination(destination: Json) -> Json:
    """Return a destination as sent; the rail is not echoed."""
    kept = ("destinationType", "accountId", "umaAddress", "currency")
    return {name: destination[name] for name in kept if name in destination}


def source_of(unit: Unit, source: Json) -> Party:
    """Return the party that sends; raises ``Refusal`` where the account is not one."""
    if source["sourceType"] == "REALTIME_FUNDING":
        return realtime_source(unit, source)
    party = account_party(unit, source["accountId"], echo_source(source))
    if party.external is not None and not externals.is_pullable(party.external):
        message = "Expected an internal account or one that money can be pulled from."
        raise errors.invalid_input(errors.field_error("source.accountId", message))
    if party.external is not None:
        refuse_disabled(party.external)
    return party


def realtime_source(unit: Unit, source: Json) -> Party:
    """Return the party whose money arrives just in time."""
    currency = money.currency_of(source["currency"]).code
    if currency not in rules.REALTIME_CURRENCIES:
        message = f"Expected one of {', '.join(rules.REALTIME_CURRENCIES)}."
        raise errors.invalid_input(errors.field_error("source.currency", message))
    customer_id = source.get("customerId")
    if customer_id is not None:
        customers.get(unit, customer_id)
    return Party("REALTIME", currency, echo_source(source), customer_id=customer_id)


def destination_of(unit: Unit, destination: Json) -> Party:
    """Return the party that receives; raises ``Refusal`` where it cannot."""
    if destination["destinationType"] == "UMA_ADDRESS":
        return uma_destination(destination)
    party = account_party(unit, destination["accountId"], echo_destination(destination))
    if party.external is not None:
        refuse_unable(party.external)
        refuse_rail(party.external, destination.get("paymentRail"))
        receivers.refuse_unpayable(party.external)
    return party


def uma_destination(destination: Json) -> Party:
    """Return the party behind a UMA address."""
    address: str = destination["umaAddress"]
    uma.refuse_malformed(address)
    uma.refuse_nobody(address)
    currency = money.currency_of(destination.get("currency") or "USD").code
    return Party("UMA", currency, echo_destination(destination))


def account_party(unit: Unit, account_id: str, echo: Json) -> Party:
    """Return the party of an account; raises ``Refusal`` (ACCOUNT_NOT_FOUND)."""
    internal = accounts.find(unit, account_id)
    if internal is not None:
        return Party("INTERNAL", internal.currency, echo, account_id, internal.customer_id)
    external = externals.find(unit, account_id)
    if external is not None:
        return Party(
            "EXTERNAL", external.currency, echo, account_id, external.customer_id, external
        )
    raise errors.Refusal("ACCOUNT_NOT_FOUND", "No account has the id that the request names.")


def refuse_unable(account: ExternalAccount) -> None:
    """Refuse a destination that is not active."""
    if not externals.can_receive(account):
        raise errors.Refusal(
            "INVALID_BANK_ACCOUNT", f"The account is {account.status}; only ACTIVE ones receive."
        )


def refuse_disabled(account: ExternalAccount) -> None:
    """Refuse a source that was disabled."""
    if not externals.can_send(account):
        raise errors.Refusal(
            "INVALID_BANK_ACCOUNT", f"Nothing is pulled from an account that is {account.status}."
        )


def refuse_rail(account: ExternalAccount, rail: str | None) -> None:
    """Refuse a rail that the account cannot be reached by."""
    known = ACCOUNT_TYPES[account.account_type].rails
    if rail is not None and known and rail not in known:
        message = f"Expected one of {', '.join(known)}."
        raise errors.invalid_input(errors.field_error("destination.paymentRail", message))


def refuse_unverified_receiver(unit: Unit, destination: Party) -> None:
    """Refuse to fund an internal account whose owner's verification is not approved."""
    if destination.kind == "INTERNAL" and destination.customer_id is not None:
        customers.refuse_unverified(customers.get(unit, destination.customer_id))


def refuse_blocked(unit: Unit, source: Party, destination: Party) -> None:
    """Refuse a payment whose ends are internal accounts that cannot send or receive now."""
    for party, ability in ((source, accounts.SEND), (destination, accounts.RECEIVE)):
        if party.kind == "INTERNAL" and party.account_id is not None:
            accounts.refuse_unable(accounts.get(unit, party.account_id), ability)


def refuse_blocked_later(unit: Unit, quote: Quote) -> None:
    """Refuse the execution of a quote whose ends cannot send or receive any more."""
    ends = (
        (quote.source_kind, quote.source, accounts.SEND),
        (quote.destination_kind, quote.destination, accounts.RECEIVE),
    )
    for kind, end, ability in ends:
        if kind == "INTERNAL":
            accounts.refuse_unable(accounts.get(unit, end["accountId"]), ability)


def is_self_payment(source: Party, destination: Party) -> bool:
    """Return whether both ends are the same account."""
    return source.account_id is not None and source.account_id == destination.account_id


def refuse_self_payment(source: Party, destination: Party) -> None:
    """Refuse a payment from an account to itself."""
    if is_self_payment(source, destination):
        raise errors.Refusal(
            "SELF_PAYMENT", "Source and destination are the same account. Name another one."
        )
