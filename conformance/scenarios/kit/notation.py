"""Members of resources: whether they are well-formed, and whether they agree with a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from conformance.contract.moments import parse_moment
from conformance.platform.resource import Json, Resource, require_member
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

_DATES = ("birthDate", "incorporatedOn")
_COUNTRIES = ("nationality", "country")
_NUMBERS = ("identifier", "taxId")
_SETS = (
    "currencies",
    "countriesOfOperation",
    "sourceOfFundsCategories",
    "sourceOfWealthCategories",
)


def well_formed(path: str, value: Any) -> bool:
    """Return whether a member is well-formed: a date as YYYY-MM-DD, a country as two letters.

    Members of other names may have any form. The OpenAPI document does not give these forms, so
    only customers whose data are right are checked.
    """
    name = path.rpartition(".")[2]
    if name in _DATES:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)) is not None and is_date(str(value))
    return name not in _COUNTRIES or re.fullmatch("[A-Za-z]{2}", str(value)) is not None


def is_date(text: str) -> bool:
    """Return whether a text is an ISO 8601 date that exists in the calendar."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def moment(timestamp: Any) -> datetime:
    """Return the time of an ISO 8601 timestamp in UTC.

    Raises:
        ResourceMissing: the value is no timestamp; another requirement decides on that.
    """
    try:
        return parse_moment(str(timestamp)).astimezone(UTC)
    except ValueError:
        raise ResourceMissing(f"{timestamp!r} is no timestamp") from None


def arrange_moment(resource: Json, name: str) -> datetime:
    """Return the time in a member of a resource.

    Raises:
        PreconditionFailed: the member is no timestamp.
    """
    try:
        return parse_moment(resource[name])
    except (KeyError, TypeError, ValueError) as error:
        raise PreconditionFailed(f"{name} is no timestamp: {resource.get(name)}") from error


def same(path: str, shown_value: Any, sent_value: Any) -> bool:
    """Return whether a member shows the value that was sent, in any notation.

    Numbers that identify somebody may be masked except for their last digits. Members that an
    object leaves out are not compared.
    """
    name = path.rpartition(".")[2]
    if isinstance(sent_value, Mapping) and isinstance(shown_value, Mapping):
        return all(shown_value.get(key) in (None, value) for key, value in sent_value.items())
    if name in _NUMBERS:
        return digits(sent_value).endswith(digits(shown_value))
    if name in _SETS:
        return isinstance(shown_value, list) and sorted(shown_value) == sorted(sent_value)
    if name == "phoneNumber":
        return digits(shown_value) == digits(sent_value)
    if name == "email":
        return str(shown_value).casefold() == str(sent_value).casefold()
    return bool(shown_value == sent_value)


def digits(text: object) -> str:
    """Return the digits of a text."""
    return re.sub(r"\D", "", str(text))


def require_details(account: Resource) -> None:
    """Raise ``ResourceMissing`` unless ``accountInfo`` has a member beside ``accountType``."""
    info = account.get("accountInfo")
    if not isinstance(info, Mapping) or not info.keys() - {"accountType"}:
        raise ResourceMissing("the details of an account are not shown")


def require_value_at(body: Json, path: str) -> Any:
    """Return the value at a dotted path.

    Raises:
        ResourceMissing: a member on the path is missing, so that there is nothing to check.
    """
    name, _, rest = path.partition(".")
    value = require_member(body, name)
    return require_value_at(value, rest) if rest else value


def unlike_looks(currencies: Iterable[object]) -> dict[str, set[str]]:
    """Return what currency objects of one code show in several ways: ``EUR.symbol`` and each sign.

    Looked at are the name, the symbol and the decimals, where they are given.
    """
    looks: dict[str, set[str]] = {}
    for currency in currencies:
        if isinstance(currency, Mapping) and isinstance(code := currency.get("code"), str):
            for member in ("name", "symbol", "decimals"):
                if (value := currency.get(member)) is not None:
                    looks.setdefault(f"{code}.{member}", set()).add(str(value))
    return {name: seen for name, seen in looks.items() if len(seen) > 1}
