"""Details of an account's bank: derived by the service, taken from discoveries, or read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pytest

from conformance.contract.notation import masked_or_same
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_details, require_value_at
from conformance.scenarios.kit.refusals import REFUSED, names
from conformance.testdata.accounts import account_examples
from conformance.testdata.beneficiaries import beneficiary_example
from conformance.testdata.examples import ABSENT, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

SWIFT_CODE = "accountInfo.swiftCode"
BANK_NAME = "accountInfo.bankName"
RAILS = "accountInfo.paymentRails"

RUPEE_FORMS = ("inr_account", "inr_account.neft", "inr_account.rtgs")
"""Examples of the forms of an INR account."""

BANK_AND_COUNTRY = 6
"""The number of characters of a SWIFT code that name bank and country; others name the branch."""

COUNTRY = slice(4, 6)
"""The characters of a SWIFT code that name the country."""

BANK_LENGTH = 8
"""The number of characters of a SWIFT code without a branch."""

HEAD_OFFICE = "XXX"
"""The end of a SWIFT code that names no branch."""

BRANCHES = ("370", "700")
"""Ends of SWIFT codes that name a branch: that whose bank code the example's IBAN has, another."""

PESOS = ("PH", "PHP")
OTHER_COUNTRIES = (("MX", "MXN"), ("CO", "COP"), ("NG", "NGN"), ("IN", "INR"), ("BR", "BRL"))


@requirement("EUA-021")
def test_a_swift_code_is_missed_only_where_it_cannot_be_derived(platform: Platform) -> None:
    """An IBAN without swiftCode is accepted, or the refusal names swiftCode."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "eur_account"
    )

    answer = platform.api.create_external_account(placed(body, SWIFT_CODE, ABSENT))

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_external_account(body))
        assert names(answer, "swiftCode"), answer


@requirement("EUA-906")
def test_a_swift_code_need_not_always_be_sent(platform: Platform) -> None:
    """Of IBANs of several countries one at least is taken without a swiftCode."""
    owner = platform.external_accounts.account_holder()
    bodies = [
        platform.external_accounts.body(owner, example.name)
        for example in account_examples().values()
        if example.account_type == "EUR_ACCOUNT"
    ]

    refusals = []
    for body in bodies:
        answer = platform.api.create_external_account(placed(body, SWIFT_CODE, ABSENT))
        if answer.accepted:
            return
        refusals.append(answer)

    arranged_body(platform.api.create_external_account(bodies[0]))
    assert not refusals, f"each IBAN is refused without a swiftCode: {refusals[0]}"


@requirement("EUA-022", "EUA-907", "EUA-905")
def test_a_derived_swift_code_is_of_the_bank_that_the_iban_names(
    platform: Platform, check: Check
) -> None:
    """A derived swiftCode names the country of the IBAN, and its bank; the branch may differ.

    It is shown when the account is read and where it is listed, as when it was created. A sandbox
    may know no banks.
    """
    owner = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(owner, "eur_account")

    answer = platform.api.create_external_account(placed(body, SWIFT_CODE, ABSENT))

    if not answer.accepted:
        raise ResourceMissing("no SWIFT code is derived from this IBAN")
    account = arranged_resource(answer)
    read_again = arranged_resource(platform.api.get_external_account(account["id"]))
    known_code = require_value_at(body, SWIFT_CODE)
    codes = [
        str(code).upper() for one in (account, read_again) if (code := value_at(one, SWIFT_CODE))
    ]
    if not codes:
        raise ResourceMissing(f"the account shows no swiftCode: {account}")
    with check("EUA-022"):
        for code in codes:
            assert code[COUNTRY] == known_code[COUNTRY], codes
            assert code[:BANK_LENGTH] == codes[0][:BANK_LENGTH], codes
    with check("EUA-907"):
        for code in codes:
            assert code[:BANK_AND_COUNTRY] == known_code[:BANK_AND_COUNTRY], codes
    with check("EUA-905"):
        require_value_at(account, SWIFT_CODE)
        assert value_at(read_again, SWIFT_CODE), read_again
        listed = platform.external_accounts.as_listed(owner, account)
        assert listed is None or value_at(listed, SWIFT_CODE), listed


@requirement("EUA-023")
def test_a_swift_code_that_was_sent_is_not_derived(platform: Platform) -> None:
    """An account that is sent with the SWIFT code of a branch shows that code.

    What is derived may name the branch of the IBAN, or none.
    """
    owner = platform.external_accounts.account_holder()
    answers = {}
    for branch in BRANCHES:
        body = platform.external_accounts.body(owner, "eur_account")
        code = f"{require_value_at(body, SWIFT_CODE)[:BANK_LENGTH]}{branch}"
        answers[code] = platform.api.create_external_account(placed(body, SWIFT_CODE, code))

    if not any(answer.accepted for answer in answers.values()):
        refusals = "; ".join(map(str, answers.values()))
        raise ResourceMissing(f"the SWIFT code of no branch is taken: {refusals}")
    for sent_code, answer in answers.items():
        if not answer.accepted:
            continue
        account = arranged_resource(answer)
        for shown in (account, arranged_resource(platform.api.get_external_account(account["id"]))):
            shown_code = str(require_value_at(shown, SWIFT_CODE)).upper()
            assert masked_or_same(shown_code, sent_code), shown
            # It is the head office then, and no mask.
            assert not shown_code.endswith(HEAD_OFFICE), shown


@requirement("ASA-118", "ASA-101")
@pytest.mark.parametrize("beneficiary", ["individual", "business"])
def test_a_bank_that_the_discoveries_do_not_list_is_refused(
    platform: Platform, check: Check, beneficiary: Literal["individual", "business"]
) -> None:
    """An invented bankName is refused with 400 or 422, and field errors, if any, name bankName.

    It does not matter who the beneficiary is.
    """
    require_institutions(platform)
    holder = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(holder, "php_account")
    if beneficiary == "business":
        body = platform.external_accounts.body_with_beneficiary(
            holder, "PHP", beneficiary_example("business-elsewhere-paid-by-another").twin
        )
    unlisted_bank = placed(body, BANK_NAME, f"NO SUCH BANK {platform.samples.reference()}")

    refusal = platform.api.create_external_account(unlisted_bank)

    twin = platform.api.create_external_account(body)
    with check("ASA-118"):
        refusal.refused(*REFUSED, twin=twin)
    with check("ASA-101"):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault")
        assert names(refusal, "bankName"), refusal


@requirement("ASA-119")
def test_the_label_of_a_bank_is_not_its_name(platform: Platform) -> None:
    """An account with the displayName of an institution as its bankName is refused."""
    values = {normalized(name) for name in require_institutions(platform)}
    label = next(
        (
            record["displayName"]
            for record in platform.api.pages(
                "listDiscoveries", {"country": PESOS[0], "currency": PESOS[1]}
            )
            if record.get("displayName") and normalized(record["displayName"]) not in values
        ),
        None,
    )
    if label is None:
        raise ResourceMissing("no institution has a label of its own")
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "php_account"
    )

    refusal = platform.api.create_external_account(placed(body, BANK_NAME, label))

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))


@requirement("ASA-120")
def test_a_bank_of_another_country_is_refused(platform: Platform) -> None:
    """A bankName that the discoveries list only for another country is refused."""
    local_names = {normalized(name) for name in require_institutions(platform)}
    foreign_names = [
        name
        for corridor in OTHER_COUNTRIES
        for name in platform.external_accounts.institutions(*corridor)
    ]
    foreign_name = next(
        (name for name in foreign_names if normalized(name) not in local_names), None
    )
    if foreign_name is None:
        raise ResourceMissing("no institution is listed for another country alone")
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "php_account"
    )

    refusal = platform.api.create_external_account(placed(body, BANK_NAME, foreign_name))

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))


@requirement("ASA-187", "ASA-188")
@pytest.mark.parametrize("example", RUPEE_FORMS)
def test_an_account_in_rupees_shows_its_rails(
    platform: Platform, check: Check, example: str
) -> None:
    """An INR account that is ACTIVE shows paymentRails, a list of texts."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder(), example
    )

    account_read = arranged_resource(platform.api.get_external_account(account["id"]))

    with check("ASA-187"):
        if account_read.get("status") != "ACTIVE":
            raise ResourceMissing(f"the account is {account_read.get('status')}")
        require_details(account_read)
        assert info_of(account_read).get("paymentRails"), account_read
    with check("ASA-188"):
        rails = require_value_at(account_read, RAILS)
        assert isinstance(rails, list)
        assert all(isinstance(rail, str) for rail in rails)


