"""The institutions that receive payments: the names to register accounts under, and bank codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

INSTITUTIONS: tuple[tuple[str, str, str, str], ...] = (
    ("BDO_UNIBANK", "BDO Unibank", "PH", "PHP"),
    ("BPI", "Bank of the Philippine Islands", "PH", "PHP"),
    ("GCASH", "GCash", "PH", "PHP"),
    ("BDO_UNIBANK", "BDO Unibank", "PH", "USD"),
    ("PNB_HONG_KONG", "Philippine National Bank Hong Kong", "HK", "PHP"),
    ("BANCOLOMBIA", "Bancolombia", "CO", "COP"),
    ("NEQUI", "Nequi", "CO", "COP"),
    ("ACCESS_BANK", "Access Bank", "NG", "NGN"),
    ("BBVA_MEXICO", "BBVA México", "MX", "MXN"),
    ("BBVA_MEXICO", "BBVA México", "MX", "USD"),
    ("BANORTE_HOUSTON", "Banorte Houston", "US", "MXN"),
)
"""``bankName``, ``displayName``, ``country``, ``currency`` of each receiving institution."""

SWIFT_CODES: dict[str, str] = {
    "DE37040044": "COBADEFF",
    "NLABNA": "ABNANL2A",
    "BE001": "GEBABEBB",
    "FR20041": "PSSTFRPP",
}
"""SWIFT codes by the country of an IBAN and the first characters behind its check digits."""


def is_listed(bank_name: Any, currencies: Iterable[str]) -> bool:
    """Return whether an institution is listed under a name for one of the currencies."""
    return any((bank_name, code) == (row[0], row[3]) for row in INSTITUTIONS for code in currencies)


def swift_code(info: dict[str, Any]) -> str | None:
    """Return the SWIFT code of the bank that an IBAN names, or ``None`` if it is not known."""
    iban = info.get("iban")
    if not isinstance(iban, str):
        return None
    country, account = iban[:2], iban[4:]
    return next(
        (code for key, code in SWIFT_CODES.items() if f"{country}{account}".startswith(key)), None
    )
