"""Refused operations with stablecoins: each obstacle has its code, and its twin has no obstacle.

The specification does not say which operation a code belongs to (line 479). The tables name the
likeliest one; a profile may name another (``bindings.stablecoin_refusals``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.stablecoins import NOT_PROVISIONED, Coin, Kind
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, unknown_id
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED
from conformance.verdict.decisions import ResourceMissing, TriggerMissing

NOT_FOUND = 404
"""The status for an unknown id; where a body names the id, 400 and 422 are possible as well."""

MISSING_LINK = ("NOT_LINKED", "LINK_METHOD_REQUIRED", "PROVIDER_LINK_REQUIRED")
FAILED_LINK = ("LINK_FAILED", "PROVIDER_LINK_FAILED")
UNABLE = ("OPERATION_NOT_SUPPORTED", "SERVICE_OPERATIONS_NOT_ENABLED")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle that a trigger puts in the way of an operation, and the code of the refusal.

    ``number`` is that of the first of its requirements: of the status, of the code, of the exact
    code where a conforming service may send one of ``others``, and of what the refusal leaves
    behind.
    """

    number: int
    trigger: str
    code: str
    kind: Kind = "mint"
    others: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements that a refusal for this obstacle decides."""
        steps = (0, 1, 2, 3) if self.others else (0, 1, 3)
        return tuple(f"STC-{self.number + step}" for step in steps)


def _of(names: Iterable[str], code: str) -> tuple[str, ...]:
    stems = ("STABLECOIN_EXTERNAL_ACCOUNT_" + name for name in names)
    return tuple(other for other in stems if other != code)


def _unable(code: str, *more: str) -> tuple[str, ...]:
    codes = (*(f"STABLECOIN_{name}" for name in UNABLE), *more)
    return tuple(other for other in codes if other != code)


OBSTACLES = (
    Obstacle(100, "stablecoin.provider_invalid", "STABLECOIN_PROVIDER_ACCOUNT_INVALID"),
    Obstacle(110, "stablecoin.provider_revoked", "STABLECOIN_PROVIDER_ACCOUNT_REVOKED"),
    Obstacle(
        130,
        "stablecoin.source_unsupported",
        "STABLECOIN_BURN_SOURCE_NOT_SUPPORTED",
        "burn",
        _unable(""),
    ),
    Obstacle(
        140,
        "stablecoin.link_failed",
        "STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED",
        "external_mint",
        _of(FAILED_LINK, "STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED"),
    ),
    Obstacle(
        150,
        "stablecoin.link_method_unknown",
        "STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED",
        "external_mint",
        _of(MISSING_LINK, "STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED"),
    ),
    Obstacle(
        160,
        "stablecoin.account_unlinked",
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED",
        "external_mint",
        _of(MISSING_LINK, "STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED"),
    ),
    Obstacle(
        170,
        "stablecoin.account_unsupported",
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED",
        "external_mint",
        _unable(""),
    ),
    Obstacle(
        180,
        "stablecoin.provider_link_failed",
        "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED",
        "external_mint",
        ("STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED", "STABLECOIN_PROVIDER_ERROR"),
    ),
    Obstacle(
        190,
        "stablecoin.provider_link_missing",
        "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED",
        "external_mint",
        _of(MISSING_LINK, "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED"),
    ),
    Obstacle(
        200,
        "stablecoin.operations_disabled",
        "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED",
        others=_unable("STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED"),
    ),
    Obstacle(
        220,
        "stablecoin.operation_unsupported",
        "STABLECOIN_OPERATION_NOT_SUPPORTED",
        others=_unable("STABLECOIN_OPERATION_NOT_SUPPORTED"),
    ),
    Obstacle(230, "stablecoin.provider_down", "STABLECOIN_PROVIDER_ERROR"),
    Obstacle(240, "stablecoin.source_unlinked", "STABLECOIN_PROVIDER_SOURCE_NOT_LINKED", "burn"),
    Obstacle(250, "stablecoin.verification_failed", "STABLECOIN_VERIFICATION_FAILED"),
)
"""The obstacles; a conforming service may send the codes of some for each other."""


@pytest.mark.parametrize(
    "obstacle",
    [
        case(obstacle.requirements, obstacle.trigger.partition(".")[2].replace("_", "-"), obstacle)
        for obstacle in OBSTACLES
    ],
)
def test_what_stands_in_the_way_of_an_operation(
    platform: Platform, check: Check, obstacle: Obstacle
) -> None:
    """An operation is refused with 400 and the code of its obstacle, and is not listed."""
    kind = operation_for(platform, obstacle.code, obstacle.kind)
    is_magic = platform.triggers.magic(obstacle.trigger) is not None
    coin = platform.stablecoins.coin(kind, trigger=obstacle.trigger)
    free_coin = platform.stablecoins.coin(kind) if is_magic else coin
    platform.stablecoins.stock(kind, free_coin)
    twin = platform.stablecoins.operate_when_ready(kind, free_coin)
    if not is_magic:
        platform.stablecoins.stock(kind, coin)
        platform.stablecoins.cause(obstacle.trigger, coin)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate_when_ready(kind, coin)

    status_id, code_id, *exact_ids, left_id = obstacle.requirements
    with check(status_id):
        refusal.refused(400, twin=twin)
    with check(code_id):
        refusal.refused(obstacle.code, *obstacle.others, twin=twin)
    for exact_id in exact_ids:
        with check(exact_id):
            refusal.refused(obstacle.code, twin=twin)
    with check(left_id):
        refusal.refused(twin=twin)
        assert not count_new_operations(platform, kind, coin, before), (
            platform.stablecoins.list_operations(coin)
        )


@requirement("STC-120", "STC-121", "STC-123")
def test_an_amount_that_cannot_be_represented_is_refused(platform: Platform, check: Check) -> None:
    """An amount that cannot be represented is refused with 400 and its code, and is not listed."""
    amount = platform.profile.bindings.stablecoin_unrepresentable
    if amount is None:
        raise ResourceMissing("bindings.stablecoin_unrepresentable of the profile names no amount")
    kind = operation_for(platform, "STABLECOIN_AMOUNT_NOT_REPRESENTABLE", "mint")
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin)
    twin = platform.stablecoins.operate_when_ready(kind, coin)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(kind, coin, amount=amount)

    with check("STC-120"):
        refusal.refused(400, twin=twin)
    with check("STC-121"):
        refusal.refused("STABLECOIN_AMOUNT_NOT_REPRESENTABLE", twin=twin)
    with check("STC-123"):
        refusal.refused(twin=twin)
        assert not count_new_operations(platform, kind, coin, before), (
            platform.stablecoins.list_operations(coin)
        )


@pytest.mark.parametrize(
    "kind",
    [
        case(("STC-870", "STC-123"), "burn", "burn"),
        case(("STC-870", "STC-123"), "external-mint", "external_mint"),
    ],
)
def test_no_operation_takes_an_amount_that_cannot_be_represented(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A burn, or a mint to an external account, of such an amount is refused, and is not listed."""
    amount = platform.profile.bindings.stablecoin_unrepresentable
    if amount is None:
        raise ResourceMissing("bindings.stablecoin_unrepresentable of the profile names no amount")
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin, times=2)
    twin = platform.stablecoins.operate_when_ready(kind, coin)
    if not twin.accepted:
        raise ResourceMissing(f"no other amount is taken either: {twin}")
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(kind, coin, amount=amount)

    with check("STC-870"):
        refusal.refused(twin=twin)
    with check("STC-123"):
        refusal.refused(twin=twin)
        assert not count_new_operations(platform, kind, coin, before), (
            platform.stablecoins.list_operations(coin)
        )


