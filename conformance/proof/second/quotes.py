"""Quotes: from where, to where, at which price; created, authorized and executed."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from conformance.proof.second import (
    account_types,
    configuration,
    customers,
    externals,
    internals,
    pricing,
    sca,
    transactions,
    uma,
    wallets,
)
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.check import (
    ANY,
    FLAG,
    Fault,
    integer,
    is_integer,
    one_of,
    record,
    refuse,
    text,
)
from conformance.proof.second.errors import INPUT, Refusal, conflict, invalid
from conformance.proof.second.money import COINS, Json, coin, half_up, money, unit_rate
from conformance.proof.second.money import shown as currency
from conformance.proof.second.pricing import Price, shown_rate
from conformance.proof.second.world import World, ahead, now, public

PULLABLE = "USD_ACCOUNT"
MAX_DOLLAR_CENTS = 5_000_000
MAX_REMITTANCE = 80
_DRIFT = Decimal("0.998")
"""How far a rate has moved until the execution, where a planted bug converts again."""
_MAX_RACE_SECONDS = 0.05
"""How long a planted race waits for the other execution, as most have none beside them."""


@dataclass(frozen=True)
class End:
    """One end of a quote; `internal` or `external` is the account, where there is one."""

    code: str
    owner: Json | None = None
    internal: Json | None = None
    external: Json | None = None

    @property
    def account(self) -> Json:
        """The account, or an empty record."""
        return self.internal or self.external or {}


def _longest(world: World, body: Json) -> int:
    given = body.get("remittanceInformation")
    realtime = customers.at(body, "source.sourceType") == "REALTIME_FUNDING"
    far = isinstance(given, str) and len(given) > MAX_REMITTANCE
    if far and realtime and world.has("remittance-just-in-time"):
        return len(str(given))
    past = isinstance(given, str) and len(given) == MAX_REMITTANCE + 1
    wide = isinstance(given, str) and len(given.encode()) > MAX_REMITTANCE >= len(given)
    if wide and world.has("remittance-counted-in-bytes"):
        return len(str(given)) - 1
    if len(str(given)) == MAX_REMITTANCE and world.has("remittance-of-80-refused"):
        return MAX_REMITTANCE - 1
    return MAX_REMITTANCE + (past and world.has("long-remittance"))


def _rule(world: World, body: Json) -> Any:
    closed = world.persona.refuses_unknown
    return record(
        {
            "source": record(
                {
                    "sourceType": one_of("ACCOUNT", "REALTIME_FUNDING"),
                    "accountId": text(most=100),
                    "customerId": text(most=100),
                    "currency": text(most=12),
                    "platform": ANY,
                },
                ("sourceType",),
                closed=closed,
            ),
            "destination": record(
                {
                    "destinationType": one_of("ACCOUNT", "UMA_ADDRESS"),
                    "accountId": text(most=100),
                    "umaAddress": text(most=320),
                    "paymentRail": text(r"[A-Z_]+", most=40),
                    "currency": text(most=12),
                },
                ("destinationType",),
                closed=closed,
            ),
            "lockedCurrencySide": one_of("SENDING", "RECEIVING"),
            "lockedCurrencyAmount": ANY,
            "immediatelyExecute": FLAG,
            "remittanceInformation": text(most=_longest(world, body)),
            "description": text(most=1000, least=0),
            "purposeOfPayment": text(most=200),
            "platformFeeOverride": pricing.OVERRIDE,
            "lookupId": text(most=100),
        },
        ("source", "destination", "lockedCurrencySide", "lockedCurrencyAmount"),
        closed=closed,
    )


def _read(call: Call) -> Json:
    world = call.world
    body = call.json()
    faults: list[Fault] = []
    other = body.get("lockedCurrencySide") not in (None, "SENDING", "RECEIVING")
    if other and world.has("unknown-locked-side-taken-as-sending"):
        body["lockedCurrencySide"] = "SENDING"
    _rule(world, body)(body, "", faults)
    source, destination = body.get("source"), body.get("destination")
    if isinstance(source, dict) and isinstance(destination, dict):
        needs = {"ACCOUNT": "source.accountId", "REALTIME_FUNDING": "source.currency"}
        wants = {"ACCOUNT": "destination.accountId", "UMA_ADDRESS": "destination.umaAddress"}
        paths = (
            needs.get(str(source.get("sourceType"))),
            wants.get(str(destination.get("destinationType"))),
        )
        faults += [
            (path, "text", "is required")
            for path in paths
            if path and customers.at(body, path) is None
        ]
    amount = body.get("lockedCurrencyAmount")
    is_text = isinstance(amount, str) and re.fullmatch("[0-9]{1,15}", amount)
    if is_text and world.has("amount-as-text"):
        amount = body["lockedCurrencyAmount"] = int(str(amount))
    if amount is not None and (not is_integer(amount) or not _counts(world, amount)):
        if world.persona.amount_code != INPUT and not faults:
            raise Refusal(world.persona.amount_code, "The amount has to be a positive integer.")
        integer(1, pricing.MAX_AMOUNT)(amount, "lockedCurrencyAmount", faults)
    purpose = body.get("purposeOfPayment")
    untyped = purpose is not None and not isinstance(purpose, str)
    if untyped and world.has("purpose-crashes"):
        raise TypeError
    if untyped and world.has("purpose-of-payment-type-unchecked"):
        faults = [fault for fault in faults if fault[0] != "purposeOfPayment"]
    if body.get("immediatelyExecute") and purpose and world.has("immediate-purpose-refused"):
        faults.append(("purposeOfPayment", "text", "is not known"))
    if body.get("purposeOfPayment") and world.has("purpose-refused"):
        faults.append(("purposeOfPayment", "text", "is not known"))
    refuse(world.persona, faults)
    return body


def _counts(world: World, amount: int) -> bool:
    return 1 <= amount <= pricing.MAX_AMOUNT or (amount == 0 and world.has("zero-amount"))


def _source(call: Call, given: Json, *, at_once: bool = False) -> End:
    world = call.world
    if given["sourceType"] == "REALTIME_FUNDING":
        owner = None
        named = given.get("customerId")
        if named is None and world.has("platform-funding-refused"):
            raise invalid("source.customerId", "is required")
        unknown = named is not None and named not in world.customers
        if named is not None and not (unknown and world.has("unknown-payer-taken")):
            owner = world.named(
                world.customers, given["customerId"], "CUSTOMER_NOT_FOUND", "source.customerId"
            )
        business = owner is not None and owner["customerType"] == "BUSINESS"
        if business and world.has("business-funding-refused"):
            raise invalid("source.customerId", "is no individual")
        return End(coin(given["currency"]).code, owner)
    if externals.is_named_by(given["accountId"]):
        account = world.named(
            world.externals, given["accountId"], "ACCOUNT_NOT_FOUND", "source.accountId"
        )
        alien = account["accountInfo"]["accountType"] != PULLABLE
        if alien and not (at_once and world.has("unpullable-at-once")):
            raise invalid("source.accountId", "money cannot be pulled from this account")
        off = account["status"] == "INACTIVE" and (
            world.has("inactive-pulled")
            or (call.path == "/transfer-in" and world.has("inactive-transferred"))
        )
        if account["status"] != "ACTIVE" and not off:
            raise conflict("The source is not active.")
        owner = world.customers.get(account["customerId"])
        return End(account["currency"], owner, external=account)
    account = world.named(
        world.internals, given["accountId"], "ACCOUNT_NOT_FOUND", "source.accountId"
    )
    return End(account["_code"], world.customers.get(account["customerId"]), account)


def _destination(call: Call, given: Json) -> End:
    world = call.world
    if given["destinationType"] == "UMA_ADDRESS":
        return End(_receiver(world, given["umaAddress"]))
    key = given["accountId"]
    if externals.is_named_by(key):
        late = key in world.deleted and world.has("deleted-still-paid")
        table = world.deleted if late else world.externals
        account = world.named(table, key, "ACCOUNT_NOT_FOUND", "destination.accountId")
        kind = account["accountInfo"]["accountType"]
        if kind == "LIGHTNING" and world.has("lightning-unpayable"):
            raise Refusal("INVALID_BANK_ACCOUNT", "There is no rail to this account.")
        if not account["customerId"] and world.has("platform-payee-refused"):
            raise invalid("destination.accountId", "belongs to no customer")
        return End(account["currency"], external=account)
    account = world.named(world.internals, key, "ACCOUNT_NOT_FOUND", "destination.accountId")
    owner = world.customers.get(account["customerId"])
    return End(account["_code"], owner, internal=account)


def _receiver(world: World, address: object) -> str:
    try:
        return uma.receiver(address)
    except Refusal as refusal:
        if refusal.code == "INVALID_UMA_ADDRESS" and world.has("malformed-uma-not-found"):
            raise Refusal("UMA_NOT_FOUND", "Nobody receives there.") from None
        raise


def _may_pay(world: World, owner: Json, source: End, *, realtime: bool) -> bool:
    reviewed = owner[customers.status_name(owner)] == "PENDING"
    if reviewed and source.external and world.has("pending-pulls"):
        return True
    if reviewed and source.internal and world.has("pending-account-pays"):
        return True
    waits = realtime and reviewed
    business = owner["customerType"] == "BUSINESS"
    if waits and business and world.has("pending-business-just-in-time"):
        return True
    if reviewed and business and world.has("pending-business-pays"):
        return True
    return customers.is_approved(owner) or (waits and world.has("pending-just-in-time"))


def _accepted(world: World, owner: Json, *, realtime: bool) -> bool:
    late = owner.get("endUserTermsConsent") and owner.get("_consented_later")
    if late and world.has("consent-by-change-unseen"):
        return False
    if owner.get("endUserTermsConsent") or world.has("terms-forgotten"):
        return True
    if realtime and world.has("just-in-time-without-terms"):
        return True
    return owner["customerType"] == "BUSINESS" and world.has("business-without-terms")


def _is_let_pay(world: World, *, at_once: bool) -> bool:
    """Tell whether a planted bug lets a customer pay who may not."""
    return world.has("unapproved-pays") or (at_once and world.has("immediate-unapproved"))


def _require_approval(world: World, source: End, *, realtime: bool, at_once: bool) -> None:
    allowed = source.owner is None or _may_pay(world, source.owner, source, realtime=realtime)
    if not allowed and not _is_let_pay(world, at_once=at_once):
        status, code = world.persona.unapproved_code
        raise Refusal(code, "The customer is not approved.", status=status)


def _require_owner(
    world: World, source: End, codes: tuple[str, str], *, realtime: bool, at_once: bool
) -> None:
    owner = source.owner
    if not owner:
        return
    early = world.persona.approval_noticed == "execution" and not at_once and not realtime
    if not early:
        _require_approval(world, source, realtime=realtime, at_once=at_once)
    free = codes[0] != codes[1] and world.has("conversion-without-terms")
    if not free and not _accepted(world, owner, realtime=realtime):
        raise Refusal(
            "END_USER_TERMS_NOT_ACCEPTED",
            "The terms are not accepted.",
            status=world.persona.terms_status,
        )
    for code in codes:
        missing = [
            name
            for name in configuration.required(owner, code)
            if not owner.get(name) or _is_late(world, owner, name)
        ]
        sends = missing and code == codes[0] != codes[1]
        if sends and world.has("sending-fields-unasked"):
            continue
        if missing:
            raise Refusal("MISSING_MANDATORY_USER_INFO", f"{missing[0]} is required for {code}.")


def _is_late(world: World, owner: Json, name: str) -> bool:
    """Tell whether a planted bug does not see a member of a customer that came by a change."""
    return name not in owner["_first_members"] and world.has("required-fields-of-creation")


def _require_sendable(
    world: World, source: End, *, deprecated: bool = False, by_address: bool = False
) -> None:
    account = source.internal
    frozen = account is not None and account["status"] == "FROZEN"
    if frozen and by_address and world.has("frozen-pays-address"):
        return
    if frozen and source.account["type"] == "INTERNAL_CRYPTO" and world.has("frozen-coins-sent"):
        return
    if frozen and source.account["type"] == "EMBEDDED_WALLET" and world.has("frozen-wallet-sends"):
        return
    if frozen and deprecated and world.has("frozen-transfers"):
        return
    if account and not internals.works(world, account) and not world.has("frozen-sends"):
        raise conflict("The source cannot send.")
    if account and account.get("_provided") and world.has("provided-cannot-send"):
        raise conflict("The source cannot send.")


def _refuse_by_bugs(world: World, source: End, target: End, body: Json) -> None:
    """Refuse, by a planted bug, a quote that is in order."""
    inside = source.internal and target.internal
    ours = inside and not (source.account["customerId"] or target.account["customerId"])
    if ours and world.has("platform-own-move-refused"):
        raise invalid("destination.accountId", "belongs to no customer")
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if by_address and realtime and world.has("just-in-time-uma-refused"):
        raise invalid("destination.destinationType", "must be ACCOUNT", kind="select")
    if by_address and source.external and world.has("pull-to-uma-refused"):
        raise invalid("destination.destinationType", "must be ACCOUNT", kind="select")
    if realtime and target.internal and world.has("just-in-time-inside-refused"):
        raise invalid("destination.accountId", "is no external account")
    receiving = body["lockedCurrencySide"] == "RECEIVING"
    if by_address and receiving and world.has("uma-receiving-refused"):
        raise invalid("lockedCurrencySide", "must be SENDING", kind="select")


def _require_receivable(world: World, target: End, amount: int, code: str) -> None:
    closed = target.internal and transactions.is_shut(world, target.internal)
    if closed and not world.has("closed-receives"):
        raise conflict("The destination cannot receive.")
    owner = target.owner
    if owner is not None and not customers.is_approved(owner):
        raise conflict("Funding is blocked until the customer is approved.")
    account = target.external
    back = account is not None and account["status"] == "ACTIVE" and account.get("_reactivated")
    if back and world.has("reactivated-unpayable"):
        raise Refusal("INVALID_BANK_ACCOUNT", "The destination is not active.")
    _refuse_proven(world, account, amount, code)
    if not account or account["status"] == "ACTIVE" or world.has("inactive-receives"):
        return
    if account["status"] == "UNVERIFIED" and world.has("unverified-receives"):
        return
    if account["status"] == "PENDING_OWNERSHIP_VERIFICATION":
        if externals.in_ownership_limit(world, amount, code):
            return
        raise Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove the ownership first.")
    if account["status"] != "UNDER_REVIEW" or not world.has("reviewed-receives"):
        raise Refusal("INVALID_BANK_ACCOUNT", "The destination is not active.")


def _refuse_proven(world: World, account: Json | None, amount: int, code: str) -> None:
    """Hold an account to the limit of unproven ones, by a planted bug, whose owner is proven."""
    proven = account is not None and account["status"] == "ACTIVE" and "_owned" in account
    if not proven or externals.in_ownership_limit(world, amount, code):
        return
    if world.has("proven-still-limited"):
        raise Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove the ownership first.")


def _require_rail(world: World, target: End, given: Json) -> None:
    if world.persona.unlisted_rail == "ignored":
        return
    rail = given.get("paymentRail")
    rails = (target.account.get("accountInfo") or {}).get("paymentRails")
    last = rails and rail == rails[-1]
    if rail and rails and (rail not in rails or (last and world.has("last-rail-refused"))):
        raise invalid("destination.paymentRail", "is not offered by the account", kind="select")


def _demand_rail(world: World, target: End, body: Json) -> None:
    """Refuse a quote without its purpose, or, by a planted bug, one without a rail."""
    rails = (target.account.get("accountInfo") or {}).get("paymentRails")
    unsaid = rails and not body["destination"].get("paymentRail")
    if unsaid and body.get("immediatelyExecute") and world.has("immediate-needs-rail"):
        raise invalid("destination.paymentRail", "is required", kind="select")
    if unsaid and len(rails or ()) > 1 and world.has("rail-demanded"):
        raise invalid("destination.paymentRail", "is required", kind="select")
    unnamed = body.get("purposeOfPayment") is None
    if target.external and target.code in world.persona.purposeful and unnamed:
        raise invalid("purposeOfPayment", "is required for this destination")


def _require_registration(world: World, owner: Json | None, target: End) -> None:
    """Refuse a business that pays one whose registration number was not told."""
    by_business = owner is not None and owner["customerType"] == "BUSINESS"
    if not by_business or not target.external or world.persona.registration_noticed != "quote":
        return
    person = target.external["accountInfo"].get("beneficiary") or {}
    told = {**(person.get("businessInfo") or {}), **person}
    demanded = target.code in account_types.SENDER_REGISTERED
    if demanded and told.get("legalName") and not told.get("registrationNumber"):
        raise invalid("destination.accountId", "its beneficiary has no registrationNumber")


def _require_market(world: World, owner: Json | None, codes: tuple[str, str]) -> None:
    traits = owner["_traits"] if owner else set()
    if "quoting-down" in traits:
        raise Refusal("QUOTE_REQUEST_FAILED", "No liquidity provider answers.")
    if f"no-rate:{codes[0]}:{codes[1]}" in traits:
        if world.has("no-rate-as-failed"):
            raise Refusal("QUOTE_REQUEST_FAILED", "There is no rate.")
        raise Refusal("QUOTE_RATE_UNAVAILABLE", "There is no rate.")


def _require_limits(world: World, owner: Json | None, priced: Price, body: Json) -> None:
    dollars = priced.sent * unit_rate(priced.sending, "USD")
    above = priced.sending == "USD" and dollars > MAX_DOLLAR_CENTS
    if above and body["lockedCurrencySide"] == "RECEIVING" and world.has("limit-only-sending"):
        above = False
    if above and body.get("immediatelyExecute") and world.has("limit-forgotten-at-once"):
        above = False
    if above and not (dollars == MAX_DOLLAR_CENTS + 1 and world.has("limit-off-by-one")):
        raise Refusal("TRANSACTION_SIZE_LIMIT_EXCEEDED", "This is too much for one transaction.")
    if world.persona.volume_noticed == "creation":
        require_volume(world, owner, (priced.sending, priced.receiving))


def require_volume(world: World, owner: Json | None, codes: tuple[str, str]) -> None:
    """Refuse a customer who has moved its daily volume, between two currencies.

    Raises:
        Refusal: with `DAILY_VOLUME_LIMIT_EXCEEDED`.
    """
    if not owner or "volume-reached" not in owner["_traits"] or world.has("volume-ignored"):
        return
    if codes[0] != codes[1] or not world.has("volume-free-at-home"):
        raise Refusal("DAILY_VOLUME_LIMIT_EXCEEDED", "The daily volume is reached.")


def create(call: Call) -> Reply:
    """POST /quotes."""
    world, body = call.world, _read(call)
    if body.get("immediatelyExecute") is False and world.has("false-executes"):
        body["immediatelyExecute"] = True
    at_once = body.get("immediatelyExecute") and body["lockedCurrencySide"] == "RECEIVING"
    if at_once and world.has("receiving-not-at-once"):
        body["immediatelyExecute"] = False
    pulls = externals.is_named_by(body["source"].get("accountId"))
    if pulls and body.get("immediatelyExecute") and world.has("immediate-pull-waits"):
        body["immediatelyExecute"] = False
    inside = body["source"]["sourceType"] == "ACCOUNT" and not pulls
    if inside and body.get("immediatelyExecute") and world.has("immediate-from-account-waits"):
        body["immediatelyExecute"] = False
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    if by_address and body.get("immediatelyExecute") and world.has("immediate-uma-waits"):
        body["immediatelyExecute"] = False
    if body.get("immediatelyExecute") and world.has("immediate-flag-ignored"):
        body["immediatelyExecute"] = False
    quote = make(call, body)
    return _status(world, quote), _created(world, quote)


def _created(world: World, quote: Json) -> Json:
    """Return a quote as the answer to its creation shows it."""
    answer = shown(world, quote)
    world.tell_more("QUOTE.CREATED", answer)
    executed = quote["_immediate"] and quote["status"] in {"PROCESSING", "COMPLETED"}
    if executed and world.has("immediate-answer-stale"):
        answer["status"] = "PENDING"
    if executed and world.has("immediate-execution-answers-transaction"):
        return transactions.shown(world, transactions.of(world, quote))
    if executed and world.has("immediate-other-transaction"):
        answer["transactionId"] = world.new_id("Transaction")
    if quote["_immediate"] and quote["_challenge"] and world.has("immediate-challenge-no-purpose"):
        del answer["scaChallenge"]["purpose"]
    if quote["_immediate"] and quote["_challenge"] and world.has("immediate-without-challenge"):
        del answer["scaChallenge"]
    return answer


def _status(world: World, quote: Json) -> int:
    """Return the status of the answer to the creation of a quote."""
    if quote["_immediate"] and world.has("immediate-quote-200"):
        return 200
    return 202 if _is_answered_otherwise(world, quote) else 201


def _is_answered_otherwise(world: World, quote: Json) -> bool:
    """Tell whether a planted bug answers the creation of a quote with another status than 201."""
    if quote["_challenge"]:
        if quote["_immediate"]:
            return world.has("challenged-quote-202")
        return world.has("waiting-just-in-time-202")
    if quote["_source"].external and quote["_immediate"] and world.has("pulled-at-once-202"):
        return True
    if quote["_source"].internal and not quote["_source"].owner and world.has("platform-quote-202"):
        return True
    by_address = not quote["_target"].account
    return by_address and world.has("uma-quote-202")


def make(call: Call, body: Json) -> Json:
    """Create a quote, and execute it where the body says so.

    Raises:
        Refusal: for whatever is in its way.
    """
    world = call.world
    source = _source(call, body["source"], at_once=bool(body.get("immediatelyExecute")))
    target = _target(call, source, body)
    if body.get("lookupId") is not None:
        world.named(world.lookups, body["lookupId"], "LOOKUP_REQUEST_NOT_FOUND", "lookupId")
    call.concerns(source.owner["id"] if source.owner else "")
    if _pays_itself(world, source, target, body):
        raise Refusal("SELF_PAYMENT", "Source and destination are the same account.")
    codes = (source.code, target.code)
    body = _as_taken(world, body, source, codes)
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    at_once = bool(body.get("immediatelyExecute"))
    _require_owner(world, source, codes, realtime=realtime, at_once=at_once)
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    deprecated = call.path.startswith("/transfer-")
    _require_sendable(world, source, deprecated=deprecated, by_address=by_address)
    _require_rail(world, target, body["destination"])
    _demand_rail(world, target, body)
    _refuse_by_bugs(world, source, target, body)
    _require_registration(world, source.owner, target)
    _require_market(world, source.owner, codes)
    if target.external:
        _request_payment(world, target.external)
    extra = _extra(world, codes, body)
    amount = _amount(world, codes, body)
    priced = pricing.price(world, codes, body["lockedCurrencySide"], amount, extra)
    _require_limits(world, source.owner, priced, body)
    if world.persona.destination_noticed == "creation" or body.get("immediatelyExecute"):
        _require_receivable(world, target, priced.sent, source.code)
    if body.get("immediatelyExecute"):
        needed = _needed(world, body["lockedCurrencySide"], priced)
        _require_immediate(call, source, target, needed, realtime=realtime)
    elif source.internal and (
        world.persona.funds_noticed == "creation" or world.has("funds-checked-at-creation-only")
    ):
        needed = _needed(world, body["lockedCurrencySide"], priced)
        internals.require_funds(world, source.internal, needed)
    quote = _record(world, body, (source, target), priced)
    quote["_deprecated"] = call.path.startswith("/transfer-")
    quote["_fixed"] = extra.get("fixedAmount") or 0
    quote["_extra"] = extra
    _keep_override(world, body, source)
    if realtime:
        _open_realtime(world, quote)
    if realtime and body.get("immediatelyExecute") and quote["status"] == "PENDING":
        execute(world, quote)
    elif not realtime and body.get("immediatelyExecute"):
        execute(world, quote, at_once=world.persona.immediate_status == "COMPLETED")
    return quote


def _target(call: Call, source: End, body: Json) -> End:
    """Return the destination of a quote; one that is not there leaves, by a planted bug, a trace.

    Raises:
        Refusal: as in `_destination`.
    """
    try:
        return _destination(call, body["destination"])
    except Refusal as refusal:
        if refusal.status == 404 and call.world.has("refused-quote-leaves-transaction"):
            owner = source.owner["id"] if source.owner else ""
            account = source.account.get("id")
            transactions.leave(call.world, body, source.code, account=account, owner=owner)
        raise


def _as_taken(world: World, body: Json, source: End, codes: tuple[str, str]) -> Json:
    """Return the body of a quote, without its immediate execution by a planted bug."""
    at_once = body.get("immediatelyExecute")
    if at_once and codes[0] != codes[1] and world.has("cross-at-once-waits"):
        return body | {"immediatelyExecute": False}
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if at_once and realtime and world.has("immediate-realtime-accepted"):
        return body | {"immediatelyExecute": False}
    wallet = source.account.get("type") == "EMBEDDED_WALLET"
    if at_once and wallet and world.has("wallet-at-once-waits"):
        return body | {"immediatelyExecute": False}
    return body


def _pays_itself(world: World, source: End, target: End, body: Json) -> bool:
    """Tell whether an account pays itself, which a planted bug does not see."""
    if not source.account or source.account is not target.account:
        return False
    if body.get("immediatelyExecute") and world.has("self-payment-at-once"):
        return False
    return not world.has("self-payment")


def _request_payment(world: World, account: Json) -> None:
    try:
        uma.request_payment(world, account)
    except Refusal as refusal:
        if refusal.code == "SENDER_NOT_ACCEPTED" and world.has("sender-refused-at-quote"):
            raise Refusal(refusal.code, refusal.reason, status=424) from None
        if refusal.status == 412 and world.has("outdated-at-quote-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        if refusal.code == "LNURLP_REQUEST_FAILED" and world.has("silent-at-quote-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        raise


def _extra(world: World, codes: tuple[str, str], body: Json) -> Json:
    override = body.get("platformFeeOverride")
    foreign = override is not None and codes[0] != "USD"
    funded = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if foreign and funded and world.has("override-unchecked-just-in-time"):
        return dict(override or {})
    extra = pricing.platform_fee(world, *codes, override)
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if extra and not override and realtime and world.has("standing-fee-not-just-in-time"):
        return {}
    pulls = str(body["source"].get("accountId")).startswith("ExternalAccount:")
    if extra and not override and pulls and world.has("standing-fee-not-pulled"):
        return {}
    coins = COINS[codes[1]].crypto and not override
    if extra and coins and world.has("standing-fee-not-to-coins"):
        return {}
    late = override and body["lockedCurrencySide"] == "RECEIVING"
    return {} if late and extra and world.has("override-lost-receiving") else extra


def _amount(world: World, codes: tuple[str, str], body: Json) -> int:
    """Return the locked amount, which a planted bug reads as hundredths of a crypto currency."""
    amount = int(body["lockedCurrencyAmount"])
    received = COINS[codes[1]]
    in_coins = body["lockedCurrencySide"] == "RECEIVING" and received.crypto
    if in_coins and world.has("locked-coins-in-cents"):
        amount *= 10 ** (received.decimals - 2)
    return amount


def _keep_override(world: World, body: Json, source: End) -> None:
    """Make the platform fee of a quote the standing one, by a planted bug."""
    fee = body.get("platformFeeOverride")
    if fee is not None and source.code == "USD" and world.has("override-kept"):
        world.config["feeConfigs"] = [{"sendingCurrency": "USD", **fee}]


def _require_signature(call: Call, source: End, target: End) -> None:
    """Let an embedded wallet pay only with the signature of its device."""
    account = source.internal
    if not account:
        return
    owner = source.owner or {}
    business = account["type"] == "EMBEDDED_WALLET" and owner.get("customerType") == "BUSINESS"
    if business and call.world.has("business-wallet-unsigned"):
        return
    made = business and call.path == "/quotes"
    if made and call.world.has("business-wallet-at-once-unsigned"):
        return
    at_once = account["type"] == "EMBEDDED_WALLET" and call.path == "/quotes"
    if at_once and call.world.has("wallet-at-once-unsigned"):
        return
    inside = account["type"] == "EMBEDDED_WALLET" and target.internal
    if not (inside and call.world.has("wallet-unsigned-inside")):
        wallets.require_signature(call, account)


def _require_immediate(
    call: Call, source: End, target: End, needed: int, *, realtime: bool
) -> None:
    world = call.world
    if realtime and not world.has("realtime-at-once"):
        raise invalid("immediatelyExecute", "needs an account that money can be taken from")
    if source.internal:
        internals.require_funds(world, source.internal, needed)
        _require_signature(call, source, target)
    require_volume(world, source.owner, (source.code, target.code))
    if customers.needs_sca(world, source.owner) and world.persona.immediate_with_sca == "refused":
        raise conflict("This customer has to authorize first.")


def _described(world: World, body: Json) -> str | None:
    given: str | None = body.get("description")
    return given.strip() if given and world.persona.tidies else given


def _transaction_id(world: World, body: Json) -> str:
    """Return a fresh id, or by a planted bug that of a pending quote with an equal body."""
    twins = [
        row for row in world.quotes.values() if row["_body"] == body and row["status"] == "PENDING"
    ]
    if twins and world.has("twin-quotes-one-transaction"):
        return str(twins[0]["transactionId"])
    return world.new_id("Transaction")


def _record(world: World, body: Json, ends: tuple[End, End], priced: Price) -> Json:
    source, target = ends
    moment = now()
    given = {name: value for name, value in body["destination"].items() if name != "paymentRail"}
    if given != body["destination"] and world.has("rail-echo"):
        given = dict(body["destination"])
    origin = body["source"]
    if "customerId" in origin and world.has("realtime-source-cut"):
        origin = {name: value for name, value in origin.items() if name != "customerId"}
    if origin["sourceType"] == "REALTIME_FUNDING" and world.has("realtime-source-as-account"):
        origin = {"sourceType": "ACCOUNT", "accountId": world.new_id("InternalAccount")}
    seconds = 3600 if world.has("long-quote") else world.persona.quote_seconds
    if body["destination"].get("paymentRail") in {"ACH", "WIRE"} and world.has("slow-rail-hour"):
        seconds = 3600
    quote: Json = {
        "id": world.new_id("Quote"),
        "status": "PENDING",
        "createdAt": moment,
        "expiresAt": ahead(seconds),
        "source": origin,
        "destination": given,
        "transactionId": _transaction_id(world, body),
        "description": _described(world, body),
        "_body": body,
        "_rail": body["destination"].get("paymentRail"),
        "_locked": (body["lockedCurrencySide"], body["lockedCurrencyAmount"]),
        "_override": body.get("platformFeeOverride"),
        "_sent": priced.sent,
        "_received": priced.received,
        "_price": priced,
        "_source": source,
        "_target": target,
        "_more": 0,
        "_second": False,
        "_taken": False,
        "_proven": False,
        "_challenge": None,
        "_realtime": body["source"]["sourceType"] == "REALTIME_FUNDING",
        "_immediate": bool(body.get("immediatelyExecute")),
        "_payable": target.account.get("status") == "ACTIVE",
    }
    world.quotes[quote["id"]] = quote
    transactions.begin(world, quote)
    return quote


def shown(world: World, quote: Json) -> Json:
    """Return a quote as answers show it."""
    priced: Price = quote["_price"]
    one = shown_rate(world, priced)
    both = priced.fee + priced.platform_fee
    body = public(quote) | {
        "sendingCurrency": currency(priced.sending),
        "receivingCurrency": currency(priced.receiving),
        "totalSendingAmount": priced.sent,
        "totalReceivingAmount": priced.received,
        "exchangeRate": float(one) if one != 1 or world.persona.rate_as_float else 1,
        "feesIncluded": both if world.persona.fee_sum == "total" else priced.fee,
        "platformFeesIncluded": priced.platform_fee,
        "rateDetails": {
            "counterpartyMultiplier": float(one),
            "counterpartyFixedFee": 0,
            "gridApiMultiplier": float(one),
            "gridApiFixedFee": 0,
            "gridApiVariableFeeRate": float(priced.fee_rate),
            "gridApiVariableFeeAmount": priced.fee,
        },
    }
    _mistake_price(world, quote, body)
    _mistake_unit(world, quote, body)
    _mistake(world, quote, body)
    if quote["_immediate"] and world.has("no-expiry-at-once"):
        body["expiresAt"] = None
    waits = quote["_realtime"] and quote["status"] in {"PENDING", "PENDING_AUTHORIZATION"}
    if waits and world.has("late-transaction-id"):
        body["transactionId"] = None
    if quote["_challenge"]:
        body["scaChallenge"] = _challenge(world, quote)
    elif "_last_challenge" in quote:
        body["scaChallenge"] = quote["_last_challenge"]
    open_to_pay = not customers.needs_sca(world, quote["_source"].owner) or quote["_proven"]
    if quote["_realtime"] and quote["_proven"] and world.has("instructions-never"):
        open_to_pay = False
    if quote["_realtime"] and (open_to_pay or world.has("instructions-early")):
        body["paymentInstructions"] = [_instruction(world, quote)]
        ours = quote["_source"].owner is None
        if ours and world.has("platform-realtime-quote-without-instructions"):
            body["paymentInstructions"] = []
        elif priced.sending == "BTC" and world.has("bitcoin-instructions-bare"):
            body["paymentInstructions"] = body["paymentInstructions"][0]
    return body


def _mistake(world: World, quote: Json, body: Json) -> None:
    """Spoil a quote that is shown by a planted bug."""
    priced: Price = quote["_price"]
    if "&" in (body["description"] or "") and world.has("description-escaped"):
        body["description"] = body["description"].replace("&", "&amp;")
    home = priced.sending == priced.receiving
    if home and _is_rate_net(world, quote):
        body["exchangeRate"] = priced.received / priced.sent
    if home and world.has("home-rate-null"):
        body["exchangeRate"] = None
    if COINS[priced.receiving].crypto and world.has("ticker-lower-case"):
        body["receivingCurrency"]["code"] = priced.receiving.lower()
    if priced.sending == priced.receiving and world.has("fees-unshown-at-home"):
        body |= {"feesIncluded": None, "platformFeesIncluded": None}
    elif quote["_fixed"] and world.has("fixed-fee-unshown"):
        body["platformFeesIncluded"] -= quote["_fixed"]
    if world.has("fixed-fee-misnamed"):
        body["rateDetails"]["serviceApiFixedFee"] = body["rateDetails"].pop("gridApiFixedFee")
    if priced.sending != priced.receiving and world.has("fee-in-receiving-currency"):
        one = unit_rate(priced.sending, priced.receiving)
        body["feesIncluded"] = half_up(body["feesIncluded"] * one)
    between = quote["status"] == "PENDING_AUTHORIZATION" and quote["_second"]
    if between and world.has("between-proofs-pending"):
        body["status"] = "PENDING"


def _is_rate_net(world: World, quote: Json) -> bool:
    """Tell whether a planted bug shows a rate within one currency that has the fee in it."""
    if quote["_locked"][0] == "RECEIVING" and world.has("home-rate-with-fee"):
        return True
    return world.has("same-currency-rate-net-of-fees")


def _mistake_price(world: World, quote: Json, body: Json) -> None:
    """Spoil by a planted bug what a quote costs and how long that lasts."""
    priced: Price = quote["_price"]
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    if by_address and world.has("uma-quote-without-expiry"):
        body["expiresAt"] = None
    for name in ("sendingCurrency", "receivingCurrency"):
        if COINS[body[name]["code"]].decimals > 2 and world.has("quote-coin-decimals"):
            body[name]["decimals"] = 2
    net = priced.sent - priced.fee - priced.platform_fee
    exact = net * unit_rate(priced.sending, priced.receiving)
    broken = quote["_locked"][0] == "SENDING" and exact != int(exact)
    if broken and world.has("received-amount-not-rounded"):
        body["totalReceivingAmount"] = float(exact)
    if quote["_locked"][0] == "RECEIVING" and world.has("shown-fee-on-net"):
        body["feesIncluded"] -= priced.fee - half_up((priced.sent - priced.fee) * priced.fee_rate)
    locked = quote["_locked"][0]
    if priced.receiving == "BTC" and locked == "SENDING" and world.has("received-in-millisatoshis"):
        body["totalReceivingAmount"] *= 1000
    symbol = body["sendingCurrency"]["symbol"]
    if body["receivingCurrency"]["symbol"] != symbol and world.has("received-symbol-of-sender"):
        body["receivingCurrency"]["symbol"] = symbol
    if COINS[priced.receiving].decimals != 2 and world.has("received-decimals-two"):
        body["receivingCurrency"]["decimals"] = 2
    if world.has("receiving-currency-as-code"):
        body["receivingCurrency"] = priced.receiving


def _mistake_unit(world: World, quote: Json, body: Json) -> None:
    """Spoil by a planted bug in which unit a quote tells what is received."""
    places = COINS[quote["_price"].receiving].decimals
    fits = places == 2 or quote["_locked"][0] != "SENDING"
    if not fits and world.has("receiving-total-in-hundredths"):
        whole = Decimal(quote["_price"].received).scaleb(-places)
        body["totalReceivingAmount"] = half_up(whole.scaleb(2))


def _challenge(world: World, quote: Json) -> Json:
    challenge = public(quote["_challenge"])
    if world.has("challenge-expiry-in-seconds"):
        challenge["expiresAt"] = int(challenge["expiresAt"].timestamp())
    return challenge


def _instruction(world: World, quote: Json) -> Json:
    shadow = {"_code": quote["_price"].sending, "_number": quote["id"].partition(":")[2][:16]}
    shown_so = internals.instruction(world, shadow, reference=quote["_number"])
    if COINS[quote["_price"].sending].crypto and world.has("coin-instruction-untyped"):
        del shown_so["accountOrWalletInfo"]["accountType"]
    elif world.has("quote-instruction-type-outside"):
        shown_so["accountType"] = shown_so["accountOrWalletInfo"].pop("accountType")
    return shown_so


def _open_realtime(world: World, quote: Json) -> None:
    quote["_number"] = f"RT{world.number()}"
    if world.has("realtime-quote-lives-an-hour"):
        quote["expiresAt"] = ahead(3_600)
    if world.has("just-in-time-lives-a-day"):
        quote["expiresAt"] = ahead(86_400)
    if (
        customers.needs_sca(world, quote["_source"].owner)
        and world.persona.realtime_sca == "creation"
    ):
        ask(world, quote)


def ask(world: World, quote: Json) -> None:
    """Make a quote wait for its customer's proof."""
    owner = quote["_source"].owner
    cross = quote["_price"].sending != quote["_price"].receiving
    within = cross and quote["_target"].internal is not None
    purpose = "CURRENCY_CONVERSION" if within else "PAYOUT"
    quote["_challenge"] = sca.challenge(world, owner, purpose)
    if quote["_more"] and world.has("bare-second-challenge"):
        quote["_challenge"]["id"] = quote["_challenge"]["id"].partition(":")[2]
    if quote["_more"] and world.has("second-challenge-no-factors"):
        del quote["_challenge"]["availableFactors"]
    owner["_asked"] = quote["id"]
    quote["_second"] = bool(quote["_more"])
    if not quote["_more"]:
        quote["_more"] = owner.pop("_more", 1)
    quote["status"] = "PENDING_AUTHORIZATION"
    waiting = world.persona.authorizing_status
    if world.has("transaction-shows-pending-authorization"):
        waiting = "PENDING_AUTHORIZATION"
    transactions.of(world, quote)["status"] = waiting


