"""Discoveries: the institutions that accounts can be registered at."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

COUNTRY, CURRENCY, EXAMPLE = "PH", "PHP", "php_account"
MOST_TRIED = 3


def institutions(
    platform: Platform, country: str = COUNTRY, currency: str = CURRENCY
) -> list[Json]:
    """Return the records that are listed for a country and a currency."""
    body = arranged_body(platform.api.list_discoveries({"country": country, "currency": currency}))
    listed = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(listed, list):
        raise PreconditionFailed("the discoveries are no list under data")
    return [record for record in listed if isinstance(record, Mapping)]


def require_peso_accounts(platform: Platform) -> None:
    """Raise ``ResourceMissing`` where the implementation has no accounts in Philippine pesos."""
    offered = platform.profile.resources.account_types
    if offered is not None and "PHP_ACCOUNT" not in offered:
        raise ResourceMissing("resources.account_types of the profile has no PHP_ACCOUNT")


def country_of(record: Json) -> str:
    """Return the country of a record, in whatever case."""
    return str(record.get("country")).upper()


@requirement("DSC-001", "DSC-002", "DSC-003", "DSC-004", "DSC-005", "DSC-008")
def test_institutions_of_a_corridor_are_listed(platform: Platform, check: Check) -> None:
    """An account in Philippine pesos needs the name of one."""
    require_peso_accounts(platform)

    answer = platform.api.list_discoveries({"country": COUNTRY, "currency": CURRENCY})

    with check("DSC-008"):
        assert answer.accepted, answer
        assert institutions(platform), "there is no institution"


@requirement("DSC-006", "DSC-007", "DSC-010")
def test_institutions_of_other_corridors_are_left_out(platform: Platform, check: Check) -> None:
    """A name of one corridor is worth nothing in another."""
    require_peso_accounts(platform)

    listed = institutions(platform)

    if not listed:
        raise ResourceMissing(f"no institution is listed for {CURRENCY} in {COUNTRY}")
    with check("DSC-006"):
        assert {record.get("currency") for record in listed} == {CURRENCY}
    with check("DSC-007"):
        assert {country_of(record) for record in listed} <= {COUNTRY, "PHL"}
    with check("DSC-010"):
        names = {record["bankName"] for record in listed}
        elsewhere = platform.api.list_discoveries({"country": "MX", "currency": "MXN"})
        if not elsewhere.accepted:
            raise ResourceMissing("no institutions are listed for MXN in MX")
        others = {record.get("bankName") for record in institutions(platform, "MX", "MXN")}
        assert names != others or not others, "both lists are the same"


@requirement("DSC-009")
def test_an_account_is_created_at_an_institution_that_is_listed(platform: Platform) -> None:
    """By the value that is listed for it."""
    payer = platform.external_accounts.account_holder()
    names = [record["bankName"] for record in institutions(platform)]
    if not names:
        raise ResourceMissing(f"no institution is listed for {CURRENCY} in {COUNTRY}")

    for name in names[:MOST_TRIED]:
        body = platform.external_accounts.body(payer, EXAMPLE, accountInfo={"bankName": name})
        answer = platform.api.create_external_account(body)

        assert answer.accepted, answer