@requirement("STC-210", "STC-211", "STC-213")
def test_a_stablecoin_that_is_not_provisioned_takes_no_operation(
    platform: Platform, check: Check
) -> None:
    """An operation before the provisioning is refused with 400, and accepted after it."""
    kind = operation_for(platform, NOT_PROVISIONED, "mint")
    coin = platform.stablecoins.registered(kind, trigger=magic_hold(platform))
    if platform.triggers.maps("stablecoin.hold") and magic_hold(platform) is None:
        platform.stablecoins.cause("stablecoin.hold", coin)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(kind, coin)

    if refusal.accepted and not platform.triggers.maps("stablecoin.hold"):
        raise TriggerMissing(
            "a new stablecoin is provisioned at once, and the profile does not map stablecoin.hold"
        )
    new_operations = platform.stablecoins.count_operations(coin) - before
    platform.stablecoins.provision(coin)
    ready_coin = (
        coin if platform.triggers.maps("stablecoin.provision") else platform.stablecoins.coin(kind)
    )
    platform.stablecoins.stock(kind, ready_coin)
    twin = platform.stablecoins.operate_when_ready(kind, ready_coin)
    with check("STC-210"):
        refusal.refused(400, twin=twin)
    with check("STC-211"):
        refusal.refused(NOT_PROVISIONED, twin=twin)
    with check("STC-213"):
        refusal.refused(twin=twin)
        assert not new_operations, platform.stablecoins.list_operations(coin)


