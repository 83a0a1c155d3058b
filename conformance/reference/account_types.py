"""The kinds of external accounts: a row for each ``accountType``, looked up at the time of use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.reference.rules import Field


@dataclass(frozen=True, slots=True)
class AccountType:
    """One ``accountType``: the currencies it holds, its fields, its network where it has one.

    Of the members ``one_of`` at least one is due, and no more than one if ``exactly_one``. The
    members that ``beside`` names are due beside another one.
    """

    currencies: tuple[str, ...]
    fields: tuple[Field, ...]
    beneficiary: bool = True
    one_of: tuple[str, ...] = ()
    exactly_one: bool = False
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pullable: bool = False
    network: str | None = None
    rails: tuple[str, ...] = ()


def _text(name: str, pattern: str | None = None, **more: Any) -> Field:
    return Field(f"accountInfo.{name}", "string", min_length=1, pattern=pattern, **more)


def _id(name: str, pattern: str | None = None, **more: Any) -> Field:
    return _text(name, pattern, required=True, **more)


_PHONE = r"\+[1-9]\d{6,14}"
_SAVINGS = ("CHECKING", "SAVINGS")


def _mobile(currency: str, pattern: str) -> AccountType:
    return AccountType((currency,), (_id("phoneNumber", pattern), _text("provider")))


def _wallet(network: str | None, *currencies: str) -> AccountType:
    return AccountType(currencies, (_id("address"),), beneficiary=False, network=network)


ACCOUNT_TYPES: dict[str, AccountType] = {
    "USD_ACCOUNT": AccountType(
        ("USD",),
        (
            _id("accountNumber", r"\d{4,17}"),
            _id("routingNumber", r"\d{9}"),
            _text("bankAccountType", enum=_SAVINGS),
        ),
        pullable=True,
        rails=("ACH", "WIRE", "RTP", "FEDNOW"),
    ),
    "MXN_ACCOUNT": AccountType(("MXN",), (_id("clabeNumber", r"\d{18}"),)),
    "BRL_ACCOUNT": AccountType(
        ("BRL",),
        (_id("pixKey"), _text("pixKeyType", enum=("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM"))),
    ),
    "COP_ACCOUNT": AccountType(
        ("COP",),
        (_id("bankName"), _text("accountNumber"), _text("phoneNumber", _PHONE)),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "SLV_ACCOUNT": AccountType(
        ("USD",),
        (_text("accountNumber"), _text("phoneNumber", _PHONE)),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "EUR_ACCOUNT": AccountType(
        ("EUR",), (_id("iban", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"), _text("swiftCode"))
    ),
    "PHP_ACCOUNT": AccountType(("PHP",), (_id("accountNumber", r"\d{8,16}"), _id("bankName"))),
    "GBP_ACCOUNT": AccountType(
        ("GBP",), (_id("sortCode", r"\d{6}"), _id("accountNumber", r"\d{8}"))
    ),
    "INR_ACCOUNT": AccountType(
        ("INR",),
        (
            _text("vpa", r"[^@\s]+@[^@\s]+"),
            _text("accountNumber", r"\d{9,18}"),
            _text("ifsc", r"[A-Z0-9]{11}"),
            _text("rail", enum=("NEFT", "RTGS")),
        ),
        one_of=("vpa", "accountNumber"),
        rails=("UPI", "NEFT", "RTGS"),
    ),
    "NGN_ACCOUNT": AccountType(("NGN",), (_id("accountNumber", r"\d{10}"),)),
    "ZAR_ACCOUNT": AccountType(("ZAR",), (_id("accountNumber", r"\d{9,13}"),)),
    "CAD_ACCOUNT": AccountType(
        ("CAD",),
        (
            _id("bankCode", r"\d{3}"),
            _id("branchCode", r"\d{5}"),
            _id("accountNumber", r"\d{7,12}"),
        ),
    ),
    "AED_ACCOUNT": AccountType(("AED",), (_id("iban", r"AE[A-Z0-9]{21}"), _text("swiftCode"))),
    "ILS_ACCOUNT": AccountType(("ILS",), (_id("iban", r"IL[A-Z0-9]{21}"), _id("bankName"))),
    "BDT_ACCOUNT": AccountType(
        ("BDT",),
        (_id("bankName"), _text("accountNumber"), _text("phoneNumber", _PHONE)),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "CNY_ACCOUNT": AccountType(
        ("CNY",),
        (_id("bankName"), _text("accountNumber"), _text("phoneNumber")),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "KES_ACCOUNT": _mobile("KES", r"\+254\d{9}"),
    "TZS_ACCOUNT": _mobile("TZS", r"\+255\d{9}"),
    "ZMW_ACCOUNT": _mobile("ZMW", r"\+260\d{9}"),
    "RWF_ACCOUNT": _mobile("RWF", r"\+250\d{9}"),
    "MWK_ACCOUNT": _mobile("MWK", r"\+265\d{9}"),
    "UGX_ACCOUNT": _mobile("UGX", r"\+256\d{9}"),
    "XOF_ACCOUNT": _mobile("XOF", r"\+221\d{9}|\+225\d{10}|\+229\d{8,9}"),
    "BWP_ACCOUNT": AccountType(("BWP",), (_id("phoneNumber", _PHONE), _id("provider"))),
    "BASE_WALLET": _wallet("BASE", "USDC"),
    "POLYGON_WALLET": _wallet("POLYGON", "USDC"),
    "SOLANA_WALLET": _wallet("SOLANA", "USDC"),
    "TRON_WALLET": _wallet("TRON", "USDT"),
    "PLASMA_WALLET": _wallet("PLASMA", "USDT"),
    "ARBITRUM_WALLET": _wallet("ARBITRUM", "USDC", "USDT"),
    "SPARK_WALLET": _wallet(None, "BTC"),
    "LIGHTNING": AccountType(
        ("BTC",),
        (_text("lightningAddress"), _text("invoice"), _text("bolt12")),
        beneficiary=False,
        one_of=("lightningAddress", "invoice", "bolt12"),
        exactly_one=True,
    ),
}
