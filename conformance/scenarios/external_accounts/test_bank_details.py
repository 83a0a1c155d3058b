"""Details of an account's bank that are found out, looked up, or not the client's to say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    listed_members,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import at, require_details
from conformance.scenarios.kit.refusals import REFUSED, names
from conformance.testdata.examples import ABSENT, placed
from conformance.verdict.decisions import ResourceMissing

SWIFT_CODE = "accountInfo.swiftCode"
BANK_NAME = "accountInfo.bankName"
RAILS = "accountInfo.paymentRails"

BANK_AND_COUNTRY = 6
"""So many characters of a SWIFT code say which bank it is of; others may name its branch."""

PESOS = ("PH", "PHP")
ELSEWHERE = (("MX", "MXN"), ("CO", "COP"), ("NG", "NGN"), ("IN", "INR"), ("BR", "BRL"))


@requirement("EUA-021")
def test_a_swift_code_is_missed_only_where_it_cannot_be_derived(platform: Platform) -> None:
    """From which IBANs it can be is not said; a refusal for its lack is no fault."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "eur_account"
    )

    answer = platform.api.create_external_account(placed(body, SWIFT_CODE, ABSENT))

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_external_account(body))
        assert names(answer, "swiftCode"), answer


@requirement("EUA-022")
def test_a_derived_swift_code_is_of_the_bank_that_the_iban_names(platform: Platform) -> None:
    """Of whichever branch."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "eur_account"
    )

    answer = platform.api.create_external_account(placed(body, SWIFT_CODE, ABSENT))

    if not answer.accepted:
        raise ResourceMissing("no SWIFT code is derived from this IBAN")
    derived = str(at(arranged_resource(answer), SWIFT_CODE)).upper()
    assert derived[:BANK_AND_COUNTRY] == at(body, SWIFT_CODE)[:BANK_AND_COUNTRY]


@requirement("ASA-118", "ASA-101")
def test_a_bank_that_the_discoveries_do_not_list_is_refused(
    platform: Platform, check: Check
) -> None:
    """And the error, if it lists fields, names the bank's name."""
    require_listed(platform)
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "php_account"
    )
    unlisted = placed(body, BANK_NAME, f"NO SUCH BANK {platform.samples.reference()}")

    refusal = platform.api.create_external_account(unlisted)

    twin = platform.api.create_external_account(body)
    with check("ASA-118"):
        refusal.refused(*REFUSED, twin=twin)
    with check("ASA-101"):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault")
        assert names(refusal, "bankName"), refusal


@requirement("ASA-119")
def test_the_label_of_a_bank_is_not_its_name(platform: Platform) -> None:
    """It is for users."""
    values = {plain(name) for name in require_listed(platform)}
    label = next(
        (
            record["displayName"]
            for record in listed_members(
                arranged_body(
                    platform.api.list_discoveries({"country": PESOS[0], "currency": PESOS[1]})
                )
            )
            if record.get("displayName") and plain(record["displayName"]) not in values
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
    """It is listed there, and not here."""
    here = {plain(name) for name in require_listed(platform)}
    there = [
        name
        for corridor in ELSEWHERE
        for name in platform.external_accounts.institutions(*corridor)
    ]
    foreign = next((name for name in there if plain(name) not in here), None)
    if foreign is None:
        raise ResourceMissing("no institution is listed for another country alone")
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "php_account"
    )

    refusal = platform.api.create_external_account(placed(body, BANK_NAME, foreign))

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))


@requirement("ASA-187", "ASA-188")
@pytest.mark.parametrize("example", ["inr_account", "inr_account.neft", "inr_account.rtgs"])
def test_an_account_in_rupees_shows_its_rails(
    platform: Platform, check: Check, example: str
) -> None:
    """Once it can receive payments."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder(), example
    )

    read = arranged_resource(platform.api.get_external_account(account["id"]))

    with check("ASA-187"):
        if read.get("status") != "ACTIVE":
            raise ResourceMissing(f"the account is {read.get('status')}")
        require_details(read)
        assert info_of(read).get("paymentRails"), read
    with check("ASA-188"):
        rails = at(read, RAILS)
        assert isinstance(rails, list)
        assert all(isinstance(rail, str) for rail in rails)


@requirement("ASA-189")
def test_rails_that_are_sent_are_not_taken_over(platform: Platform) -> None:
    """Whether they are ignored or refused."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "inr_account"
    )

    answer = platform.api.create_external_account(placed(body, RAILS, ["PIGEON"]), valid=False)

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_external_account(body))
        return
    read = arranged_resource(platform.api.get_external_account(arranged_resource(answer)["id"]))
    for shown in (answer.body, read):
        assert "PIGEON" not in (info_of(shown).get("paymentRails") or ())


def require_listed(platform: Platform) -> list[str]:
    """Return the listed names of banks that take Philippine pesos; they may be any.

    Raises:
        ResourceMissing: none is listed.
    """
    listed = list(platform.external_accounts.institutions(*PESOS))
    if not listed:
        raise ResourceMissing("no institution is listed for PHP in PH")
    return listed


def plain(name: object) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, str(name))).casefold()


def info_of(account: Resource) -> Json:
    """Return the ``accountInfo`` of an account, empty without one."""
    info = account.get("accountInfo")
    return info if isinstance(info, Mapping) else {}