@requirement("STC-060", "STC-061", "STC-062", "STC-063", "STC-064")
def test_one_of_several_links_to_the_provider_has_to_be_named(
    platform: Platform, check: Check
) -> None:
    """With several linked providers, an operation needs a stablecoinProviderAccountId."""
    kind = operation_for(platform, "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED", "mint")
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin, times=2)
    # With only one link the operation needs no stablecoinProviderAccountId.
    arranged_body(platform.stablecoins.operate_when_ready(kind, coin))
    link = platform.stablecoins.link_to_several_providers(coin)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(kind, coin)
    between = platform.stablecoins.count_operations(coin)
    twin = platform.stablecoins.operate_when_ready(kind, coin, provider_account=link)

    with check("STC-060"):
        refusal.refused(400, twin=twin)
    with check("STC-061"):
        refusal.refused("STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED", twin=twin)
    with check("STC-062"):
        refusal.refused(twin=twin)
        require_operation(kind)
        assert between == before, platform.stablecoins.list_operations(coin)
    with check("STC-063"):
        twin.expect_accepted()
    with check("STC-064"):
        arranged_body(twin)
        require_operation(kind)
        assert platform.stablecoins.count_operations(coin) > between, (
            platform.stablecoins.list_operations(coin)
        )


@requirement("STC-050", "STC-051", "STC-052")
def test_a_provider_account_that_does_not_exist_is_refused(
    platform: Platform, check: Check
) -> None:
    """An unknown stablecoinProviderAccountId is refused with 400, 404 or 422; nothing is listed.

    It is sent with the operation that has to name one of several.
    """
    selecting = operation_for(platform, "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED", "mint")
    kind = operation_for(platform, "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND", selecting)
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin)
    link = platform.stablecoins.link_to_several_providers(coin)
    twin = platform.stablecoins.operate_when_ready(kind, coin, provider_account=link)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(kind, coin, provider_account=unknown_id(link))

    with check("STC-050"):
        refusal.refused(*REFUSED, NOT_FOUND, twin=twin)
    with check("STC-051"):
        expect_missing(refusal, twin, "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND", "NOT_FOUND")
    with check("STC-052"):
        refusal.refused(twin=twin)
        assert not count_new_operations(platform, kind, coin, before), (
            platform.stablecoins.list_operations(coin)
        )


@requirement("STC-047", "STC-048", "STC-049")
def test_an_external_account_that_does_not_exist_is_refused(
    platform: Platform, check: Check
) -> None:
    """An unknown externalAccountId is refused with 400, 404 or 422; nothing is listed."""
    coin = platform.stablecoins.coin("external_mint")
    if coin.external is None:
        raise ResourceMissing("bindings.stablecoin_external_mint has no {externalAccountId}")
    twin = platform.stablecoins.operate_when_ready("external_mint", coin)
    before = platform.stablecoins.count_operations(coin)

    refusal = platform.stablecoins.operate(
        "external_mint", platform.stablecoins.with_unknown_account(coin)
    )

    new_operations = platform.stablecoins.count_operations(coin) - before
    codes = ("STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND", "ACCOUNT_NOT_FOUND", "NOT_FOUND")
    with check("STC-047"):
        refusal.refused(*REFUSED, NOT_FOUND, twin=twin)
    with check("STC-048"):
        expect_missing(refusal, twin, *codes)
    with check("STC-049"):
        refusal.refused(twin=twin)
        assert not new_operations, platform.stablecoins.list_operations(coin)