def execute(world: World, quote: Json, *, at_once: bool = False) -> None:
    """Execute a quote that is pending, or ask its customer first.

    Raises:
        Refusal: where the money is not there, or the destination cannot receive.
    """
    source: End = quote["_source"]
    target: End = quote["_target"]
    closed = source.account.get("status") == "CLOSED" and world.has("closed-after-quote")
    frozen = source.account.get("status") == "FROZEN" and world.has("frozen-after-quote")
    if not closed and not frozen:
        by_address = quote["destination"]["destinationType"] == "UMA_ADDRESS"
        _require_sendable(world, source, deprecated=quote["_deprecated"], by_address=by_address)
    if world.persona.approval_noticed == "execution" and not quote["_realtime"]:
        _require_approval(world, source, realtime=False, at_once=at_once)
    gone = target.external is not None and target.external["id"] not in world.externals
    if gone and world.persona.gone_destination == "refused":
        raise Refusal("ACCOUNT_NOT_FOUND", "The destination was deleted.")
    if not transactions.is_paid_all_the_same(world, quote):
        _require_receivable(world, target, quote["_sent"], source.code)
    require_volume(world, source.owner, (source.code, target.code))
    if source.internal and not world.has("funds-checked-at-creation-only"):
        _require_funds_now(world, quote)
    if _asks(world, quote) and not world.has("trust-for-all"):
        ask(world, quote)
        if source.internal and world.has("challenge-debits"):
            internals.take(world, source.internal, quote["_sent"])
            quote["_taken"] = True
        return
    pay(world, quote, at_once=at_once)


