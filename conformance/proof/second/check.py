"""Rules for JSON values, put together from small functions; a body is held to one as a whole."""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.proof.second.errors import INPUT, Refusal
from conformance.proof.second.persona import Persona

MAX_INTEGER = 2**63 - 1

Fault = tuple[str, str, str]
Rule = Callable[[Any, str, list[Fault]], None]


def simple(kind: str, message: str, holds: Callable[[Any], bool]) -> Rule:
    """Return a rule with one message; `kind` is the format that its constraint names."""

    def rule(value: Any, path: str, faults: list[Fault]) -> None:
        if not holds(value):
            faults.append((path, kind, message))

    return rule


def is_integer(value: Any) -> bool:
    """Tell whether a JSON value is an integer, of whatever size."""
    return isinstance(value, int) and not isinstance(value, bool)


def text(pattern: str = "", *, most: int = 2000, kind: str = "text", least: int = 1) -> Rule:
    """Return a rule for a string of `least` to `most` characters that matches as a whole."""
    shape = re.compile(pattern or r"[\s\S]*", re.ASCII)

    def holds(value: Any) -> bool:
        if not isinstance(value, str) or not least <= len(value) <= most:
            return False
        return bool(shape.fullmatch(value)) and (least == 0 or bool(value.strip()))

    return simple(kind, f"must be a text of {least} to {most} characters in the right form", holds)


def digits(least: int, most: int = 0) -> Rule:
    """Return a rule for `least` to `most` ASCII digits, exactly `least` without `most`."""
    return text(rf"[0-9]{{{least},{most or least}}}")


def integer(least: int = 0, most: int = MAX_INTEGER) -> Rule:
    """Return a rule for an integer within bounds."""
    return simple(
        "number",
        f"must be an integer of at least {least}",
        lambda value: is_integer(value) and least <= value <= most,
    )


def number(least: float, most: float) -> Rule:
    """Return a rule for a number within bounds."""
    return simple(
        "number",
        f"must be a number from {least} to {most}",
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and least <= value <= most
        ),
    )


def one_of(*values: str) -> Rule:
    """Return a rule for one of some words."""
    return simple(
        "select",
        f"must be one of {', '.join(values)}",
        lambda value: isinstance(value, str) and value in values,
    )


def _is_date(value: Any) -> bool:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        return False
    try:
        return dt.date.fromisoformat(value) <= dt.datetime.now(dt.UTC).date()
    except ValueError:
        return False


def _is_moment(value: Any) -> bool:
    if not isinstance(value, str) or "T" not in value:
        return False
    try:
        return dt.datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


FLAG = simple("checkbox", "must be true or false", lambda value: isinstance(value, bool))
DATE = simple("date", "must be a past date as YYYY-MM-DD", _is_date)
MOMENT = simple("datetime-local", "must be an ISO 8601 time with its offset", _is_moment)
ANY = simple("text", "", lambda _: True)
WORD = text(r"[A-Z][A-Z0-9_]*", most=64)
_CODES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS
BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE
EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM
HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC
LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES = frozenset(_CODES.split())
COUNTRY = simple(
    "select",
    "must be a country code of ISO 3166-1 alpha-2",
    lambda value: isinstance(value, str) and value in COUNTRIES,
)
EMAIL = text(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", most=320, kind="email")
PHONE = text(r"\+[1-9][0-9]{6,14}", most=16, kind="tel")
LINK = text(r"[a-z][a-z0-9+.-]*://[^\s]+", kind="url")


def many(rule: Rule, *, most: int = 100) -> Rule:
    """Return a rule for a list of at most `most` values of one rule."""

    def check(value: Any, path: str, faults: list[Fault]) -> None:
        if not isinstance(value, list) or len(value) > most:
            faults.append((path, "text", "must be a list"))
            return
        for place, item in enumerate(value):
            rule(item, f"{path}.{place}", faults)

    return check


def record(members: Mapping[str, Rule], needs: Sequence[str] = (), *, closed: bool = False) -> Rule:
    """Return a rule for an object; null members are absent, and `needs` names those that are not.

    With `closed` every member has to be one of `members`.
    """

    def check(value: Any, path: str, faults: list[Fault]) -> None:
        if not isinstance(value, dict):
            faults.append((path, "text", "must be an object"))
            return
        stem = f"{path}." if path else ""
        faults += [
            (f"{stem}{name}", "text", "is required") for name in needs if value.get(name) is None
        ]
        for name, item in value.items():
            if name in members:
                if item is not None:
                    members[name](item, f"{stem}{name}", faults)
            elif closed:
                faults.append((f"{stem}{name}", "text", "is not known"))

    return check


def refuse(persona: Persona, faults: Sequence[Fault], *, code: str = INPUT) -> None:
    """Raise the refusal of a body that has faults, each of them named; do nothing without any."""
    if not faults:
        return
    errors = []
    for path, kind, message in faults:
        shown = path if persona.path_root else path.removeprefix("accountInfo.")
        if persona.path_form == "brackets":
            shown = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", shown)
        entry: dict[str, Any] = {"field": shown or "body"}
        if persona.with_hints:
            entry |= {"constraint": {"format": kind}, "message": message}
        errors.append(entry)
    raise Refusal(code, f"{errors[0]['field']} is not valid", details={"errors": errors})


def demand(persona: Persona, body: Any, rule: Rule) -> None:
    """Hold a body to a rule.

    Raises:
        Refusal: with `INVALID_INPUT`, and every member that is not valid.
    """
    faults: list[Fault] = []
    rule(body, "", faults)
    refuse(persona, faults)
