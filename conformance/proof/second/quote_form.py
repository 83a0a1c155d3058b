"""What a quote is asked for with: the members of its request, and how they depend on each other."""

import re
from typing import Any

from conformance.proof.second import customer_form, pricing
from conformance.proof.second.call import Call
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
from conformance.proof.second.errors import INPUT, Refusal
from conformance.proof.second.money import Json
from conformance.proof.second.world import World

MAX_REMITTANCE = 80


def _longest(world: World, body: Json) -> int:
    given = body.get("remittanceInformation")
    realtime = customer_form.at(body, "source.sourceType") == "REALTIME_FUNDING"
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


def read(call: Call) -> Json:
    """Return the members of a request for a quote.

    Raises:
        Refusal: where one of them is not as it has to be.
    """
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
            if path and customer_form.at(body, path) is None
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