def _needed(world: World, side: str, priced: Price) -> int:
    """Return what the source of a quote has to have: by a planted bug what is received."""
    received = side == "RECEIVING" and world.has("funds-of-received")
    fees = priced.fee + priced.platform_fee
    if fees and world.has("funds-before-fees"):
        return priced.sent - fees
    return priced.received if received else priced.sent


def _require_funds_now(world: World, quote: Json) -> None:
    try:
        needed = _needed(world, quote["_locked"][0], quote["_price"])
        internals.require_funds(world, quote["_source"].account, needed)
    except Refusal as refusal:
        if world.has("short-execution-ends-quote"):
            quote["status"] = "FAILED"
        if world.has("short-execution-starts-payment"):
            transactions.of(world, quote)["status"] = "PROCESSING"
        if world.has("short-execution-holds"):
            internals.hold_all(world, quote["_source"].account)
        if world.has("late-funds-unprocessable"):
            raise Refusal(refusal.code, refusal.reason, status=422) from None
        raise


def _asks(world: World, quote: Json) -> bool:
    owner: Json | None = quote["_source"].owner
    trusted = quote["_target"].account.get("_trusted", False)
    if owner is None or not customers.needs_sca(world, owner) or quote["_proven"] or trusted:
        return False
    if quote["_deprecated"] and world.has("transfer-unasked"):
        return False
    if quote["_immediate"] and not quote["_deprecated"] and world.has("immediate-unasked"):
        return False
    if owner.get("_proved") and world.has("proof-opens-others"):
        return False
    if quote["_source"].external and world.has("pull-unasked"):
        return False
    return owner["customerType"] != "BUSINESS" or not world.has("no-challenge-for-business")


