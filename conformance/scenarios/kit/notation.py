"""Members of resources: whether they have the form that the interface gives them, and agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from conformance.platform.resource import Json, Resource, require_member
from conformance.verdict.decisions import ResourceMissing

_DATES = ("birthDate", "incorporatedOn")
_COUNTRIES = ("nationality", "country")
_NUMBERS = ("identifier", "taxId")


def well_formed(path: str, shown: Any) -> bool:
    """Return whether a date or a country is one; other members may have any form.

    The document does not say it, so that it is asked of the customers alone whose data are right.
    """
    name = path.rpartition(".")[2]
    if name in _DATES:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", str(shown)) is not None and is_date(str(shown))
    return name not in _COUNTRIES or re.fullmatch("[A-Za-z]{2}", str(shown)) is not None


def is_date(text: str) -> bool:
    """Return whether a calendar has the date."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def moment(shown: Any) -> datetime:
    """Return the moment of a timestamp, in whatever notation.

    Raises:
        ResourceMissing: it is none, which is another rule's to say.
    """
    try:
        return datetime.fromisoformat(str(shown)).astimezone(UTC)
    except ValueError:
        raise ResourceMissing(f"{shown!r} is no timestamp") from None


def same(path: str, shown: Any, sent: Any) -> bool:
    """Return whether a member is shown as what was sent, in whatever notation.

    Numbers that identify somebody may be masked, but for their last digits. What an object leaves
    out is not shown.
    """
    name = path.rpartition(".")[2]
    if isinstance(sent, Mapping) and isinstance(shown, Mapping):
        return all(shown.get(key) in (None, value) for key, value in sent.items())
    if name in _NUMBERS:
        return digits(sent).endswith(digits(shown))
    if name == "currencies":
        return sorted(shown) == sorted(sent)
    if name == "phoneNumber":
        return digits(shown) == digits(sent)
    if name == "email":
        return str(shown).casefold() == str(sent).casefold()
    return bool(shown == sent)


def digits(text: object) -> str:
    """Return the digits of a text."""
    return re.sub(r"\D", "", str(text))


def masked_or_same(shown: Any, sent: Any) -> bool:
    """Return whether a member is shown as what was sent, with or without its first characters.

    Letters and digits count, in whatever case; signs between them group or mask them.
    """
    if not isinstance(shown, str) or not isinstance(sent, str):
        return bool(shown == sent)
    seen, whole = (re.sub(r"[\W_]", "", text).casefold() for text in (shown, sent))
    clear = re.sub(r"^.*[*•xX]{2,}[\W_]*", "", shown)
    return seen == whole or whole.endswith(re.sub(r"[\W_]", "", clear).casefold())


def require_details(account: Resource) -> None:
    """Raise ``ResourceMissing`` where an account shows nothing but its kind."""
    info = account.get("accountInfo")
    if not isinstance(info, Mapping) or not info.keys() - {"accountType"}:
        raise ResourceMissing("the details of an account are not shown")


def at(body: Json, path: str) -> Any:
    """Return the value at a dotted path.

    Raises:
        ResourceMissing: there is none, so that there is nothing to check.
    """
    name, _, rest = path.partition(".")
    value = require_member(body, name)
    return at(value, rest) if rest else value
