"""A step of an arrangement that meets what the text forbids names the requirement that says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.exchange.folder import RunFolder
from conformance.platform.platform import Platform
from conformance.proof import mutants
from conformance.proof.host import import_all
from conformance.proof.mutant import REGISTRY
from conformance.proof.patch import Patch
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.verification import verifications
from conformance.run import Connection
from conformance.sut.target import Target
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, Unmet

Arrange = Callable[[Platform], object]


@pytest.fixture
def platform(reference_target: Target, tmp_path: Path) -> Generator[Platform]:
    """Return a platform on the reference that waits for little."""
    profile = reference_target.profile
    timing = profile.timing.model_copy(update={"state": 0.3})
    target = replace(reference_target, profile=profile.model_copy(update={"timing": timing}))
    connection = Connection.open(target, seed=1, folder=RunFolder(tmp_path, "1"))
    yield connection.platform("test_x")
    connection.close()


@pytest.fixture
def patch() -> Generator[Patch]:
    """Return what changes the reference until the test ends."""
    patching = Patch()
    yield patching
    patching.revert()


STEPS: dict[str, Arrange] = {
    "CON-015/confirmed-in-vain": lambda p: p.verification.contact.verify(
        p.verification.contact.customer("email", business=False), "email"
    ),
    "CON-045/business-in-vain": lambda p: p.verification.contact.verify(
        p.verification.contact.customer("phone", business=True), "phone"
    ),
    "SFR-041/LIVENESS-PASSED-COMPLETE": lambda p: p.resets.completed(),
    "SFR-071/INITIATED-SUBMITTED": lambda p: p.resets.in_review(),
    "SFR-072/PENDING-REVIEW-PASSED": lambda p: p.resets.passed_from(p.resets.in_review()),
    "SFR-075/INITIATED-FAILED": lambda p: p.resets.rejected(),
    "SFR-077/INITIATED-CLOSED": lambda p: p.resets.expired(),
    "CAR-043/stays": lambda p: p.cards.settled_purchase(p.cards.card()),
    "CAR-061/lost": lambda p: p.cards.returned_purchase(p.cards.card()),
    "EXT-032/stays": lambda p: p.external_accounts.moved(
        p.external_accounts.account_holder(), "external_account.review"
    ),
    "EXT-034/elsewhere": lambda p: p.external_accounts.moved(
        p.external_accounts.account_holder(), "external_account.disable"
    ),
    "EXT-035/stays": lambda p: p.ownership.unproven(p.external_accounts.account_holder()),
    "EMW-001/wallets-on-demand": lambda p: p.wallets.wallet(),
    "ACC-140/shown-frozen": lambda p: p.internal_accounts.awaited(),
    "VER-808/unnumbered": lambda p: p.verification.reviews.sent_back(business=False),
    "VER-012/silent": lambda p: p.verification.reviews.supply(
        (one := p.verification.reviews.incomplete()), p.verification.reviews.unresolved(one)
    ),
}
"""What is arranged on broken references, by the ids of the mutants."""


@pytest.mark.parametrize("identifier", STEPS)
def test_a_step_names_what_it_sees_broken(
    platform: Platform, patch: Patch, identifier: str
) -> None:
    """The step is inconclusive, and fails the requirement of the mutant alone."""
    import_all(mutants)
    next(one for one in REGISTRY if one.id == identifier).patch(patch)

    with pytest.raises(PreconditionFailed) as raised:
        STEPS[identifier](platform)

    assert raised.value.breaks == (identifier.partition("/")[0],)


@pytest.mark.parametrize(
    "arrange",
    [
        lambda p: p.resets.completed(),
        lambda p: p.resets.rejected(),
        lambda p: p.resets.expired(),
        lambda p: p.cards.returned_purchase(p.cards.card()),
        lambda p: p.ownership.unproven(p.external_accounts.account_holder()),
        lambda p: p.wallets.wallet(),
        lambda p: p.internal_accounts.awaited(),
        lambda p: p.verification.reviews.sent_back(business=False),
        lambda p: p.verification.reviews.sent_back(business=True),
    ],
)
def test_an_honest_target_breaks_nothing(platform: Platform, arrange: Arrange) -> None:
    """Each of these steps succeeds on the reference."""
    assert arrange(platform)


def test_what_is_recommended_alone_leaves_the_others_unexercised(
    platform: Platform, patch: Patch
) -> None:
    """Who takes a business without owners is warned of that, and not asked for more."""
    patch.replace(verifications, "missing", lambda *_: [])

    with pytest.raises(ResourceMissing) as raised:
        platform.verification.reviews.sent_back(business=True)

    assert raised.value.breaks == ("VER-033",)


def test_who_is_decided_at_the_creation_breaks_nothing(platform: Platform, patch: Patch) -> None:
    """An individual whom the sandbox approves as it is created is not submitted."""
    patch.wrap(
        customers,
        "view",
        lambda view, *arguments: {**view(*arguments), "kycStatus": "APPROVED"},
    )

    with pytest.raises(Unmet) as raised:
        platform.verification.reviews.sent_back(business=False)

    assert isinstance(raised.value, ResourceMissing)
    assert not raised.value.breaks


@pytest.mark.parametrize(
    ("closes", "broken"), [(False, ("ACC-168",)), (True, ())], ids=["open", "closed"]
)
def test_an_account_that_is_no_longer_listed(
    platform: Platform, patch: Patch, *, closes: bool, broken: tuple[str, ...]
) -> None:
    """It has to be listed, but for one that was closed: whether that is listed is not said."""
    account = platform.internal_accounts.account(amount=0)
    if closes:
        platform.triggers.fire("internal_account.close", accountId=account["id"])
    patch.replace(accounts, "views", lambda *_: [])

    with pytest.raises(PreconditionFailed) as raised:
        platform.internal_accounts.read(account)

    assert raised.value.breaks == broken


def test_accounts_of_who_is_approved_are_waited_for_to_the_end(
    platform: Platform, patch: Patch
) -> None:
    """That others had none before does not make the wait for a slow target shorter."""
    shown_from = [float("inf")]

    def views(original: Callable[..., list[object]], *arguments: object) -> list[object]:
        return [] if time.monotonic() < shown_from[0] else original(*arguments)

    applicant = platform.customers.applicant(business=False)
    approved = platform.approved.individual()
    patch.wrap(accounts, "views", views)
    with pytest.raises(PreconditionFailed) as raised:
        platform.internal_accounts.account(amount=0, customer=applicant)
    shown_from[0] = time.monotonic() + 0.2

    assert platform.internal_accounts.account(amount=0, customer=approved)["id"]
    assert not raised.value.breaks