def _take_after_check(world: World, quote: Json, account: Json, amount: int) -> None:
    """Debit an account once another execution has looked at its balance too, or none came."""
    internals.require_funds(world, account, amount)
    quote["status"] = "PROCESSING"
    account["_checks"] = mine = account.get("_checks", 0) + 1
    world.another_checks.notify_all()
    world.another_checks.wait_for(lambda: account["_checks"] > mine, _MAX_RACE_SECONDS)
    internals.take(world, account, amount)


def _debited(world: World, quote: Json, code: str) -> int:
    """Return what the source of a quote pays, of which planted bugs leave out a part."""
    amount: int = quote["_sent"]
    own = quote["_price"].platform_fee
    if own and world.has("platform-fee-left"):
        amount -= own
    fees = quote["_price"].fee + own
    if fees and world.has("debit-net"):
        amount -= fees
    cent = 10 ** max(COINS[code].decimals - 2, 0)
    if amount % cent and world.has("coin-debit-in-cents"):
        amount -= amount % cent
    return amount


def _is_taken_unchecked(world: World) -> bool:
    """Tell whether a planted bug does not look at the balance when it debits it."""
    return world.has("funds-checked-at-creation-only") or world.has("funds-before-fees")


def pay(world: World, quote: Json, *, at_once: bool = False) -> None:
    """Debit the source of a quote, and let its transaction settle.

    Raises:
        Refusal: where the source has less.
    """
    account = quote["_source"].internal
    if account and not quote["_taken"] and not world.has("debit-forgotten"):
        amount = _debited(world, quote, account["_code"])
        authorized = quote["_proven"] and not quote["_realtime"]
        received = quote["_locked"][0] == "RECEIVING" and world.has("funds-of-received")
        if received or _is_taken_unchecked(world):
            internals.take(world, account, amount)
        elif world.has("total-keeps-spent"):
            internals.require_funds(world, account, amount)
            account["_spent"] += amount
            internals.take(world, account, amount)
        elif world.has("executions-side-by-side"):
            _take_after_check(world, quote, account, amount)
        elif world.has("unsettled-in-balance"):
            internals.take_later(world, account, amount)
            transactions.of(world, quote)["_unsettled"] = amount
        elif world.has("debit-untold"):
            internals.require_funds(world, account, amount)
            account["_available"] -= amount
        elif not (authorized and world.has("authorized-not-debited")):
            internals.debit(world, account, amount)
    quote["status"] = "PROCESSING"
    quote["_challenge"] = None
    if world.has("executed-expires-now"):
        quote["expiresAt"] = now()
    transactions.start(world, quote, at_once=at_once)