@requirement("ASA-191")
def test_rails_are_shown_of_each_form_or_of_none(platform: Platform) -> None:
    """Where one form of an INR account that is ACTIVE shows paymentRails, the others do too."""
    holder = platform.external_accounts.account_holder()
    rails = {
        example: info_of(account).get("paymentRails")
        for example in RUPEE_FORMS
        if (account := platform.external_accounts.account(holder, example))["status"] == "ACTIVE"
    }

    if not any(rails.values()):
        raise ResourceMissing("no form of an INR account shows paymentRails")
    assert all(rails.values()), rails


@requirement("ASA-190")
@pytest.mark.parametrize("example", ["inr_account", "inr_account.neft"])
def test_rails_are_read_as_well(platform: Platform, example: str) -> None:
    """What the answer to a creation showed is not withheld from who reads the account later."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder(), example)

    account = arranged_resource(platform.api.create_external_account(body))
    account_read = arranged_resource(platform.api.get_external_account(account["id"]))

    require_details(account_read)
    if not info_of(account).get("paymentRails"):
        raise ResourceMissing(f"{account['id']} showed no paymentRails when it was created")
    if account_read.get("status") != account.get("status"):
        raise ResourceMissing(f"{account['id']} is {account_read.get('status')} by now")
    assert info_of(account_read).get("paymentRails"), account_read


@requirement("ASA-189")
def test_rails_that_are_sent_are_not_taken_over(platform: Platform) -> None:
    """A request with paymentRails is refused, or the account does not show the sent rail."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "inr_account"
    )

    answer = platform.api.create_external_account(placed(body, RAILS, ["PIGEON"]), valid=False)

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_external_account(body))
        return
    account_read = arranged_resource(
        platform.api.get_external_account(arranged_resource(answer)["id"])
    )
    for account in (answer.body, account_read):
        assert "PIGEON" not in (info_of(account).get("paymentRails") or ())


def require_institutions(platform: Platform) -> list[str]:
    """Return the names of the institutions that the discoveries list for PHP in PH.

    Raises:
        ResourceMissing: no institution is listed.
    """
    institutions = list(platform.external_accounts.institutions(*PESOS))
    if not institutions:
        raise ResourceMissing("no institution is listed for PHP in PH")
    return institutions


def normalized(name: object) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, str(name))).casefold()


def info_of(account: Resource) -> Json:
    """Return the ``accountInfo`` of an account; empty without one."""
    info = account.get("accountInfo")
    return info if isinstance(info, Mapping) else {}
