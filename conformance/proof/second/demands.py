"""What is demanded of the ends of a quote before money moves between them."""

from conformance.proof.second import (
    account_types,
    configuration,
    customer_views,
    external_views,
    internals,
    transactions,
    wallets,
)
from conformance.proof.second.call import Call
from conformance.proof.second.ends import End
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.money import Json, unit_rate
from conformance.proof.second.pricing import Price
from conformance.proof.second.world import World

MAX_DOLLAR_CENTS = 5_000_000


def _may_pay(world: World, owner: Json, source: End, *, realtime: bool) -> bool:
    reviewed = owner[customer_views.status_name(owner)] == "PENDING"
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
    return customer_views.is_approved(owner) or (waits and world.has("pending-just-in-time"))


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


def require_approval(world: World, source: End, *, realtime: bool, at_once: bool) -> None:
    """Refuse a payer who is not approved, or whose review only begins.

    Raises:
        Refusal: by the code that the persona has for it.
    """
    allowed = source.owner is None or _may_pay(world, source.owner, source, realtime=realtime)
    if not allowed and not _is_let_pay(world, at_once=at_once):
        status, code = world.persona.unapproved_code
        raise Refusal(code, "The customer is not approved.", status=status)


def require_owner(
    world: World, source: End, codes: tuple[str, str], *, realtime: bool, at_once: bool
) -> None:
    """Refuse a payer who is not approved, accepted no terms, or told too little.

    Raises:
        Refusal: for the first of these.
    """
    owner = source.owner
    if not owner:
        return
    early = world.persona.approval_noticed == "execution" and not at_once and not realtime
    if not early:
        require_approval(world, source, realtime=realtime, at_once=at_once)
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


def require_sendable(
    world: World, source: End, *, deprecated: bool = False, by_address: bool = False
) -> None:
    """Refuse a source that nothing can be sent from.

    Raises:
        Refusal: where the account is closed or frozen.
    """
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


def refuse_by_bugs(world: World, source: End, target: End, body: Json) -> None:
    """Refuse, by a planted bug, a quote that is in order.

    Raises:
        Refusal: where such a bug is planted.
    """
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


def require_receivable(world: World, target: End, amount: int, code: str) -> None:
    """Refuse a destination that cannot receive, or its holder.

    Raises:
        Refusal: for what it is not ready for.
    """
    closed = target.internal and transactions.is_shut(world, target.internal)
    if closed and not world.has("closed-receives"):
        raise conflict("The destination cannot receive.")
    owner = target.owner
    if owner is not None and not customer_views.is_approved(owner):
        raise conflict("Funding is blocked until the customer is approved.")
    account = target.external
    _refuse_proven(world, account, amount, code)
    if not account or account["status"] == "ACTIVE" or world.has("inactive-receives"):
        return
    if account["status"] == "UNVERIFIED" and world.has("unverified-receives"):
        return
    if account["status"] == "PENDING_OWNERSHIP_VERIFICATION":
        if external_views.in_ownership_limit(world, amount, code):
            return
        raise Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove the ownership first.")
    if account["status"] != "UNDER_REVIEW" or not world.has("reviewed-receives"):
        raise Refusal("INVALID_BANK_ACCOUNT", "The destination is not active.")


def _refuse_proven(world: World, account: Json | None, amount: int, code: str) -> None:
    """Hold an account to the limit of unproven ones, by a planted bug, whose owner is proven."""
    proven = account is not None and account["status"] == "ACTIVE" and "_owned" in account
    if not proven or external_views.in_ownership_limit(world, amount, code):
        return
    if world.has("proven-still-limited"):
        raise Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove the ownership first.")


def require_rail(world: World, target: End, given: Json) -> None:
    """Refuse a rail that the destination does not offer, where the persona looks at it.

    Raises:
        Refusal: for another rail.
    """
    if world.persona.unlisted_rail == "ignored":
        return
    rail = given.get("paymentRail")
    rails = (target.account.get("accountInfo") or {}).get("paymentRails")
    last = rails and rail == rails[-1]
    if rail and rails and (rail not in rails or (last and world.has("last-rail-refused"))):
        raise invalid("destination.paymentRail", "is not offered by the account", kind="select")


def demand_rail(world: World, target: End, body: Json) -> None:
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


def require_registration(world: World, owner: Json | None, target: End) -> None:
    """Refuse a business that pays one whose registration number was not told."""
    by_business = owner is not None and owner["customerType"] == "BUSINESS"
    if not by_business or not target.external or world.persona.registration_noticed != "quote":
        return
    person = target.external["accountInfo"].get("beneficiary") or {}
    told = {**(person.get("businessInfo") or {}), **person}
    demanded = target.code in account_types.SENDER_REGISTERED
    if demanded and told.get("legalName") and not told.get("registrationNumber"):
        raise invalid("destination.accountId", "its beneficiary has no registrationNumber")


def require_market(world: World, owner: Json | None, codes: tuple[str, str]) -> None:
    """Refuse two currencies that there is no rate between now.

    Raises:
        Refusal: with a code of quotes.
    """
    traits = owner["_traits"] if owner else set()
    if "quoting-down" in traits:
        raise Refusal("QUOTE_REQUEST_FAILED", "No liquidity provider answers.")
    if f"no-rate:{codes[0]}:{codes[1]}" in traits:
        if world.has("no-rate-as-failed"):
            raise Refusal("QUOTE_REQUEST_FAILED", "There is no rate.")
        raise Refusal("QUOTE_RATE_UNAVAILABLE", "There is no rate.")


def require_limits(world: World, owner: Json | None, priced: Price, body: Json) -> None:
    """Refuse more than one transaction may move, or a customer a day.

    Raises:
        Refusal: for the limit that is passed.
    """
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


def pays_itself(world: World, source: End, target: End, body: Json) -> bool:
    """Tell whether an account pays itself, which a planted bug does not see."""
    if not source.account or source.account is not target.account:
        return False
    if body.get("immediatelyExecute") and world.has("self-payment-at-once"):
        return False
    return not world.has("self-payment")


def require_signature(call: Call, source: End, target: End) -> None:
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


def require_immediate(call: Call, source: End, target: End, needed: int, *, realtime: bool) -> None:
    """Refuse what cannot be executed together with its creation.

    Raises:
        Refusal: for what stands in the way.
    """
    world = call.world
    if realtime and not world.has("realtime-at-once"):
        raise invalid("immediatelyExecute", "needs an account that money can be taken from")
    if source.internal:
        internals.require_funds(world, source.internal, needed)
        require_signature(call, source, target)
    require_volume(world, source.owner, (source.code, target.code))
    if (
        customer_views.needs_sca(world, source.owner)
        and world.persona.immediate_with_sca == "refused"
    ):
        raise conflict("This customer has to authorize first.")
