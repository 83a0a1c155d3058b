"""UMA addresses, and the institutions behind them and behind external accounts."""

import re

from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import Json
from conformance.proof.second.world import World

RECEIVER = "$ada@second.example"
RECEIVER_CURRENCY = "EUR"

# What goes wrong when the institution is asked, before anything is paid.
HANDSHAKE = {
    "down": "LNURLP_REQUEST_FAILED",
    "lookup_refused": "LOOKUP_REQUEST_FAILED",
    "lookup_garbled": "PARSE_LNURLP_RESPONSE_ERROR",
    "sender_refused": "SENDER_NOT_ACCEPTED",
    "certificate_forged": "CERT_CHAIN_INVALID",
    "certificate_expired": "CERT_CHAIN_EXPIRED",
    "key_hidden": "COUNTERPARTY_PUBKEY_FETCH_ERROR",
    "key_garbled": "INVALID_PUBKEY_FORMAT",
    "parameters_omitted": "MISSING_REQUIRED_UMA_PARAMETERS",
}
# What goes wrong when it is asked for a payment.
PAYMENT = {
    "payment_unanswered": "PAYREQ_REQUEST_FAILED",
    "payment_garbled": "PARSE_PAYREQ_RESPONSE_ERROR",
    "payment_falsified": "INVALID_PAYREQ_RESPONSE",
    "receiver_refused": "INVALID_RECEIVER",
}
TRAITS = (*HANDSHAKE, *PAYMENT, "outdated")


def require_address(address: object) -> str:
    """Return a UMA address, `$name@domain`.

    Raises:
        Refusal: with `INVALID_UMA_ADDRESS` for anything else.
    """
    if not isinstance(address, str) or not re.fullmatch(
        r"\$[a-z0-9._+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?", address, re.IGNORECASE
    ):
        raise Refusal("INVALID_UMA_ADDRESS", "This is no UMA address.")
    return address


def shake_hands(world: World, account: Json) -> None:
    """Ask the institution behind an external account about its receiver.

    Raises:
        Refusal: with the code of what goes wrong.
    """
    if "outdated" in account["_traits"]:
        status, code = world.persona.version_code
        raise Refusal(code, "The counterparty speaks another version.", status=status)
    _fail(account, HANDSHAKE)


def request_payment(world: World, account: Json) -> None:
    """Ask the institution behind an external account for a payment.

    Raises:
        Refusal: with the code of what goes wrong.
    """
    shake_hands(world, account)
    _fail(account, PAYMENT)


def _fail(account: Json, causes: dict[str, str]) -> None:
    for trait, code in causes.items():
        if trait in account["_traits"]:
            raise Refusal(code, "The counterparty could not be dealt with.")


def receiver(address: object) -> str:
    """Return the currency in which a UMA address receives.

    Raises:
        Refusal: for what is no address, or one of nobody.
    """
    if require_address(address) != RECEIVER:
        raise Refusal("UMA_NOT_FOUND", "Nobody receives there.")
    return RECEIVER_CURRENCY
