"""The numbers of fixtures/accounts, by libraries that know them: valid but for what is at fault.

An honest implementation may look at check digits and numbering plans. An account that is to be
taken has to pass there too, and one that is to be refused may not be refused for them alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import phonenumbers
import pytest
import schwifty
from stdnum import luhn
from stdnum.br import cnpj, cpf
from stdnum.iso7064 import mod_97_10
from stdnum.us import rtn

from conformance.contract.data import FIXTURES
from conformance.platform.resource import Json
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.samples import Samples

FILLINGS = 10
"""So many times each example is filled with digits of its own."""

SANDBOX_VALUES = tuple(f"00{digit}" for digit in range(1, 10))
CARD = re.compile(r"62\d{14,17}")
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]+")
REPLACED_PLANS = ("+229",)
"""Benin renumbered its phones; the lengths that the specification gives are those from before."""


def is_iban(value: str, info: Json) -> bool:
    """Of the account type's country, where it has one."""
    country = {"AED_ACCOUNT": "AE", "ILS_ACCOUNT": "IL"}.get(info["accountType"])
    iban = schwifty.IBAN(value, validate_bban=True)
    return country in (None, iban.country_code)


def is_swift_code(value: str, info: Json) -> bool:
    """Of the country of the IBAN beside it, and of its bank where the registry knows that."""
    code = schwifty.BIC(value)
    if "iban" not in info:
        return True
    iban = schwifty.IBAN(info["iban"])
    own = iban.bic
    return code.country_code == iban.country_code and (own is None or own[:6] == value[:6])


def is_clabe(value: str, _info: Json) -> bool:
    """By the weights 3, 7, 1 of the Mexican banks."""
    weighed = zip(map(int, value), (3, 7, 1) * 6, strict=True)
    total = sum(digit * weight % 10 for digit, weight in weighed)
    return total % 10 == 0


def is_pix_key(value: str, info: Json) -> bool:
    """Of the kind that is said."""
    tests: dict[str, Callable[[str, Json], bool]] = {
        "CPF": lambda text, _: cpf.is_valid(text),
        "CNPJ": lambda text, _: cnpj.is_valid(text),
        "PHONE": is_phone_number,
    }
    test = tests.get(info["pixKeyType"])
    return test is None or test(value, info)


def is_tax_number(value: str, _info: Json) -> bool:
    """Of a person or of a company in Brazil."""
    return cpf.is_valid(value) or cnpj.is_valid(value)


def is_phone_number(value: str, _info: Json) -> bool:
    """By the numbering plan of its country."""
    if value.startswith(REPLACED_PLANS):
        return True
    return phonenumbers.is_valid_number(phonenumbers.parse(value))


def is_card_number(value: str, _info: Json) -> bool:
    """Where it looks like a UnionPay card, it ends in the right digit."""
    return CARD.fullmatch(value) is None or luhn.is_valid(value)


def is_routing_number(value: str, _info: Json) -> bool:
    """By the weights of the American Bankers Association."""
    return rtn.is_valid(value)


TESTS: dict[str, Callable[[str, Json], bool]] = {
    "iban": is_iban,
    "swiftCode": is_swift_code,
    "clabeNumber": is_clabe,
    "routingNumber": is_routing_number,
    "intermediaryRoutingNumber": is_routing_number,
    "pixKey": is_pix_key,
    "taxId": is_tax_number,
    "phoneNumber": is_phone_number,
    "accountNumber": is_card_number,
}


@cache
def accepted() -> list[tuple[AccountExample, str, Json]]:
    """Return every account that is to be taken: its example, what differs, its ``accountInfo``."""
    return list(_accepted())


def _accepted() -> Iterator[tuple[AccountExample, str, Json]]:
    for found in account_examples().values():
        bodies = {"": dict(found.body)}
        bodies |= {f"{c.member} {c.name}": c.applied(dict(found.body)) for c in found.accepted}
        for name, body in bodies.items():
            samples = Samples(1, f"{found.name} {name}")
            for _ in range(FILLINGS):
                yield found, name, samples.filled(body)["accountInfo"]


def is_valid(member: str, info: Json) -> bool:
    """Return whether a member is what it is by the library that knows it."""
    try:
        return TESTS[member](info[member], info)
    except (ValueError, phonenumbers.NumberParseException):
        return False


@pytest.mark.parametrize("member", TESTS)
def test_what_is_to_be_taken_has_valid_numbers(member: str) -> None:
    """With whatever digits a test fills in."""
    seen = [(found.name, name, info) for found, name, info in accepted() if member in info]

    assert seen, f"no account has a {member}"
    assert [
        (name, change, info[member]) for name, change, info in seen if not is_valid(member, info)
    ] == []


def test_no_number_has_a_meaning_for_sandboxes() -> None:
    """They give one to the last digits 001 to 009."""
    wrong = [
        (found.name, name, member, value)
        for found, name, info in accepted()
        for member, value in info.items()
        if isinstance(value, str) and value.endswith(SANDBOX_VALUES)
    ]

    assert wrong == []


def test_an_iban_is_not_refused_for_its_check_digits_alone() -> None:
    """Those of another length or country are right for what stands there."""
    ibans = [
        (found.name, change.name, change.value)
        for found in account_examples().values()
        for change in found.refused
        if change.member == "accountInfo.iban" and IBAN.fullmatch(str(change.value))
    ]

    assert ibans
    assert [
        (name, change, value)
        for name, change, value in ibans
        if not mod_97_10.is_valid(value[4:] + value[:4])
    ] == []


def test_every_file_is_looked_at() -> None:
    """An account type without any of these numbers has none of them to be wrong."""
    files = {path.stem for path in (FIXTURES / "accounts").glob("*.yaml")}

    assert {found.name.partition(".")[0] for found, _, _ in accepted()} == files