@requirement("STC-872")
def test_a_burn_by_a_provider_account_that_does_not_exist_is_refused(platform: Platform) -> None:
    """An unknown stablecoinProviderAccountId is refused where burns have to name one of several."""
    coin = platform.stablecoins.coin("burn")
    platform.stablecoins.stock("burn", coin, times=3)
    link = platform.stablecoins.link_to_several_providers(coin)
    twin = platform.stablecoins.operate_when_ready("burn", coin, provider_account=link)
    unnamed = platform.stablecoins.operate("burn", coin)
    if unnamed.accepted:
        raise ResourceMissing(f"a burn need not name a link to the provider: {unnamed}")

    refusal = platform.stablecoins.operate("burn", coin, provider_account=unknown_id(link))

    refusal.refused(*REFUSED, NOT_FOUND, twin=twin)


@requirement("STC-871")
@pytest.mark.parametrize("kind", ["mint", "burn"])
def test_an_internal_account_that_does_not_exist_is_refused(platform: Platform, kind: Kind) -> None:
    """A mint or a burn that names an unknown internal account is refused with 400, 404 or 422."""
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin, times=2)
    twin = platform.stablecoins.operate_when_ready(kind, coin)

    refusal = platform.stablecoins.operate(
        kind, platform.stablecoins.with_unknown_internal(kind, coin)
    )

    refusal.refused(*REFUSED, NOT_FOUND, twin=twin)


@pytest.mark.parametrize(
    ("kind", "status_id", "code_id"),
    [
        case(("STC-040", "STC-041"), "mint", "mint", "STC-040", "STC-041"),
        case(("STC-042", "STC-043"), "burn", "burn", "STC-042", "STC-043"),
    ],
)
def test_no_operation_with_a_stablecoin_that_does_not_exist(
    platform: Platform, check: Check, kind: Kind, status_id: str, code_id: str
) -> None:
    """Minting and burning an unknown stablecoin are refused with 404 and a code for it."""
    coin = platform.stablecoins.coin(kind)
    platform.stablecoins.stock(kind, coin)

    refusal = platform.stablecoins.operate(kind, platform.stablecoins.unknown_coin(coin))

    twin = platform.stablecoins.operate_when_ready(kind, coin)
    with check(status_id):
        refusal.refused(404, twin=twin)
    with check(code_id):
        refusal.refused("STABLECOIN_NOT_FOUND", "NOT_FOUND", twin=twin)


@requirement("STC-044", "STC-045")
def test_no_operations_are_listed_of_a_stablecoin_that_does_not_exist(
    platform: Platform, check: Check
) -> None:
    """The list of an unknown stablecoin's operations is refused with 404 and a code for it."""
    coin = platform.stablecoins.registered()

    refusal = platform.stablecoins.list_operations(platform.stablecoins.unknown_coin(coin))

    twin = platform.stablecoins.list_operations(coin)
    with check("STC-044"):
        refusal.refused(404, twin=twin)
    with check("STC-045"):
        refusal.refused("STABLECOIN_NOT_FOUND", "NOT_FOUND", twin=twin)


def operation_for(platform: Platform, code: str, kind: Kind) -> Kind:
    """Return the operation that a code belongs to by the profile, or else ``kind``."""
    return platform.profile.bindings.stablecoin_refusals.get(code, kind)


def magic_hold(platform: Platform) -> str | None:
    """Return the trigger that holds a stablecoin before it is provisioned.

    It is None unless the profile maps the trigger to a magic value.
    """
    name = "stablecoin.hold"
    if not platform.triggers.maps(name) or platform.triggers.magic(name) is None:
        return None
    return name


def require_operation(kind: Kind) -> None:
    """Require that a request is an operation.

    Raises:
        ResourceMissing: it is a registration.
    """
    if kind == "register":
        raise ResourceMissing("it is registrations that are refused, and no operations")


def count_new_operations(platform: Platform, kind: Kind, coin: Coin, before: int) -> int:
    """Return how many more operations of a stablecoin are listed than ``before``.

    Raises:
        ResourceMissing: the refused request is a registration, and no operation.
    """
    require_operation(kind)
    return platform.stablecoins.count_operations(coin) - before


def expect_missing(refusal: Answer, twin: Answer, *codes: str) -> None:
    """Assert that a request was refused with 404 and one of some codes.

    Raises:
        ResourceMissing: the refusal has another status, as for a wrong value in the body.
    """
    __tracebackhide__ = True
    if not refusal.accepted and refusal.status != NOT_FOUND:
        raise ResourceMissing(f"what does not exist is a wrong value of the body: {refusal}")
    refusal.refused(404, *codes, twin=twin)
