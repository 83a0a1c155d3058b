"""Conforming variants of wallets and Lightning: how addresses are checked and shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from conformance.proof.kit.builders import Json, before
from conformance.proof.mutants.external_accounts.account_rules import kind_changed, shown
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, fields
from conformance.reference.external_accounts import externals
from conformance.reference.external_accounts.account_types import AccountType
from conformance.reference.unit import Ask, Unit

_INFO = "accountInfo"

WALLETS = (
    "BASE_WALLET",
    "POLYGON_WALLET",
    "SOLANA_WALLET",
    "TRON_WALLET",
    "PLASMA_WALLET",
    "ARBITRUM_WALLET",
    "SPARK_WALLET",
)


# --- Forms of addresses ---------------------------------------------------------------------

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_ONE, _BECH32M = 1, 0x2BC830A3
_SOLANA_KEY = 32
_TRON = 0x41


def decoded_base58(text: str) -> bytes:
    """Return the bytes of a text in base 58, or none if it is not one."""
    if not text or set(text) - set(_BASE58):
        return b""
    number = 0
    for sign in text:
        number = number * 58 + _BASE58.index(sign)
    zeros = len(text) - len(text.lstrip(_BASE58[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def is_tron(text: str) -> bool:
    """Return whether a text is an address of Tron, with the right check sum."""
    data = decoded_base58(text)
    twice = hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()
    return len(data) == 25 and data[0] == _TRON and twice[:4] == data[-4:]


def check_sum(text: str) -> int:
    """Return what the check sum of a text in bech32 comes to; 0 if it is not in bech32."""
    prefix, _, data = text.lower().rpartition("1")
    if not prefix or set(data) - set(_BECH32):
        return 0
    high = [ord(sign) >> 5 for sign in prefix]
    low = [ord(sign) & 31 for sign in prefix]
    total = 1
    for value in (*high, 0, *low, *map(_BECH32.index, data)):
        top = total >> 25
        total = (total & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATORS):
            total ^= generator if top >> place & 1 else 0
    return total


def is_ethereum_like(text: str) -> bool:
    """Return whether a text is an address as Ethereum has them."""
    return re.fullmatch(r"0x[0-9A-Fa-f]{40}", text) is not None


CHECKS: dict[tuple[str, str], Callable[[str], bool]] = {
    ("BASE_WALLET", "address"): is_ethereum_like,
    ("POLYGON_WALLET", "address"): is_ethereum_like,
    ("PLASMA_WALLET", "address"): is_ethereum_like,
    ("ARBITRUM_WALLET", "address"): is_ethereum_like,
    ("SOLANA_WALLET", "address"): lambda text: len(decoded_base58(text)) == _SOLANA_KEY,
    ("TRON_WALLET", "address"): is_tron,
    ("SPARK_WALLET", "address"): lambda text: check_sum(text) == _BECH32M,
    ("LIGHTNING", "lightningAddress"): lambda text: (
        re.fullmatch(r"[a-z0-9._+-]+@([a-z0-9-]+\.)+[a-z]{2,}", text) is not None
    ),
    ("LIGHTNING", "invoice"): lambda text: text.startswith("lnbc") and check_sum(text) == _ONE,
    ("LIGHTNING", "bolt12"): lambda text: re.fullmatch(f"lno1[{_BECH32}]+", text) is not None,
}
"""By account type and member whether a text is right."""


def checking(checks: dict[tuple[str, str], Callable[[str], bool]]) -> Apply:
    """Return a patch after which members are looked at more closely."""

    def create(unit: Unit, ask: Ask) -> None:
        kind = fields.at(ask.body, f"{_INFO}.accountType")
        texts = {name: fields.at(ask.body, f"{_INFO}.{name}") for _, name in checks}
        wrong = [
            errors.field_error(f"{_INFO}.{name}", "It is not an address of this network.")
            for (of, name), is_right in checks.items()
            if of == kind and isinstance(texts[name], str) and not is_right(texts[name])
        ]
        if wrong:
            raise errors.invalid_input(*wrong)

    return before(externals, "create", create)


declare(
    "N059",
    "addresses-checked",
    "addresses, invoices and offers are checked by their forms and sums",
    checking(CHECKS),
    "forms",
)


@variant("N231", "the sandbox has a Lightning network of its own, with other invoices", "apart")
def own_lightning_network(patch: Patch) -> None:
    own = {("LIGHTNING", "invoice"): lambda text: text.startswith("lnbcrt")}
    checking(own)(patch)


declare(
    "N231",
    "lightning-addresses-resolved",
    "who has a Lightning address is looked up, and nobody has ours",
    checking({("LIGHTNING", "lightningAddress"): lambda _: False}),
    "other apart",
)


# --- What is needed -------------------------------------------------------------------------


declare(
    "N231",
    "lightning-beneficiary",
    "Lightning needs a beneficiary, as wallets alone are said to need none",
    kind_changed("LIGHTNING", beneficiary=True),
    "further apart",
)


# --- What is shown --------------------------------------------------------------------------


def _all(change: Callable[[Json], Json]) -> Apply:
    def apply(patch: Patch) -> None:
        for kind in (*WALLETS, "LIGHTNING"):
            shown(kind, change)(patch)

    return apply


_IN_BASE_58 = ("SOLANA_WALLET", "TRON_WALLET")
"""Wallets whose addresses would be others in small letters."""


def _lowered(info: Json) -> Json:
    if info["accountType"] in _IN_BASE_58:
        return info
    texts = info.keys() - {"accountType"}
    return {**info, **{name: info[name].lower() for name in texts}}


def _masked(info: Json) -> Json:
    texts = info.keys() - {"accountType"}
    return {**info, **{name: f"****{info[name][-6:]}" for name in texts}}


declare(
    "N210",
    "addresses-lowered",
    "addresses of which case is no part are shown in small letters",
    _all(_lowered),
    "codes",
)
declare("N210", "addresses-masked", "addresses are masked", _all(_masked), "other codes")
declare(
    "M75",
    "wallet-types-alone",
    "of wallets and Lightning the type alone is shown",
    _all(lambda info: {"accountType": info["accountType"]}),
    "absent",
)


@variant("M75", "ways to pay by Lightning that an account does not have are null", "null")
def other_ways_null(patch: Patch) -> None:
    ways = dict.fromkeys(("lightningAddress", "invoice", "bolt12"))
    shown("LIGHTNING", lambda info: {**ways, **info})(patch)


# --- How faults are refused -----------------------------------------------------------------


@variant(
    "M73",
    "errors about the number of ways to pay by Lightning name what holds them",
    "forms",
    (externals, "pairing_errors"),
)
def ways_named_by_their_holder(original: Function, body: Json, kind: AccountType) -> list[Json]:
    found: list[Json] = original(body, kind)
    ways = {f"{_INFO}.{name}" for name in kind.one_of if kind.exactly_one}
    return [{**e, "field": _INFO} if e["field"] in ways else e for e in found]
