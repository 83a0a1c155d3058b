"""Single faults: one generated mistake at a time in a body that is accepted without it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.contract.document import Operation
from conformance.exchange.forms import File
from conformance.fuzz.drawn import ABSENT, Drawn, encoded
from conformance.fuzz.forms import files_of
from conformance.fuzz.lenient import must_be_refused, reading
from conformance.testdata.accounts import account_examples
from conformance.text.paths import value_at

Json = dict[str, Any]

_BODY = ""
_LEFT_OUT = "left out"
_WRONG = "wrong"
_BOTH = frozenset({_LEFT_OUT, _WRONG})
_VALUE = frozenset({_WRONG})
_ABSENCE = frozenset({_LEFT_OUT})
_NOTHING = {False: (ABSENT, None, ""), True: (ABSENT,)}
"""What counts as left out, of JSON and of forms: an empty part is a part."""

HELD: Mapping[str, Mapping[str, frozenset[str]]] = {
    "createQuote": {
        _BODY: _VALUE,
        "source": _BOTH,
        # It can be told from the other members, so that some may do without it.
        "source.sourceType": _VALUE,
        "source.accountId": _BOTH,
        "destination": _BOTH,
        "destination.destinationType": _VALUE,
        "destination.accountId": _BOTH,
        # It may be one of the two by default.
        "lockedCurrencySide": _VALUE,
        # Some read null as 0, and whether 0 is refused is not for here to say.
        "lockedCurrencyAmount": _VALUE,
        "immediatelyExecute": _VALUE,
        "remittanceInformation": _VALUE,
        "description": _VALUE,
    },
    "authorizeQuote": {_BODY: _VALUE, "code": _VALUE},
    "createCustomer": {_BODY: _VALUE, "customerType": _BOTH},
    "createExternalAccount": {
        _BODY: _VALUE,
        "accountInfo": _BOTH,
        "accountInfo.accountType": _VALUE,
        "accountInfo.accountNumber": _BOTH,
        "accountInfo.routingNumber": _BOTH,
    },
    "createBeneficialOwner": {
        _BODY: _VALUE,
        "customerId": _BOTH,
        "roles": _VALUE,
        "ownershipPercentage": _VALUE,
        "personalInfo": _VALUE,
    },
    # Of a form all values are texts, so that only what is left out counts.
    "createDocument": {
        "documentHolder": _ABSENCE,
        "documentType": _ABSENCE,
        "documentNumber": _ABSENCE,
        "issuingAuthority": _ABSENCE,
        "file": _ABSENCE,
    },
    "createVerification": {_BODY: _VALUE, "customerId": _BOTH},
    "createKycLink": {_BODY: _VALUE, "redirectUri": _VALUE},
    "createInternalAccount": {_BODY: _VALUE, "type": _BOTH, "sweepRule": _BOTH},
    "confirmEmail": {_BODY: _VALUE, "code": _BOTH},
    "confirmPhone": {_BODY: _VALUE, "code": _BOTH},
    "startFactorReset": {_BODY: _VALUE, "factor": _BOTH},
    # A mobile is looked at for a phone alone, and the types of its members are not shown.
    "completeFactorReset": {_BODY: _VALUE, "endUserIpAddress": _BOTH},
}
"""The places of bodies where the specification states type, presence or values, by operation.

Not among them is what an honest implementation may not look at (``purposeOfPayment``,
``paymentRail``, ``platformFeeOverride``: QUO-836 to QUO-838 recommend it), or may take from
elsewhere.
"""

SPARED: Mapping[tuple[str, str], tuple[Any, ...]] = {
    # That it is refused is no more than recommended, by a requirement of its own.
    ("createQuote", "lockedCurrencyAmount"): (0,),
    # These are right in themselves; what they ask for beside them is for others to decide.
    ("createQuote", "source.sourceType"): ("REALTIME_FUNDING",),
    ("createCustomer", "customerType"): ("BUSINESS",),
    # Some take the currency from it, and need no more than is there.
    ("createExternalAccount", "accountInfo.accountType"): tuple(
        example.account_type
        for example in account_examples().values()
        if not example.account_type.endswith(("_WALLET", "LIGHTNING"))
    ),
    # What is still missing may be told at the submission for review.
    ("createBeneficialOwner", "personalInfo"): ({},),
}
"""Values of a place that need not be refused although the document excludes them there."""


@dataclass(frozen=True)
class Fault:
    """A body with one mistake: ``place`` is its dotted path, "" for the whole body."""

    place: str
    body: Any

    def __str__(self) -> str:
        return f"a wrong or missing {self.place}" if self.place else "a body of another kind"


def faults(operation: Operation, base: Json, drawn: Iterable[Drawn], most: int) -> list[Fault]:
    """Return bodies that have to be refused, each ``base`` with one mistake from ``drawn``."""
    schema = _schema(operation)
    files = None if operation.form_schema is None else files_of(operation.form_schema)
    held = HELD[operation.id]
    tried: set[bytes] = set()
    found: list[Fault] = []
    for request in drawn:
        if request.valid or request.body is ABSENT or isinstance(request.body, bytes):
            continue
        for place, drawn_value in _differences(base, request.body, _BODY):
            for value in _spellings(drawn_value):
                kind = _LEFT_OUT if value in _NOTHING[files is not None] else _WRONG
                if kind not in held.get(place, ()):
                    continue
                body = _with(base, place, value)
                if (key := encoded(body, files)) in tried:
                    continue
                tried.add(key)
                if must_be_refused(schema, _plain(body)) and not _is_spared(operation, place, body):
                    found.append(Fault(place, body))
    return found[:most]


def _schema(operation: Operation) -> Mapping[str, Any]:
    return operation.request_schema or operation.form_schema or {}


def _plain(body: Any) -> Any:
    """Return a body with texts in the place of files."""
    if not isinstance(body, dict):
        return body
    return {name: str(part) if isinstance(part, File) else part for name, part in body.items()}


def _differences(base: Any, drawn: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield each place where ``drawn`` has another value than ``base``, as deep as both go."""
    if not isinstance(base, dict) or not isinstance(drawn, dict):
        yield place, drawn
        return
    for name in sorted({*base, *drawn}):
        if not name or "." in name:
            continue
        inner = f"{place}.{name}" if place else name
        yield from _differences(base.get(name, ABSENT), drawn.get(name, ABSENT), inner)


def _spellings(value: Any) -> Iterator[Any]:
    """Yield a value and, where it is a number, the text of its digits."""
    yield value
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def _with(base: Json, place: str, value: Any) -> Any:
    """Return ``base`` with ``value`` at a place; ``ABSENT`` takes the member out."""
    name, _, rest = place.partition(".")
    if not name:
        return value
    if rest:
        return {**base, name: _with(base[name], rest, value)}
    if value is ABSENT:
        return {key: member for key, member in base.items() if key != name}
    return {**base, name: value}


def _is_spared(operation: Operation, place: str, body: Any) -> bool:
    if (operation.id, place) not in SPARED:
        return False
    read = value_at(reading(_schema(operation), body), place)
    return read in SPARED[operation.id, place]