def of(call: Call) -> Json:
    """Return the quote of the path, as it is by now.

    Raises:
        Refusal: 404 where there is none.
    """
    quote = call.world.find(call.world.quotes, call.params["quoteId"], "QUOTE_NOT_FOUND")
    owner = quote["_source"].owner
    call.concerns(owner["id"] if owner else "")
    transactions.refresh_quote(call.world, quote)
    return quote


def _is_expired(world: World, quote: Json) -> bool:
    if quote["_source"].owner is None and world.has("platform-quote-lasts"):
        return False
    return bool(quote["expiresAt"] <= now() or quote["status"] == "EXPIRED")


def _expire_late(world: World, quote: Json) -> None:
    row = transactions.of(world, quote)
    if row["status"] == "PENDING" and world.has("expires-on-attempt"):
        row["status"] = "EXPIRED"
    if not quote["_realtime"] and world.has("expired-execution-debits"):
        _take_what_is_due(world, quote)


def _take_what_is_due(world: World, quote: Json) -> None:
    """Debit the source of a quote too early, where it has enough, which is for planted bugs."""
    account = quote["_source"].internal
    if account and account["_available"] >= quote["_sent"]:
        internals.take(world, account, quote["_sent"])


def _is_taken_again(world: World, quote: Json) -> bool:
    """Tell whether a planted bug takes the execution of a quote that waits for a proof."""
    if world.has("challenge-again"):
        return True
    return bool(quote["_second"]) and world.has("again-at-second-challenge")


