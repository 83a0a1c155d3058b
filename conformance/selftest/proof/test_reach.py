"""The survey: which places tests come to, and how long what it found is remembered."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from conformance import plugin
from conformance.proof import host, naming, reach, remembered
from conformance.proof.host import copying_context, spread
from conformance.proof.patch import place_of
from conformance.proof.reach import Seen, Survey, places_of, survey
from conformance.proof.remembered import Known, Remembered
from conformance.proof.tolerance import load_variants

EXECUTE = "conformance.reference.quotes.quotes:execute"
STATUS = "conformance.reference.rules:ERROR_STATUS"
LIMIT = "conformance.reference.verification.documents:MAX_FILE_BYTES"

SUITE = """
from conformance.scenarios.kit.marks import requirement

@requirement("QUO-083")
def test_an_execution(platform):
    platform.quotes.execute()

@requirement("CFG-001")
def test_a_question(platform):
    assert platform.api.get_config().accepted
    assert platform.profile.features.cards

@requirement("CUS-001")
def test_a_refusal(platform):
    assert platform.api.get_customer("Customer:0").status == 404
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A module of three tests, in a checkout of its own."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(host, "SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))
    path = package / "scenarios" / f"test_{tmp_path.name}.py"
    path.write_text(SUITE, encoding="utf-8")
    return path


def names(tests: list[Seen]) -> list[str]:
    """Return the names of tests."""
    return [one.test.partition("::")[2] for one in tests]


def test_each_test_comes_to_places(module: Path) -> None:
    """Functions and rows of tables are noted; of any other place, every test comes to it."""
    found = survey(1, fuzz_examples=0)

    assert module.is_file()
    assert names(found.reaching([EXECUTE])) == ["test_an_execution"]
    assert names(found.reaching([f"{STATUS}[CUSTOMER_NOT_FOUND]"])) == ["test_a_refusal"]
    assert names(found.reaching([f"{STATUS}[CONFLICT]"])) == []
    assert names(found.reaching([STATUS])) == ["test_a_refusal"]
    assert len(found.reaching([EXECUTE, LIMIT])) == 3
    assert names(found.reaching([])) == []
    execution, question, _ = found.tests.values()
    assert ("cards" in execution.features, "cards" in question.features) == (False, True)
    assert "QUO-083" in {one.requirement for one in execution.decisions}


def test_who_reads_a_whole_table_comes_to_each_row() -> None:
    """Also to one that is not there, as a variant may add it."""
    noted: set[str] = set()
    table = reach._table({"a": 1}, "m:T", noted.add)
    found = Survey({}, {"m:T": "m:T", "n:T": "m:T"})

    def reads(place: str) -> bool:
        seen = Seen("t", "m.py", (), frozenset(noted), frozenset(), (), frozenset(), 0.1)
        return bool(replace(found, tests={"t": seen}).reaching([place]))

    assert table.get("a") == 1
    assert [reads(place) for place in ("m:T[a]", "n:T[a]", "m:T[b]", "m:T")] == [
        True,
        True,
        False,
        True,
    ]
    assert dict(table) == {"a": 1}
    assert reads("m:T[b]")


_BY_CHANCE = tuple(
    f"conformance.reference.{name}:" for name in ("server", "worker", "webhooks.deliveries")
)


@pytest.mark.slow
def test_two_processes_see_what_one_does() -> None:
    """Each of them notes the same places, by the same names."""
    module = "scenarios/configuration/test_invitations.py"
    part = partial(reach._part, [module], ["--fuzz-examples=0"])

    # What other self-tests have left in this process refers to tables too.
    with ProcessPoolExecutor(1, mp_context=copying_context()) as pool:
        alone = pool.submit(spread, part, 1).result()
    one, two = (
        reach._survey_of(reach._kept(Known(), shares, [module], {module: 0}), [module])
        for shares in (alone, spread(part, 2))
    )

    assert two.noted == one.noted
    assert two.tests.keys() == one.tests.keys()
    # When a connection is opened or closed is chance, and what the reference does in the background
    # may come after the last test.
    came_to = [
        {
            place
            for seen in each.tests.values()
            for place in seen.places
            if not place.startswith(_BY_CHANCE)
        }
        for each in (one, two)
    ]
    assert came_to[0] == came_to[1]


@pytest.mark.slow
def test_what_is_noted_does_not_depend_on_what_is_loaded() -> None:
    """Mutants and variants refer to tables of the reference, and never read them by themselves."""
    code = """
import json, sys
from conformance.proof import mutation, reach, tolerance
if "loaded" in sys.argv:
    mutation.load()
    tolerance.load_variants()
print(json.dumps(sorted(reach._noted())))
"""
    alone, loaded = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code, *arguments], capture_output=True, check=True
            ).stdout
        )
        for arguments in ((), ("loaded",))
    )

    assert STATUS in alone
    assert loaded == alone


