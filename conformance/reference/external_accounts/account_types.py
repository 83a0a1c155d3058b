"""The kinds of external accounts: a row for each ``accountType``, looked up at the time of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.reference.external_accounts.institutions import swift_code
from conformance.reference.rules import Field


@dataclass(frozen=True, slots=True)
class AccountType:
    """One ``accountType``: the currencies it holds, its fields, its network where it has one.

    Of the members ``one_of`` at least one is due, and no more than one if ``exactly_one``. The
    members that ``beside`` names are due beside another one. ``derived`` finds out members that are
    not sent. The ``bankName`` of ``listed_banks`` is one that the discoveries list.
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
    derived: Mapping[str, Callable[[dict[str, Any]], str | None]] = field(default_factory=dict)
    listed_banks: bool = False


def _text(name: str, pattern: str | None = None, **more: Any) -> Field:
    return Field(f"accountInfo.{name}", "string", min_length=1, pattern=pattern, **more)


def _id(name: str, pattern: str | None = None, **more: Any) -> Field:
    return _text(name, pattern, required=True, **more)


_PHONE = r"\+[1-9]\d{6,14}"
_SAVINGS = ("CHECKING", "SAVINGS")


PROVIDERS: dict[str, tuple[str, ...]] = {
    "KES": ("M-PESA",),
    "TZS": ("AIRTEL", "VODACOM"),
    "ZMW": ("TNM", "AIRTEL", "ZAMTEL", "MTN"),
    "RWF": ("MTN", "AIRTEL"),
    "MWK": ("AIRTEL", "TNM"),
    "UGX": ("MTN", "AIRTEL"),
}
"""The operators of mobile money by currency; elsewhere any."""


def _mobile(currency: str, pattern: str) -> AccountType:
    operators = PROVIDERS.get(currency, ())
    return AccountType(
        (currency,), (_id("phoneNumber", pattern), _text("provider", enum=operators))
    )


def _wallet(network: str | None, *currencies: str) -> AccountType:
    return AccountType(currencies, (_id("address"),), beneficiary=False, network=network)


def _bank(currency: str) -> AccountType:
    return AccountType((currency,), (_id("accountNumber"), _id("bankName"), _text("swiftCode")))


ACCOUNT_TYPES: dict[str, AccountType] = {
    "USD_ACCOUNT": AccountType(
        ("USD",),
        (
            _id("accountNumber", r"\d{4,17}"),
            _id("routingNumber", r"\d{9}"),
            _text("bankAccountType", enum=_SAVINGS),
            _text("intermediaryBankName"),
            _text("intermediaryRoutingNumber"),
            _text("fiToFiInformation"),
        ),
        pullable=True,
        rails=("ACH", "WIRE", "RTP", "FEDNOW"),
    ),
    "MXN_ACCOUNT": AccountType(("MXN",), (_id("clabeNumber", r"\d{18}"),)),
    "BRL_ACCOUNT": AccountType(
        ("BRL",),
        (
            _id("pixKey"),
            _text("pixKeyType", enum=("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM")),
            _text("taxId"),
        ),
    ),
    "COP_ACCOUNT": AccountType(
        ("COP",),
        (
            _text("bankName"),
            _text("accountNumber"),
            _text("bankAccountType", enum=_SAVINGS),
            _text("phoneNumber", _PHONE),
        ),
        one_of=("accountNumber", "phoneNumber"),
        beside={"accountNumber": ("bankName", "bankAccountType")},
    ),
    "SLV_ACCOUNT": AccountType(
        ("USD",),
        (
            _text("accountNumber"),
            _text("bankAccountType", enum=_SAVINGS),
            _text("phoneNumber", _PHONE),
        ),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "EUR_ACCOUNT": AccountType(
        ("EUR",),
        (_id("iban", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"), _text("bankName"), _id("swiftCode")),
        derived={"swiftCode": swift_code},
    ),
    "PHP_ACCOUNT": AccountType(
        ("PHP",), (_id("accountNumber", r"\d{8,16}"), _id("bankName")), listed_banks=True
    ),
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
        beside={"accountNumber": ("ifsc", "rail")},
        rails=("UPI", "NEFT", "RTGS"),
    ),
    "NGN_ACCOUNT": AccountType(("NGN",), (_id("accountNumber", r"\d{10}"), _text("bankName"))),
    "ZAR_ACCOUNT": AccountType(("ZAR",), (_id("accountNumber", r"\d{9,13}"), _text("bankName"))),
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
        (
            _id("bankName"),
            _text("accountNumber"),
            _text("branchCode"),
            _text("swiftCode"),
            _text("phoneNumber", _PHONE),
        ),
        one_of=("accountNumber", "phoneNumber"),
    ),
    "CNY_ACCOUNT": AccountType(
        ("CNY",),
        (_id("bankName"), _text("accountNumber"), _text("phoneNumber", _PHONE)),
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
    "DKK_ACCOUNT": _bank("DKK"),
    "EGP_ACCOUNT": _bank("EGP"),
    "GHS_ACCOUNT": _bank("GHS"),
    "GTQ_ACCOUNT": _bank("GTQ"),
    "HKD_ACCOUNT": _bank("HKD"),
    "HTG_ACCOUNT": _bank("HTG"),
    "IDR_ACCOUNT": _bank("IDR"),
    "JMD_ACCOUNT": _bank("JMD"),
    "MYR_ACCOUNT": _bank("MYR"),
    "PKR_ACCOUNT": _bank("PKR"),
    "SGD_ACCOUNT": _bank("SGD"),
    "THB_ACCOUNT": _bank("THB"),
    "VND_ACCOUNT": _bank("VND"),
    "XAF_ACCOUNT": _mobile("XAF", r"\+237\d{9}"),
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