def _require_executable(world: World, quote: Json) -> None:
    if "_stale" in quote:
        account = quote["_source"].internal
        if account and world.has("refused-rate-debits"):
            internals.take(world, account, quote["_sent"])
        raise Refusal("QUOTE_RATE_UNAVAILABLE", "The rate cannot be kept.")
    if quote["_source"].external and world.has("pull-not-executable"):
        raise conflict("This quote is only executed when it is made.")


def _expired(world: World) -> Refusal:
    """Return what refuses to execute an expired quote."""
    if world.has("expired-as-invalid"):
        return invalid("quoteId", "has expired")
    status = 409 if world.has("expired-quote-409") else 0
    return Refusal(world.persona.expired_code, "The quote has expired.", status=status)


def execute_call(call: Call) -> Reply:
    """POST /quotes/{quoteId}/execute."""
    world, persona, quote = call.world, call.world.persona, of(call)
    again = quote["status"] == "COMPLETED" and world.has("executed-twice")
    if quote["status"] in {"PROCESSING", "COMPLETED", "FAILED"} and not again:
        if persona.repeated_execution == "refused":
            raise conflict("The quote was executed.")
        return 200, shown(world, quote)
    if quote["status"] == "PENDING_AUTHORIZATION":
        if _is_taken_again(world, quote):
            return 200, shown(world, quote)
        if not quote["_realtime"] and world.has("refused-execution-reopens"):
            quote |= {"status": "PENDING", "_challenge": None}
            transactions.of(world, quote)["status"] = "PENDING"
        raise conflict("The quote waits for an authorization.")
    late = _is_expired(world, quote) and not quote["_realtime"]
    late = late and not _is_renewed(world, quote)
    if late and _asks(world, quote) and world.has("expired-asks-for-proof"):
        ask(world, quote)
        return 200, shown(world, quote)
    again = "_refused_late" in quote and not quote["_realtime"]
    if again and world.has("second-attempt-executes"):
        execute(world, quote)
        return 200, _executed(world, quote)
    if _is_expired(world, quote) and not world.has("quotes-for-ever"):
        quote["_refused_late"] = True
        _expire_late(world, quote)
        raise _expired(world)
    if quote["_realtime"]:
        return _execute_realtime(world, quote)
    _require_executable(world, quote)
    _require_signature(call, quote["_source"], quote["_target"])
    _recount(world, quote)
    _convert_again(world, quote)
    execute(world, quote)
    return world.persona.executed_status, _executed(world, quote)


