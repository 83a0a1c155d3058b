"""The numbers of fixtures/accounts are valid by libraries, except for the member at fault.

A conforming implementation may check digits and numbering plans. An account that has to be
accepted must pass there too, and one that has to be refused must not be refused for them alone.
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
"""How many times each example is filled with new digits."""

SANDBOX_VALUES = tuple(f"00{digit}" for digit in range(1, 10))
CARD = re.compile(r"62\d{14,17}")
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]+")
REPLACED_PLANS = ("+229",)
"""Benin has new phone numbers; the specification has the lengths of the old ones."""


def is_iban(value: str, info: Json) -> bool:
    """Return whether this is an IBAN, of the country of the account type where it has one."""
    country = {"AED_ACCOUNT": "AE", "ILS_ACCOUNT": "IL"}.get(info["accountType"])
    iban = schwifty.IBAN(value, validate_bban=True)
    return country in (None, iban.country_code)


def is_swift_code(value: str, info: Json) -> bool:
    """Return whether this is a BIC of the country of the IBAN beside it, and of its bank."""
    code = schwifty.BIC(value)
    if "iban" not in info:
        return True
    iban = schwifty.IBAN(info["iban"])
    bic = iban.bic
    return code.country_code == iban.country_code and (bic is None or bic[:6] == value[:6])


def is_clabe(value: str, _info: Json) -> bool:
    """Return whether the check digit is right by the weights 3, 7, 1 of Mexican banks."""
    pairs = zip(map(int, value), (3, 7, 1) * 6, strict=True)
    total = sum(digit * weight % 10 for digit, weight in pairs)
    return total % 10 == 0


def is_pix_key(value: str, info: Json) -> bool:
    """Return whether this is a PIX key of the kind in ``pixKeyType``."""
    tests: dict[str, Callable[[str, Json], bool]] = {
        "CPF": lambda text, _: cpf.is_valid(text),
        "CNPJ": lambda text, _: cnpj.is_valid(text),
        "PHONE": is_phone_number,
    }
    test = tests.get(info["pixKeyType"])
    return test is None or test(value, info)


def is_tax_number(value: str, _info: Json) -> bool:
    """Return whether this is the tax number of a person or a company in Brazil."""
    return cpf.is_valid(value) or cnpj.is_valid(value)


def is_phone_number(value: str, _info: Json) -> bool:
    """Return whether the numbering plan of its country has this number."""
    if value.startswith(REPLACED_PLANS):
        return True
    return phonenumbers.is_valid_number(phonenumbers.parse(value))


def is_card_number(value: str, _info: Json) -> bool:
    """Return whether a number of the form of a UnionPay card has the right last digit."""
    return CARD.fullmatch(value) is None or luhn.is_valid(value)


def is_routing_number(value: str, _info: Json) -> bool:
    """Return whether the American Bankers Association's weights fit this number."""
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
def accepted_accounts() -> list[tuple[AccountExample, str, Json]]:
    """Return every account that has to be accepted, with its example and its change."""
    return list(_iterate_accepted())


def _iterate_accepted() -> Iterator[tuple[AccountExample, str, Json]]:
    for example in account_examples().values():
        bodies = {"": dict(example.body)}
        bodies |= {f"{c.member} {c.name}": c.applied(dict(example.body)) for c in example.accepted}
        for name, body in bodies.items():
            samples = Samples(1, f"{example.name} {name}")
            for _ in range(FILLINGS):
                yield example, name, samples.filled(body)["accountInfo"]


def is_valid(member: str, info: Json) -> bool:
    """Return whether the library for a member takes its value."""
    try:
        return TESTS[member](info[member], info)
    except (ValueError, phonenumbers.NumberParseException):
        return False


@pytest.mark.parametrize("member", TESTS)
def test_what_is_to_be_taken_has_valid_numbers(member: str) -> None:
    """Accepted accounts have valid numbers, whatever digits a test fills in."""
    accounts = [
        (example.name, name, info) for example, name, info in accepted_accounts() if member in info
    ]

    assert accounts, f"no account has a {member}"
    assert [
        (name, change, info[member])
        for name, change, info in accounts
        if not is_valid(member, info)
    ] == []


def test_no_number_has_a_meaning_for_sandboxes() -> None:
    """No value ends in 001 to 009, to which sandboxes give a meaning."""
    wrong = [
        (example.name, name, member, value)
        for example, name, info in accepted_accounts()
        for member, value in info.items()
        if isinstance(value, str) and value.endswith(SANDBOX_VALUES)
    ]

    assert wrong == []


def test_an_iban_is_not_refused_for_its_check_digits_alone() -> None:
    """Refused IBANs of another length or country have the right check digits."""
    ibans = [
        (example.name, change.name, change.value)
        for example in account_examples().values()
        for change in example.refused
        if change.member == "accountInfo.iban" and IBAN.fullmatch(str(change.value))
    ]

    assert ibans
    assert [
        (name, change, value)
        for name, change, value in ibans
        if not mod_97_10.is_valid(value[4:] + value[:4])
    ] == []


def test_every_file_is_looked_at() -> None:
    """At least one example of each file of accounts is checked."""
    files = {path.stem for path in (FIXTURES / "accounts").glob("*.yaml")}

    assert {example.name.partition(".")[0] for example, _, _ in accepted_accounts()} == files
