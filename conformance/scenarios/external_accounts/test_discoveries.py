"""Discoveries: the institutions that accounts can be registered at."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, listed_members
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

COUNTRY, CURRENCY, EXAMPLE = "PH", "PHP", "php_account"

FEW_NAMES = 12
"""As many names of institutions are all tried."""

SECOND_PLACES = {("HK", "PHP"): "HKG", ("SV", "USD"): "SLV"}
"""Countries in which a currency is received that is at home elsewhere too, in three letters."""


def institutions(
    platform: Platform, country: str = COUNTRY, currency: str = CURRENCY
) -> list[Json]:
    """Return the institutions that the discoveries list for a country and a currency.

    Raises:
        PreconditionFailed: the request is refused, or its answer is no list.
    """
    records = platform.api.pages("listDiscoveries", {"country": country, "currency": currency})
    return [record for record in records if isinstance(record, Mapping)]


def require_peso_accounts(platform: Platform) -> None:
    """Raise ``ResourceMissing`` where the profile's account types lack PHP_ACCOUNT."""
    offered = platform.profile.resources.account_types
    if offered is not None and "PHP_ACCOUNT" not in offered:
        raise ResourceMissing("resources.account_types of the profile has no PHP_ACCOUNT")


def country_of(record: Json) -> str:
    """Return the country of an institution in upper case."""
    return str(record.get("country")).upper()


@requirement("DSC-001", "DSC-002", "DSC-003", "DSC-004", "DSC-005", "DSC-008")
def test_institutions_of_a_corridor_are_listed(platform: Platform, check: Check) -> None:
    """GET /discoveries for PHP in PH is accepted and lists at least one institution."""
    require_peso_accounts(platform)

    answer = platform.api.list_discoveries({"country": COUNTRY, "currency": CURRENCY})

    with check("DSC-008"):
        answer.expect_accepted()
        assert institutions(platform), "there is no institution"


@requirement("DSC-006", "DSC-007", "DSC-010")
def test_institutions_of_other_corridors_are_left_out(platform: Platform, check: Check) -> None:
    """The lists for PHP in PH and for MXN in MX have no other currency or country, and differ."""
    require_peso_accounts(platform)

    records = institutions(platform)

    if not records:
        raise ResourceMissing(f"no institution is listed for {CURRENCY} in {COUNTRY}")
    with check("DSC-006"):
        assert {record.get("currency") for record in records} == {CURRENCY}
    with check("DSC-007"):
        assert {country_of(record) for record in records} <= {COUNTRY, "PHL"}
    other_records: list[Json] = []
    with check("DSC-010"):
        names = {record["bankName"] for record in records}
        answer = platform.api.list_discoveries({"country": "MX", "currency": "MXN"})
        if not answer.accepted:
            raise ResourceMissing("no institutions are listed for MXN in MX")
        other_records = institutions(platform, "MX", "MXN")
        other_names = {record.get("bankName") for record in other_records}
        assert names != other_names or not other_names, "both lists are the same"
    with check("DSC-006"):
        assert {record.get("currency") for record in other_records} <= {"MXN"}
    with check("DSC-007"):
        assert {country_of(record) for record in other_records} <= {"MX", "MEX"}


@requirement("DSC-006", "DSC-007")
def test_a_currency_is_received_in_several_countries(platform: Platform, check: Check) -> None:
    """The lists for further countries of a currency name the country and the currency asked for."""
    answers = {
        place: platform.api.list_discoveries({"country": place[0], "currency": place[1]})
        for place in SECOND_PLACES
    }

    listed = {
        place: records
        for place, answer in answers.items()
        if answer.accepted and (records := listed_members(answer.body))
    }
    if not listed:
        raise ResourceMissing(f"no institution is listed for any of {list(SECOND_PLACES)}")
    for (country, currency), records in listed.items():
        with check("DSC-006"):
            assert {record.get("currency") for record in records} == {currency}, records
        with check("DSC-007"):
            names = {country, SECOND_PLACES[country, currency]}
            assert {country_of(record) for record in records} <= names, records


@requirement("DSC-012")
def test_country_and_currency_are_both_looked_at(platform: Platform) -> None:
    """For MXN in PH nothing is listed that is in another country or in another currency.

    Such a corridor is empty or refused nearly everywhere.
    """
    require_peso_accounts(platform)
    if not institutions(platform):
        raise ResourceMissing(f"no institution is listed for {CURRENCY} in {COUNTRY}")

    answer = platform.api.list_discoveries({"country": COUNTRY, "currency": "MXN"})

    records = institutions(platform, COUNTRY, "MXN") if answer.accepted else []
    strangers = [
        record
        for record in records
        if record.get("currency") != "MXN" or country_of(record) not in (COUNTRY, "PHL")
    ]
    assert not strangers, f"listed for MXN in {COUNTRY}: {strangers}"


def unlike_names(names: list[str]) -> list[str]:
    """Return the first, a middle and the last name, the longest, and one with the most signs."""

    def signs(name: str) -> int:
        return sum(not character.isalnum() for character in name)

    chosen = (names[0], names[len(names) // 2], names[-1], max(names, key=len))
    return [*dict.fromkeys((*chosen, max(names, key=signs)))]


@requirement("DSC-009")
def test_an_account_is_created_at_an_institution_that_is_listed(platform: Platform) -> None:
    """Each listed bankName is taken as that of an account; of many, five of different kinds are."""
    customer = platform.external_accounts.account_holder()
    names = [record["bankName"] for record in institutions(platform)]
    if not names:
        raise ResourceMissing(f"no institution is listed for {CURRENCY} in {COUNTRY}")

    for name in names if len(names) <= FEW_NAMES else unlike_names(names):
        body = platform.external_accounts.body(customer, EXAMPLE, accountInfo={"bankName": name})
        answer = platform.api.create_external_account(body)

        answer.expect_accepted()