def _is_renewed(world: World, quote: Json) -> bool:
    """Price an expired quote again by a planted bug, which gives it another lifetime."""
    if not world.has("expired-priced-anew"):
        return False
    old: Price = quote["_price"]
    side, amount = quote["_locked"]
    priced = pricing.price(world, (old.sending, old.receiving), side, amount, quote["_extra"])
    quote |= {
        "status": "PENDING",
        "expiresAt": ahead(world.persona.quote_seconds),
        "_price": priced,
        "_sent": priced.sent,
        "_received": priced.received,
    }
    transactions.of(world, quote)["status"] = "PENDING"
    return True


def _recount(world: World, quote: Json) -> None:
    """Price a quote again, by a planted bug, where the standing fee was changed after it."""
    old: Price = quote["_price"]
    codes = (old.sending, old.receiving)
    extra = pricing.platform_fee(world, *codes, quote["_override"])
    if extra == quote["_extra"] or not world.has("execution-recounts-fee"):
        return
    side, amount = quote["_locked"]
    priced = pricing.price(world, codes, side, amount, extra)
    quote |= {"_price": priced, "_sent": priced.sent, "_received": priced.received}
    transactions.of(world, quote).update(
        sentAmount=money(priced.sent, priced.sending),
        receivedAmount=money(priced.received, priced.receiving),
        platformFees=transactions.platform_fees(world, priced),
    )


def _convert_again(world: World, quote: Json) -> None:
    """Convert what a quote sends, by a planted bug, at the rate of its execution."""
    old: Price = quote["_price"]
    if old.sending == old.receiving or not world.has("execution-at-new-rate"):
        return
    priced = replace(old, received=half_up(old.received * _DRIFT), drift=_DRIFT)
    quote |= {"_price": priced, "_received": priced.received}
    transactions.of(world, quote).update(
        receivedAmount=money(priced.received, priced.receiving),
        exchangeRate=float(shown_rate(world, priced)),
    )


def _executed(world: World, quote: Json) -> Json:
    body = shown(world, quote)
    if quote["_challenge"] and world.has("challenged-without-transaction"):
        body["transactionId"] = None
    _mistake_executed(world, body)
    if quote["_rail"] and world.has("execution-echoes-rail"):
        body["destination"] = {**body["destination"], "paymentRail": quote["_rail"]}
    if world.has("new-transaction-id"):
        body["transactionId"] = world.new_id("Transaction")
    if world.has("executed-net"):
        body["totalSendingAmount"] -= body["feesIncluded"]
    return body


def _mistake_executed(world: World, body: Json) -> None:
    """Spoil the answer to an execution by a planted bug."""
    if world.has("executed-without-fees"):
        body["feesIncluded"] = 0
    if body["description"] and world.has("executed-without-description"):
        body["description"] = None
    if world.has("executed-answer-stale"):
        body["status"] = "PENDING"
        body.pop("scaChallenge", None)
    sent, received = body["sendingCurrency"], body["receivingCurrency"]
    if sent != received and world.has("executed-currencies-swapped"):
        body |= {"sendingCurrency": received, "receivingCurrency": sent}


def _execute_realtime(world: World, quote: Json) -> Reply:
    waits = customers.needs_sca(world, quote["_source"].owner) and not quote["_proven"]
    if waits and world.persona.realtime_sca == "execution":
        ask(world, quote)
        return 200, shown(world, quote)
    if quote.get("_funded"):
        # Without a planted bug the payment has executed it.
        pay(world, quote)
    elif world.has("realtime-quote-executable-by-call"):
        pay(world, quote)
    elif world.persona.realtime_execution == "refused":
        raise conflict("A payment to the instructions executes this quote.")
    return 200, shown(world, quote)


def _asked(call: Call) -> Json:
    """Return the quote that is authorized; none is there is a conflict by a planted bug."""
    try:
        return of(call)
    except Refusal as refusal:
        if refusal.status == 404 and call.world.has("unknown-quote-authorized"):
            raise conflict("Nothing is asked.") from None
        raise


def authorize(call: Call) -> Reply:
    """POST /quotes/{quoteId}/authorize."""
    world, quote = call.world, _asked(call)
    body = call.json()
    open_still = quote["status"] == "PENDING" and not quote["_realtime"]
    if open_still and not _is_expired(world, quote) and world.has("unasked-proof-executes"):
        pay(world, quote)
        return 200, shown(world, quote)
    if quote["status"] != "PENDING_AUTHORIZATION":
        status = world.persona.wrong_state_status
        raise Refusal("CONFLICT" if status == 409 else INPUT, "Nothing is asked.", status=status,
                      details=None if status == 409 else _no_question())  # fmt: skip
    _prove(world, quote, body)
    quote = _proven(world, quote)
    quote["_more"] -= 1
    if quote["_more"] > 0 and not world.has("one-challenge-only"):
        ask(world, quote)
        answer = shown(world, quote)
        if world.has("second-challenge-hidden"):
            del answer["scaChallenge"]
        return 200, answer
    quote["_proven"] = True
    quote["_source"].owner["_proved"] = True
    asked = quote["_challenge"]
    if world.persona.kept_challenge:
        quote["_last_challenge"] = public(asked)
    if quote["_realtime"]:
        quote["status"] = "PENDING"
        quote["_challenge"] = None
        transactions.of(world, quote)["status"] = "PENDING"
    else:
        frozen = quote["_source"].account.get("status") == "FROZEN"
        if not (frozen and world.has("frozen-while-authorizing")):
            _require_sendable(world, quote["_source"])
        if not transactions.is_paid_all_the_same(world, quote):
            _require_receivable(world, quote["_target"], quote["_sent"], quote["_source"].code)
        pay(world, quote)
    return world.persona.executed_status, _authorized(world, quote, asked)


def _authorized(world: World, quote: Json, asked: Json) -> Json:
    """Return a quote as the answer to its last proof shows it; `asked` is the challenge."""
    answer = shown(world, quote)
    if world.has("authorize-answer-stale"):
        answer |= {"status": "PENDING_AUTHORIZATION", "scaChallenge": public(asked)}
    if quote["status"] == "PROCESSING" and world.has("authorized-keeps-challenge"):
        answer["scaChallenge"] = public(asked)
    if world.has("authorized-answer-bare-id"):
        answer["id"] = answer["id"].partition(":")[2]
    if world.has("authorized-new-transaction"):
        answer["transactionId"] = world.new_id("Transaction")
    return answer