def test_what_was_seen_is_remembered(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the module is the same; then its tests are run again, and no others."""
    first = survey(1, fuzz_examples=0)
    other = module.with_name(f"{module.stem}_other.py")
    run: list[str] = []
    seen_by = reach._part

    def part(modules: list[str], options: list[str], folder: Path) -> list[reach._Share]:
        run.extend(modules)
        return seen_by(modules, options, folder)

    monkeypatch.setattr(reach, "_part", part)
    again = survey(1, fuzz_examples=0)
    other.write_text(SUITE.replace("test_", "test_other_"), encoding="utf-8")
    more = survey(1, fuzz_examples=0)

    assert again == first
    assert run == [f"scenarios/{other.name}"]
    assert set(more.tests) > set(first.tests)


def test_most_places_of_variants_are_noted() -> None:
    """A variant of another place meets every test, which takes minutes."""
    noted = {
        place_of(holder, name) for holders in reach._noted().values() for holder, name in holders
    }
    blind = [
        variant.id
        for variant in load_variants()
        if any(place.partition("[")[0] not in noted for place in places_of(variant.patch))
    ]

    assert len(blind) < len(load_variants()) / 20


def test_a_table_that_something_else_keeps_is_not_noted() -> None:
    """A table that another object refers to may be read under no name, and is left out."""
    table = {"a": 1}
    keeper = [table]

    assert reach._referred_to({id(table): table}) == {id(table)}
    assert keeper == [table]


class TestRemembered:
    """What is known of modules, by their content and that of all that they build on."""

    @pytest.fixture
    def known(self, module: Path) -> Known:
        """What is known, and kept."""
        known = Known({f"scenarios/{module.name}": "x"}, ["shared"])
        Remembered("thing").keep(known)
        return known

    def test_it_is_there_while_nothing_changes(self, known: Known) -> None:
        """Under its kind."""
        assert Remembered("thing").known() == known
        assert Remembered("other").known() == Known()

    def test_a_module_that_has_changed_is_not_known(self, known: Known, module: Path) -> None:
        """The others still are."""
        module.with_name("test_second.py").touch()
        second = {"scenarios/test_second.py": "y"}
        Remembered("thing").keep(Known({**known.modules, **second}, known.shared))

        module.write_text(f"{SUITE}\n", encoding="utf-8")

        assert Remembered("thing").known() == Known(second, known.shared)

    @pytest.mark.parametrize("name", ["run.py", "scenarios/kit.py", "reference/quotes.py"])
    def test_nothing_is_known_once_what_all_build_on_has_changed(
        self, known: Known, name: str
    ) -> None:
        """A function of the reference, or one that many scenarios call."""
        path = host.SUITE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")

        assert known.modules
        assert Remembered("thing").known() == Known()
        others = Remembered("thing", besides=("reference",)).known()
        assert bool(others.modules) == ("reference" in name)

    @pytest.mark.parametrize(("name", "counts"), [("readings.yaml", False), ("limits.yaml", True)])
    def test_what_only_people_read_is_no_part_of_it(
        self,
        module: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        counts: bool,
    ) -> None:
        """Whoever declares a variant writes down its reading, and waits for no survey."""
        monkeypatch.setattr(remembered, "SPEC", tmp_path / "spec")
        (tmp_path / "spec").mkdir()
        Remembered("thing").keep(Known({f"scenarios/{module.name}": "x"}))

        (tmp_path / "spec" / name).write_text("x: 1\n", encoding="utf-8")

        assert bool(Remembered("thing").known().modules) is not counts

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "null", '{"base": 1}', '{"modules": {}}', "\udcff"]
    )
    def test_a_file_that_is_damaged_is_as_good_as_none(self, known: Known, text: str) -> None:
        """The tests of a damaged file are run again."""
        file = host.SUITE.parent / ".conformance_cache" / "thing.json"
        assert (
            json.loads(file.read_text(encoding="utf-8"))["modules"].keys() == known.modules.keys()
        )

        file.write_bytes(text.encode(errors="surrogateescape"))

        assert Remembered("thing").known() == Known()

    def test_outside_of_a_checkout_nothing_is_kept(self, module: Path) -> None:
        """A folder that Python packages are installed in is no place for it."""
        (host.SUITE.parent / "pyproject.toml").unlink()

        Remembered("thing").keep(Known({f"scenarios/{module.name}": "x"}))

        assert Remembered("thing").known() == Known()


class TestNaming:
    """Which modules have to be collected for a requirement."""

    def test_those_that_name_it_or_are_unknown(self, module: Path) -> None:
        """Each is collected once to see what it names."""
        other = module.with_name("test_other.py")
        other.write_text(SUITE.replace("QUO-083", "QUO-084"), encoding="utf-8")
        known = naming.Naming()
        assert known.modules(["QUO-083"]) == sorted([module, other])

        known.learn([], [other])

        assert known.modules(["QUO-083"]) == [module]
        assert naming.Naming().modules(["QUO-083"]) == [module]
