"""Narrowed mutants: they strike in their circumstance alone, and only a difference counts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from conformance.proof.narrowed.circumstances import Circumstances, requests_told
from conformance.proof.narrowed.runner import NarrowedOutcome, NarrowPatch, Trial, measure, trials
from conformance.proof.narrowed.survey import Survey, Watch
from conformance.proof.patch import NothingChanged
from conformance.reference.external_accounts import externals
from conformance.reference.service import Service
from conformance.reference.settings import Settings
from conformance.reference.store import Customer, InternalAccount
from conformance.reference.unit import Ask, Unit

here = sys.modules[__name__]
TEST = "conformance/scenarios/protocol/test_constancy.py::test_accounts_are_shown_alike"
MUTANT = "CNV-891/created-anew"


def doubled(number: int) -> int:
    """Return twice a number; stands for a function of the reference."""
    return 2 * number


class Even(Watch):
    """Says of calls with an even number that they are for a business."""

    def of(self, _place: str, arguments: Sequence[Any]) -> set[str]:
        """Return the circumstance."""
        return {"business"} if arguments[0] % 2 == 0 else set()


@pytest.fixture
def patch() -> Any:
    """Yield a patch that strikes for businesses, and take it back."""
    narrow = NarrowPatch("business", Even(), {})
    yield narrow
    narrow.revert()


def test_it_strikes_in_its_circumstance_alone(patch: NarrowPatch) -> None:
    """Other calls get what the function returned before."""
    patch.replace(here, "doubled", lambda number: number + 100)

    assert [here.doubled(number) for number in (1, 2, 3, 4)] == [2, 102, 6, 104]
    assert patch.strikes == 2


@pytest.mark.parametrize(
    ("around", "strikes"),
    [
        (lambda original, number: original(number), 0),
        (lambda original, number: original(number) + 1, 1),
        (lambda original, number: original(number + 2) - 4, 1),
        (lambda original, number: original(number) and original(number), 1),
        (lambda _, number: 2 * number, 1),
    ],
)
def test_only_a_difference_is_a_strike(
    patch: NarrowPatch, around: Callable[..., int], strikes: int
) -> None:
    """Who calls the function once, as it was called, and hands on its result changed nothing."""
    patch.wrap(here, "doubled", around)

    here.doubled(2)

    assert patch.strikes == strikes


def test_an_error_that_is_handed_on_is_no_strike(patch: NarrowPatch) -> None:
    """The function would have raised it without the mutant too."""
    patch.wrap(here, "refusing", lambda original, number: original(number))

    with pytest.raises(ValueError, match="no"):
        here.refusing(2)

    assert patch.strikes == 0


def refusing(_number: int) -> int:
    """Raise ``ValueError``."""
    raise ValueError("no")


def test_what_is_no_function_cannot_be_narrowed(patch: NarrowPatch) -> None:
    """A table is read by everybody, whatever it is for."""
    with pytest.raises(NothingChanged, match="is no function"):
        patch.replace(here, "TEST", "other")
    with pytest.raises(NothingChanged, match="is a table"):
        patch.row(here, "TABLE", "key", "value")
    with pytest.raises(NothingChanged, match="is a table"):
        patch.drop(here, "TABLE", "key")


@pytest.fixture
def service() -> Any:
    """Yield a service that has its seed alone."""
    one = Service(Settings(api_token_id="id", api_client_secret="secret"))
    one.start()
    yield one
    one.stop()


def test_the_circumstances_of_a_call(service: Service) -> None:
    """Owner, currency and kind of account are found by the ids that a request names."""
    with service.unit() as unit:
        _add(unit, "Customer:1", customer_type="BUSINESS", region="DE")
        for name, owner in (("InternalAccount:1", "Customer:1"), ("InternalAccount:2", None)):
            unit.session.add(
                InternalAccount(
                    id=name,
                    customer_id=owner,
                    type="INTERNAL_FIAT",
                    status="ACTIVE",
                    currency="EUR",
                    created_at=1,
                    updated_at=1,
                )
            )
        unit.session.flush()
        seen = Circumstances()
        ask = Ask(params={"accountId": "InternalAccount:1"})

        first, second = seen.of("here", [unit, ask]), seen.of("here", [unit, ask])
        third = seen.of("here", [unit, "InternalAccount:2"])
        fourth = seen.of("here", [Ask(body={"customerType": "INDIVIDUAL", "currency": "USD"})])

    kind = "account=INTERNAL_FIAT"
    assert first == {"background", "business", "abroad", "other-currency", kind}
    assert second == {*first, "again"}
    assert third == {"background", "platform", "other-currency", kind}
    assert fourth == {"background", "individual", "dollars"}


def test_a_call_belongs_to_a_request(service: Service) -> None:
    """What an operation calls knows whether something is created, changed, read or listed."""
    seen = []

    def create(*_: Any) -> None:
        seen.append(Circumstances().of("here", []))

    create.__module__ = externals.__name__
    with requests_told(service):
        service.answer(create, Ask())

    assert seen == [{"creation"}]


def _add(unit: Unit, name: str, **members: Any) -> None:
    unit.session.add(
        Customer(
            id=name,
            status="APPROVED",
            platform_customer_id="1",
            uma_address="$a@b",
            currencies=[],
            details={},
            contact={},
            conditions={},
            created_at=1,
            updated_at=1,
            **members,
        )
    )


def test_the_draw_takes_each_circumstance_in_turn() -> None:
    """As many mutants are narrowed to one circumstance as to any other."""
    place = "conformance.reference.internal_accounts.accounts:_view"
    tests = {(place, name): frozenset({TEST}) for name in ("business", "list", "again")}
    survey = Survey(tests, {TEST: frozenset({"CNV-891"})}, {TEST: 3}, {})

    chosen = trials(survey, 6, seed=1)
    only = trials(survey, 6, seed=1, only=[MUTANT])

    assert Counter(one.circumstance for one in chosen) == {"again": 2, "business": 2, "list": 2}
    assert {one.mutant for one in only} == {MUTANT}


@pytest.mark.slow
def test_narrowed_mutants_are_tried() -> None:
    """One that strikes in lists is noticed there; one that strikes nowhere does not count."""
    chosen = [
        Trial(MUTANT, circumstance, (TEST,), {TEST: frozenset({"CNV-891"})})
        for circumstance in ("list", "deletion")
    ]

    found = {one.circumstance: one for one in measure(chosen, {}, 1)}

    assert found["list"].outcome is NarrowedOutcome.KILLED
    assert found["list"].strikes > 0
    assert found["deletion"].outcome is NarrowedOutcome.SPARED
    assert found["deletion"].strikes == 0