def _proven(world: World, quote: Json) -> Json:
    """Return the quote that a proof authorizes: by a planted bug its customer's newest one."""
    owner = quote["_source"].owner
    newest = [
        row
        for row in world.quotes.values()
        if row["_source"].owner is owner and row["status"] == "PENDING_AUTHORIZATION"
    ][-1]
    return newest if newest is not quote and world.has("proof-of-newest-quote") else quote


def _prove(world: World, quote: Json, body: Json) -> None:
    """Take a proof; a wrong one makes the quote PENDING again by a planted bug.

    Raises:
        Refusal: as in `sca.prove`.
    """
    owner = quote["_source"].owner
    if owner["_asked"] != quote["id"] and world.has("second-challenge-replaces-first"):
        # No proof fits a challenge that is not kept any more.
        body = {}
    try:
        sca.prove(world, owner, body)
    except Refusal as refusal:
        wrong = refusal.code not in {"ACCOUNT_LOCKED", "SCA_SESSION_REQUIRED"}
        if wrong and not quote["_realtime"] and world.has("wrong-proof-reopens"):
            quote |= {"status": "PENDING", "_challenge": None}
            transactions.of(world, quote)["status"] = "PENDING"
        if wrong and not quote["_realtime"] and world.has("wrong-proof-debits"):
            _take_what_is_due(world, quote)
        raise


def _no_question() -> Json:
    return {"errors": [{"field": "quoteId", "message": "waits for no authorization"}]}


def fund_realtime(world: World, quote: Json, reference: str) -> None:
    """Let a payment arrive that a quote asks for; one with another reference changes nothing.

    Raises:
        Refusal: where the quote does not wait for a payment, or its payer sends no more that day.
    """
    transactions.refresh_quote(world, quote)
    require_volume(world, quote["_source"].owner, (quote["_source"].code, quote["_target"].code))
    if not quote["_realtime"] or quote["status"] != "PENDING" or _is_expired(world, quote):
        raise conflict("The quote waits for no payment.")
    if COINS[quote["_price"].sending].crypto and world.has("coin-payment-ignored"):
        return
    cross = quote["_price"].sending != quote["_price"].receiving
    if cross and world.has("cross-realtime-ignored"):
        return
    if reference == quote["_number"] and world.has("payment-needs-execution"):
        quote["_funded"] = True
        return
    if reference == quote["_number"] or world.has("any-reference"):
        pay(world, _paid_for(world, quote))


def _paid_for(world: World, quote: Json) -> Json:
    """Return the quote that a payment executes: by a planted bug the payer's first open one."""
    payer = quote["_source"].owner
    first = next(
        row
        for row in world.quotes.values()
        if row["_realtime"] and row["status"] == "PENDING" and row["_source"].owner is payer
    )
    other = payer is not None and first is not quote and world.has("payment-executes-first")
    return first if other else quote


def read(call: Call) -> Reply:
    """GET /quotes/{quoteId}."""
    if not call.world.persona.reads_one:
        raise Refusal("NOT_FOUND", "There is no such operation.")
    return 200, shown(call.world, of(call))


def _to_approve(world: World, row: Json) -> Json:
    """Return what is approved: by a planted bug the customer's first that waits for it."""
    waiting = [
        one
        for one in world.transactions.values()
        if one.get("_agent") and one["status"] == "PENDING" and one["_customer"] == row["_customer"]
    ]
    later = row in waiting[1:] and world.has("approval-of-oldest")
    return waiting[0] if later else row


def approve(call: Call) -> Reply:
    """POST /transactions/{transactionId}/approve."""
    call.only_platform()
    world = call.world
    row = _to_approve(world, transactions.find(call))
    done = "_approved" in row and row["status"] in {"PROCESSING", "COMPLETED"}
    again = done and world.has("approved-twice")
    own = not row.get("_agent") and row["status"] == "PENDING" and row.get("_quote")
    waits = own and own["status"] == "PENDING" and not own["_realtime"]
    alien = waits and world.has("approved-without-agent")
    if not again and not alien and (not row.get("_agent") or row["status"] != "PENDING"):
        raise conflict("The transaction waits for no approval.")
    quote = row["_quote"]
    payer = quote["_source"].owner
    if payer and payer["customerType"] == "BUSINESS" and world.has("business-approval-refused"):
        raise conflict("The transaction waits for no approval.")
    frozen = quote["_source"].account.get("status") == "FROZEN"
    if not (frozen and world.has("approved-from-frozen")):
        _require_sendable(world, quote["_source"])
    _require_receivable(world, quote["_target"], quote["_sent"], quote["_source"].code)
    if quote["_source"].internal:
        internals.require_funds(world, quote["_source"].internal, quote["_sent"])
    row |= {"_agent": False, "_approved": True}
    if world.persona.approved_at == "later":
        if quote["_source"].internal:
            internals.debit(world, quote["_source"].internal, quote["_sent"])
            quote["_taken"] = True
        world.later(world.persona.settle_seconds, lambda: _pay_approved(world, row))
        return 202, transactions.shown(world, row)
    row["pendingReason"] = None
    pay(world, quote)
    return 200, transactions.shown(world, row)


def _pay_approved(world: World, row: Json) -> None:
    row["pendingReason"] = None
    pay(world, row["_quote"])


def transfer(call: Call, *, outward: bool) -> Reply:
    """Carry out a deprecated transfer within one currency.

    Raises:
        Refusal: for what is in its way.
    """
    world = call.world
    account = {"accountId": text(most=100), "paymentRail": text(most=40)}
    body = call.json(
        record(
            {
                "source": record(account, ("accountId",)),
                "destination": record(account, ("accountId",)),
                "amount": integer(1, pricing.MAX_AMOUNT),
                "remittanceInformation": text(most=MAX_REMITTANCE),
                "purposeOfPayment": text(most=200),
            },
            ("source", "destination", "amount"),
            closed=world.persona.refuses_unknown,
        )
    )
    shaped = "sourceType" in body["source"] and "destinationType" in body["destination"]
    if not shaped and world.has("transfer-in-new-shape"):
        raise invalid("source.sourceType", "is required", kind="select")
    wanted: Json = {
        **{name: body.get(name) for name in ("remittanceInformation", "purposeOfPayment")},
        "source": {"sourceType": "ACCOUNT", **body["source"]},
        "destination": {"destinationType": "ACCOUNT", **body["destination"]},
        "lockedCurrencySide": "RECEIVING" if world.has("transfer-on-top") else "SENDING",
        "lockedCurrencyAmount": body["amount"],
        "immediatelyExecute": not world.has("transfer-left-pending"),
    }
    source = _source(call, wanted["source"])
    target = _destination(call, wanted["destination"])
    if source.code != target.code:
        raise Refusal("INVALID_CURRENCY", "Transfers stay within one currency.", status=400)
    payer = source.owner
    if payer and payer["customerType"] == "BUSINESS" and world.has("business-transfer-refused"):
        raise invalid("source.accountId", "belongs to no individual")
    fits = source.internal if outward else (source.external and target.internal)
    if not fits:
        raise invalid("source.accountId", "is on the wrong side")
    quote = make(call, wanted)
    row = transactions.of(world, quote)
    return 201, transactions.shown(world, row) | {"amount": money(body["amount"], source.code)}


def transfer_out(call: Call) -> Reply:
    """POST /transfer-out."""
    return transfer(call, outward=True)


def transfer_in(call: Call) -> Reply:
    """POST /transfer-in."""
    return transfer(call, outward=False)


ROUTES: list[Route] = [
    ("POST", "/quotes", create),
    ("GET", "/quotes/{quoteId}", read),
    ("POST", "/quotes/{quoteId}/execute", execute_call),
    ("POST", "/quotes/{quoteId}/authorize", authorize),
    ("POST", "/transactions/{transactionId}/approve", approve),
    ("POST", "/transfer-in", transfer_in),
    ("POST", "/transfer-out", transfer_out),
]
