"""Stablecoins of the platform: registration, mints, burns, and the list of their operations.

The specification does not show shapes, methods and states (line 415). The scenarios check that the
operations exist, and which list shows what.
"""

from __future__ import annotations

import pytest

from conformance.platform.given.stablecoins import Coin, Kind
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing


def operation(kind: Kind, *identifiers: str) -> object:
    """Return the kind of an operation as a parameter, with the requirements that it decides."""
    return case(identifiers, kind, kind, identifiers)


@requirement("STC-001", "STC-002", "STC-004", "STC-005")
def test_a_stablecoin_can_be_registered(platform: Platform, check: Check) -> None:
    """The registration answers with an id, and the list shows the stablecoin."""
    answer = platform.stablecoins.register()
    listed = platform.stablecoins.list_all()

    with check("STC-001"):
        answer.expect_accepted()
    with check("STC-004"):
        listed.expect_accepted()
    with check("STC-002"):
        identifier = platform.stablecoins.id_in(arranged_body(answer))
        assert isinstance(identifier, str), answer
        assert identifier, answer
    with check("STC-005"):
        coin = Coin(platform.stablecoins.id_in(arranged_body(answer)))
        assert platform.stablecoins.lists(coin), platform.stablecoins.list_all()


@requirement("STC-003", "STC-006")
def test_each_registration_brings_another_stablecoin(platform: Platform, check: Check) -> None:
    """Two registrations have different ids, and the list still shows the first."""
    first, second = platform.stablecoins.registered(), platform.stablecoins.registered()

    with check("STC-003"):
        assert first.id != second.id
    with check("STC-006"):
        assert platform.stablecoins.lists(first), platform.stablecoins.list_all()


@pytest.mark.parametrize(
    ("kind", "requirement_ids"),
    [
        operation("mint", "STC-010", "STC-011", "STC-012"),
        operation("external_mint", "STC-010", "STC-011", "STC-012"),
        operation("burn", "STC-020", "STC-021", "STC-022"),
    ],
)
def test_what_is_minted_and_burnt_is_tracked(
    platform: Platform, check: Check, kind: Kind, requirement_ids: tuple[str, str, str]
) -> None:
    """An accepted mint or burn becomes an operation in the list of its stablecoin.

    So does a mint to an external account, which may have to be linked before.
    """
    accepted_id, tracked_id, listed_id = requirement_ids
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin)
    before = platform.stablecoins.count_operations(coin)

    answer = platform.stablecoins.operate_when_ready(kind, coin)

    if kind == "external_mint" and not answer.accepted:
        raise ResourceMissing(f"nothing is minted to an external account: {answer}")
    with check(accepted_id):
        answer.expect_accepted()
    with check(tracked_id):
        arranged_body(answer)
        assert platform.stablecoins.count_operations(coin) > before, (
            platform.stablecoins.list_operations(coin)
        )
    with check(listed_id):
        identifier = platform.stablecoins.operation_id_in(arranged_body(answer))
        assert platform.stablecoins.lists_operation(coin, identifier), (
            platform.stablecoins.list_operations(coin)
        )


@pytest.mark.parametrize(
    "kind",
    [
        case("STC-013", "mint", "mint"),
        case("STC-023", "burn", "burn"),
    ],
)
def test_an_operation_belongs_to_one_stablecoin(platform: Platform, kind: Kind) -> None:
    """The list of another stablecoin does not show the operation."""
    coin, other = platform.stablecoins.coin(kind), platform.stablecoins.coin()
    platform.stablecoins.stock(kind, coin)
    before = platform.stablecoins.count_operations(other)

    arranged_body(platform.stablecoins.operate_when_ready(kind, coin))

    # Once the operation is in its own list, it would be in a wrong list too.
    platform.stablecoins.count_operations(coin)
    assert platform.stablecoins.count_operations(other) == before, (
        platform.stablecoins.list_operations(other)
    )


@pytest.mark.parametrize(
    ("kind", "requirement_ids"),
    [
        operation("mint", "STC-014", "STC-015", "STC-016"),
        operation("burn", "STC-024", "STC-025", "STC-026"),
    ],
)
def test_each_operation_stands_for_itself(
    platform: Platform, check: Check, kind: Kind, requirement_ids: tuple[str, str, str]
) -> None:
    """Two operations of the same amount are two entries with different ids."""
    separate_id, distinct_id, text_id = requirement_ids
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin, times=2)
    before = platform.stablecoins.count_operations(coin)

    answers = [platform.stablecoins.operate_when_ready(kind, coin) for _ in range(2)]

    bodies = [arranged_body(answer) for answer in answers]
    with check(separate_id):
        more = platform.stablecoins.count_operations(coin) - before
        assert more >= len(bodies), platform.stablecoins.list_operations(coin)
    with check(distinct_id):
        first, second = map(platform.stablecoins.operation_id_in, bodies)
        assert first != second
    with check(text_id):
        identifiers = [platform.stablecoins.operation_id_in(body) for body in bodies]
        assert all(isinstance(identifier, str) and identifier for identifier in identifiers), (
            identifiers
        )


@requirement("STC-030", "STC-031", "STC-032")
def test_operations_stay_listed(platform: Platform, check: Check) -> None:
    """The list still shows a mint and a burn after a later operation."""
    coin = platform.stablecoins.coin("burn")
    platform.stablecoins.stock("burn", coin)

    listed = platform.stablecoins.list_operations(coin)
    with check("STC-030"):
        listed.expect_accepted()
    with check("STC-031"):
        expect_still_listed(platform, coin, "mint", after="burn")
    with check("STC-032"):
        expect_still_listed(platform, coin, "burn", after="mint")


def expect_still_listed(platform: Platform, coin: Coin, kind: Kind, *, after: Kind) -> None:
    """Assert that an operation is listed after another one as well.

    Raises:
        ResourceMissing: what the operation is answered with is not the id that it is listed by.
    """
    __tracebackhide__ = True
    answer = platform.stablecoins.operate_when_ready(kind, coin)
    identifier = platform.stablecoins.operation_id_in(arranged_body(answer))
    if not platform.stablecoins.lists_operation(coin, identifier):
        raise ResourceMissing(f"a {kind} is not listed by the identifier that it is answered with")
    arranged_body(platform.stablecoins.operate_when_ready(after, coin))
    assert platform.stablecoins.lists_operation(coin, identifier), (
        platform.stablecoins.list_operations(coin)
    )
