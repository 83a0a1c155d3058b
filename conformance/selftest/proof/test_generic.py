"""Generic mutation: what the operators make, how it gets into a running reference, what is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from conformance.contract.readings import readings, unspecified
from conformance.proof.generic import runner
from conformance.proof.generic.accepted import Acceptances, Accepted, as_entry, read_accepted
from conformance.proof.generic.changes import Change, every_change, modules, sampled, sources
from conformance.proof.generic.executed import Execution, Survey, lines_of
from conformance.proof.generic.kept import kills_of, read_kept, trials_of, write_kept
from conformance.proof.generic.runner import GenericOutcome, Result, Trial, app_of
from conformance.proof.generic.swap import Swap, Unusable
from conformance.proof.generic.workers import Answer, Pool
from conformance.reference import rules
from conformance.reference.app import create_app
from conformance.reference.cards import cards
from conformance.reference.external_accounts import account_types
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import fees, limits
from conformance.reference.settings import Settings
from conformance.reporting.kills import FiguresError, GenericScore, read_generic, write_generic

FIELDS = "conformance.reference.fields"
FEES = "conformance.reference.quotes.fees"
LIMITS = "conformance.reference.quotes.limits"
DEVICES = "conformance.reference.embedded_wallets.devices"
RECEIVERS = "conformance.reference.external_accounts.receivers"
RULES = "conformance.reference.rules"


@pytest.fixture(scope="module")
def swap() -> Iterator[Swap]:
    """Make a service that is not started, and the place where changes are put into it."""
    app = create_app(Settings(api_token_id="id", api_client_secret="secret"))
    assert app_of(app.state.service) is app
    yield Swap(app.state.service, app.router)
    app.state.service.store.close()


@pytest.fixture(scope="module")
def of_limits() -> list[Change]:
    """Return the changes of the module of limits."""
    return list(every_change([LIMITS]))


def change_with(changes: list[Change], *parts: str) -> Change:
    """Return the first change whose lines contain all parts."""
    return next(one for one in changes if all(part in one.lines for part in parts))


# --- Operators ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "lines"),
    [
        ("swap op", "- return amount > limit\n+ return amount >= limit"),
        ("condition fixed", "- if currency in limits:\n+ if False:"),
        ("condition negated", "- if currency in limits:\n+ if not (currency in limits):"),
        ("statement deleted", "- return moved + amount > limit\n+ pass"),
        ("one less", "- _DAY_SECONDS = 24 * 60 * 60\n+ _DAY_SECONDS = 23 * 60 * 60"),
        (
            "another word",
            '- "DAILY_VOLUME_LIMIT_EXCEEDED",\n+ "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED",',
        ),
    ],
)
def test_an_operator_makes_its_change(of_limits: list[Change], operator: str, lines: str) -> None:
    """What is left out, negated, swapped, one less or replaced is one change of the source."""
    assert lines in {one.lines for one in of_limits if one.operator == operator}


def test_texts_for_people_and_annotations_are_left_alone(of_limits: list[Change]) -> None:
    """No change rewords a message or a docstring, or touches an annotation."""
    for one in of_limits:
        assert "XXAbove" not in one.after
        assert "-> None:" in one.after or "-> None:" not in one.before
        assert one.before != one.after


@pytest.mark.slow
def test_what_a_function_returns_without_saying_so_is_no_change() -> None:
    """The last ``return None`` of a function is not left out, and another one is."""
    deleted = [one for one in every_change([FIELDS]) if one.operator == "statement deleted"]

    assert "- return None\n+ pass" in {one.lines for one in deleted}
    assert not [
        one
        for one in deleted
        if one.after.endswith("\n    pass") and one.before.endswith("\n    return None")
    ]


def test_a_change_is_shown_as_a_diff(of_limits: list[Change]) -> None:
    """The diff names the file, the function and the line."""
    change = change_with(of_limits, "amount >= limit", "- return amount > limit")

    assert change.diff.startswith(
        "--- reference/quotes/limits.py\n+++ reference/quotes/limits.py\n"
    )
    assert f"@@ is_over_transaction_limit, line {change.first} @@" in change.diff


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    """Another seed draws another sample, and no operator is drawn alone."""
    one, same, other = (sampled(20, seed, [LIMITS, FEES]) for seed in (1, 1, 2))

    assert [c.id for c in one] == [c.id for c in same] != [c.id for c in other]
    assert len({c.operator for c in one}) > 5


def test_what_answers_behind_the_interface_is_left_alone() -> None:
    """The handlers of the control path are no places, the others of their modules are."""
    places = {one.place for one in every_change([DEVICES])}

    assert f"{DEVICES}:verifies" in places
    assert f"{DEVICES}:sign" not in places
    assert "conformance.reference.control" not in modules()


def test_the_world_around_the_service_is_left_alone() -> None:
    """Devices are no places, and of causes that triggers name only what they lead to changes."""
    rows = [
        [line[2:].partition(":")[0] for line in change.lines.splitlines()]
        for change in every_change([f"{RECEIVERS}:COUNTERPARTY_FAILURES"])
        if change.operator != "assignment"
    ]

    assert not list(every_change([f"{DEVICES}:device_of"]))
    assert len(rows) > 10
    assert all(before == after for before, after in rows)


# --- Swaps ----------------------------------------------------------------------------------


def test_whoever_holds_a_function_gets_the_changed_one(swap: Swap, of_limits: list[Change]) -> None:
    """The code is exchanged and put back; a reference to the function stays the same."""
    held = limits.is_over_transaction_limit

    swap.put(change_with(of_limits, "- return amount > limit", "amount >= limit"))
    try:
        assert held(5, 5)
    finally:
        swap.take_back()

    assert not held(5, 5)


@pytest.mark.slow
def test_a_table_and_what_is_made_from_it_change_together(swap: Swap) -> None:
    """A row that is left out is missing in the table that everyone holds, and is put back."""
    changes = list(every_change([f"{RULES}:EU_COUNTRIES"]))
    held, before = rules.CONTACT_CHANNELS, dict(rules.CONTACT_CHANNELS)

    swap.put(change_with(changes, '- "AT",\n+ "XXATXX",'))
    try:
        assert "AT" not in held
        assert "AT" not in rules.SCA_REGIONS
        assert "BE" in held
    finally:
        swap.take_back()

    assert held is rules.CONTACT_CHANNELS
    assert held == before


@pytest.mark.slow
def test_the_default_of_a_row_changes_for_those_made_later(swap: Swap) -> None:
    """A field of a class of rows has another default until it is put back."""
    changes = list(every_change([FEES]))

    swap.put(change_with(changes, "- platform_fixed: int = 0", "+ platform_fixed: int = 1"))
    try:
        assert fees.Terms(Decimal(0)).platform_fixed == 1
    finally:
        swap.take_back()

    assert fees.Terms(Decimal(0)).platform_fixed == 0


@pytest.mark.slow
def test_a_closure_that_the_start_made_changes(swap: Swap) -> None:
    """The endpoints that the routes hold have the changed code."""
    changes = list(every_change(["conformance.reference.app:_endpoint"]))
    change = change_with(changes, "- if isinstance(answer, Reply):", "+ if False:")
    codes = {id(route.endpoint.__code__) for route in swap._router.routes}

    swap.put(change)
    changed = {id(route.endpoint.__code__) for route in swap._router.routes}
    swap.take_back()

    assert len(codes - changed) == 1
    assert codes == {id(route.endpoint.__code__) for route in swap._router.routes}


def test_a_changed_path_is_routed(swap: Swap) -> None:
    """The routes are made anew from a changed row, and the old ones are put back."""
    changes = list(every_change(["conformance.reference.routes:_STABLECOIN"]))
    before = [route.path for route in swap._router.routes]

    swap.put(change_with(changes, "XX/stablecoins"))
    changed = [route.path for route in swap._router.routes]
    swap.take_back()

    assert any("XX/stablecoins" in path for path in changed)
    assert [route.path for route in swap._router.routes] == before


def test_a_function_makes_its_tables_anew(swap: Swap) -> None:
    """A change of a function that works at import is seen in the tables that it made."""
    before = {name: kind.fields for name, kind in account_types.ACCOUNT_TYPES.items()}
    changes = list(every_change([f"{account_types.__name__}:_text"]))

    swap.put(change_with(changes, "min_length=2"))

    changed = {name: kind.fields for name, kind in account_types.ACCOUNT_TYPES.items()}
    assert changed.keys() == before.keys()
    assert {row.min_length for fields in changed.values() for row in fields} == {2}
    swap.take_back()
    assert before == {name: kind.fields for name, kind in account_types.ACCOUNT_TYPES.items()}


def test_what_makes_no_difference_is_refused(swap: Swap) -> None:
    """A change without effect on code or value cannot be used."""
    change = next(iter(every_change([f"{ledger.__name__}:available"])))

    with pytest.raises(Unusable):
        swap.put(replace(change, after=change.before))


# --- Which tests, and in which order --------------------------------------------------------


def test_tests_come_from_the_lines_that_they_execute(of_limits: list[Change]) -> None:
    """A test that executes the line meets the change, the most specific of its area first."""
    change = change_with(of_limits, "- return amount > limit", "amount >= limit")
    ((module, lines),) = lines_of(change).items()
    here, elsewhere = 1 << min(lines), 1 << 1
    survey = Survey(
        [
            Execution("broad", "scenarios/quotes/a.py", frozenset(), {module: here | 6}, 1.0),
            Execution("other", "scenarios/cards/b.py", frozenset(), {module: here}, 1.0),
            Execution("narrow", "scenarios/quotes/a.py", frozenset(), {module: here}, 1.0),
            Execution("never", "scenarios/quotes/a.py", frozenset(), {module: elsewhere}, 1.0),
        ]
    )

    assert [one.test for one in survey.reaching(change)] == ["narrow", "broad", "other"]


def test_what_seldom_happens_in_a_function_comes_first(of_limits: list[Change]) -> None:
    """The tests that execute a line of the function which few others do are told apart."""
    change = change_with(of_limits, "- return amount > limit", "amount >= limit")
    everywhere, seldom, elsewhere = (1 << change.start + line for line in (0, 1, 30))
    lines = {"seldom": everywhere | seldom, "elsewhere": everywhere | elsewhere}
    tests = [
        Execution(name, "scenarios/quotes/a.py", frozenset(), {LIMITS: bits}, 1.0)
        for name, bits in (lines | {f"often {n}": everywhere for n in range(50)}).items()
    ]

    assert Survey(tests).seldom(change, tests) == {"seldom"}


def test_a_function_is_executed_where_the_tables_are_named_that_it_makes() -> None:
    """A function that works at import is met by those who meet its tables."""
    change = next(one for one in every_change([f"{account_types.__name__}:_text"]))

    named = lines_of(change)

    assert {*range(change.first, change.last + 1)} <= named[account_types.__name__]
    assert named.keys() > {account_types.__name__}


def test_a_table_is_executed_where_it_is_named() -> None:
    """The lines of a table are those of the statements that name it or what is made from it."""
    change = next(one for one in every_change([f"{cards.__name__}:STATES"]))

    named = lines_of(change)[cards.__name__]

    source = Path(cards.__file__).read_text("utf-8").splitlines()
    assert named
    assert all(line > change.last for line in named)
    assert any("STATES" in source[line - 1] for line in named)


# --- Accepted survivors and the score -------------------------------------------------------


def test_an_accepted_survivor_expires_with_its_source(of_limits: list[Change]) -> None:
    """An entry covers its change as long as the digest of the place is the same."""
    change = of_limits[0]
    entry = Accepted(place=change.place, source=change.source, change=change.lines, why="so it is")
    old = entry.model_copy(update={"source": "0" * 12})

    assert Acceptances((entry,)).of(change) is entry
    assert Acceptances((entry,)).of(of_limits[-1]) is None
    assert Acceptances((old,)).of(change) is None
    assert Acceptances((entry, old)).expired({change.place: change.source}) == [old]


def test_an_accepted_survivor_has_a_reason(tmp_path: Path, of_limits: list[Change]) -> None:
    """An entry without a reason, as it is printed for a survivor, is refused."""
    file = tmp_path / "accepted.yaml"
    file.write_text(as_entry(of_limits[0]), "utf-8")
    with pytest.raises(ValueError, match="why"):
        read_accepted(file)

    file.write_text(as_entry(of_limits[0]) + "  why: so it is\n", "utf-8")

    assert read_accepted(file).of(of_limits[0]) is not None


@pytest.mark.slow
def test_the_accepted_survivors_name_what_there_is() -> None:
    """Each entry of the list has a place of the reference, and names an entry that there is."""
    places = sources()
    known = {*readings(), *unspecified()}

    entries = read_accepted().entries

    assert [one.place for one in entries if one.place not in places] == []
    assert {one.open for one in entries if one.open} <= known


def test_the_score_is_kept_and_read(tmp_path: Path) -> None:
    """What is accepted counts neither for nor against."""
    file = tmp_path / "generic.txt"
    assert read_generic(file) is None

    write_generic(GenericScore(killed=90, accepted=7, total=100), file)

    assert read_generic(file) == GenericScore(90, 7, 100)
    assert GenericScore(90, 7, 100).share_left == pytest.approx(3 / 93)
    file.write_text("nothing\n", "utf-8")
    with pytest.raises(FiguresError):
        read_generic(file)


def test_a_kept_kill_is_tried_by_its_test_until_the_place_changes(
    tmp_path: Path, of_limits: list[Change]
) -> None:
    """What has another source than it had is left out, and so is what is no change any more."""
    change, other = of_limits[:2]
    result = Result(change, GenericOutcome.KILLED, "test_limits.py::test_one")
    survived = Result(other, GenericOutcome.SURVIVED)
    file = tmp_path / "kept.csv"
    assert read_kept(file) == []

    write_kept(kills_of([survived, result]), file)

    (kill,) = read_kept(file)
    assert trials_of([kill]) == [Trial(change, (kill.test,), (frozenset(),))]
    assert trials_of([replace(kill, digest="0123456789ab")]) == []
    assert trials_of([replace(kill, change=f"{kill.change}00")]) == []


# --- Processes ------------------------------------------------------------------------------


def _double(tasks: Iterator[int], answer: Callable[[Answer[str]], None]) -> None:
    for task in tasks:
        if task == 3:
            os._exit(1)
        if task == 5:
            time.sleep(60)
        answer(Answer(f"{task}: {2 * task}", is_last=task == 7))


def _lost(task: int, why: str) -> str:
    return f"{task}: {why}"


def test_what_is_in_doubt_is_tried_again(
    of_limits: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a process was out of order, another one tries the change, and what it says counts."""
    tried: list[bool] = []

    class OneProcess:
        def __init__(self, *_: object) -> None:
            self.left: list[Trial] = []

        def results(self) -> Iterator[Result]:
            while self.left:
                trial = self.left.pop(0)
                tried.append(trial.again)
                yield Result(
                    trial.change,
                    GenericOutcome.SURVIVED if trial.again else GenericOutcome.SILENCED,
                    doubted=not trial.again,
                )

    monkeypatch.setattr(runner, "Pool", OneProcess)

    (result,) = runner.measure([Trial(of_limits[0], ("a test",), (frozenset({"QUO-001"}),))], 1)

    assert tried == [False, True]
    assert result.outcome is GenericOutcome.SURVIVED


@pytest.mark.slow
def test_a_process_that_hangs_or_breaks_is_replaced() -> None:
    """Each task gets its result, those of lost processes too."""
    pool: Pool[int, str] = Pool(_double, _lost, processes=2, seconds=2.0)
    pool.left += range(2, 9)

    assert sorted(pool.results()) == [
        "2: 4",
        "3: the process broke down",
        "4: 8",
        "5: it did not come to an end",
        "6: 12",
        "7: 14",
        "8: 16",
    ]
