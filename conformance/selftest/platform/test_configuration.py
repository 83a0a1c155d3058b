"""The configuration as the suite changes it: by the bindings, one test at a time, put back."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.contract.document import document
from conformance.exchange.answer import Answer
from conformance.exchange.journal import Exchange
from conformance.platform.given.configuration import (
    FEES,
    TOKENIZATION,
    Configuration,
    turn_to_change,
)
from conformance.platform.turns import TurnOfTest
from conformance.profile.model import Profile
from conformance.selftest.contexts import context_of
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Json = dict[str, Any]

NONE: frozenset[str] = frozenset()

EXCHANGE = Exchange("main-1", "", "updateConfig", "PATCH", "", {}, None, 200, {}, None, 0.0)


class Settings:
    """A stand-in for client and target, which keeps settings and refuses some of them."""

    def __init__(self, *, refused: tuple[Any, ...] = (), ignored: frozenset[str] = NONE) -> None:
        self.current: Json = {FEES: ["theirs"], TOKENIZATION: {"theirs": True}}
        self.updates: list[Json] = []
        self.observations: list[str] = []
        self._refused = refused
        self._ignored = ignored

    def call(self, name: str, *, body: Any = None, **_: Any) -> Answer:
        """Read or change the settings."""
        status = 200
        if name == "updateConfig":
            self.updates.append(body)
            if any(value in self._refused for value in body.values()):
                status = 400
            else:
                self.current |= {k: v for k, v in body.items() if k not in self._ignored}
        return Answer(document().operations[name], status, {}, dict(self.current), EXCHANGE)


def configuration_of(settings: Settings, **bindings: Any) -> Configuration:
    """Return the part for the configuration of a platform with these settings."""
    profile = Profile.model_validate(
        {
            "implementation": {"name": ""},
            "bindings": bindings,
            "timing": {"state": 0.05, "poll": 0.01},
        }
    )
    return Configuration(context_of(settings, profile, settings.observations))


class TestStandingFee:
    """The fee that the bindings describe."""

    def test_what_a_fee_does_not_have_is_left_out(self) -> None:
        """A rate without a fixed amount has no member for one, and the reverse."""
        configuration = configuration_of(Settings())

        assert configuration.standing_fee(basis_points=150) == [
            {"sourceCurrency": "USD", "variableFeeBasisPoints": 150}
        ]
        assert configuration.standing_fee(fixed=250, currency="EUR") == [
            {"sourceCurrency": "EUR", "fixedFeeAmount": 250}
        ]

    def test_it_may_have_any_shape(self) -> None:
        """A shape of the profile may be an object, and have constant members."""
        shape = {"USD": {"rate": "{basisPoints}", "flat": "{fixedAmount}", "note": None}}

        fee = configuration_of(Settings(), fee_configs=shape).standing_fee(basis_points=1, fixed=2)

        assert fee == {"USD": {"rate": 1, "flat": 2, "note": None}}


class TestEffect:
    """A fee by names that the target does not know proves nothing."""

    IGNORING = frozenset({FEES})

    def test_a_fee_that_is_shown_has_an_effect(self) -> None:
        """A fee that the configuration shows is enough, so that no quote is created."""
        configuration_of(Settings()).arrange_effect("fixed", pytest.fail)

    def test_a_fee_that_is_borne_has_an_effect(self) -> None:
        """A fee that the configuration does not show is enough if quotes change by it."""
        fees = iter((310, 320))

        configuration_of(Settings(ignored=self.IGNORING)).arrange_effect(
            "fixed", lambda: next(fees)
        )

    def test_a_fee_that_is_refused_is_none_of_an_unknown_name(self) -> None:
        """A refused fee is left to the scenario that sets one."""
        configuration = configuration_of(Settings(refused=("plenty",)), fee_configs="plenty")

        configuration.arrange_effect("fixed", pytest.fail)

    def test_a_fee_that_is_neither_leaves_the_check_undecided(self) -> None:
        """A fee that is neither shown nor borne is inconclusive; the platform's own fee stays."""
        configuration = configuration_of(Settings(ignored=self.IGNORING))

        with pytest.raises(PreconditionFailed, match=r"fee_configs has no effect: .*'theirs'.* 7$"):
            configuration.arrange_effect("fixed", lambda: 7)

    def test_it_is_found_out_once(self) -> None:
        """A member without effect is remembered for later tests, each member by itself."""
        settings = Settings(ignored=self.IGNORING)
        without_effect: dict[str, str] = {}
        for _ in range(2):
            configuration = configuration_of(settings)
            configuration.without_effect = without_effect
            with pytest.raises(PreconditionFailed, match="no effect"):
                configuration.arrange_effect("basis_points", lambda: 0)

        assert len(settings.updates) == 2
        assert set(without_effect) == {"basis_points"}


class TestPuttingBack:
    """After a test the settings are as they were."""

    def test_what_a_test_named_gets_its_value_back(self) -> None:
        """The one changed setting gets its old value, and nothing else is sent."""
        settings = Settings()
        configuration = configuration_of(settings)
        before = configuration.read()
        configuration.update({FEES: ["ours"]})

        configuration.restore(before)

        assert settings.current == before
        assert settings.updates == [{FEES: ["ours"]}, {FEES: ["theirs"]}]

    def test_a_fee_that_could_not_be_put_back_is_left_alone(self) -> None:
        """A fee of the platform that the target does not take back is never changed."""
        configuration = configuration_of(Settings(refused=(["theirs"],)))

        with pytest.raises(ResourceMissing, match="left alone"):
            configuration.before_changes()

    def test_a_fee_that_is_not_taken_back_is_at_least_taken_away(self) -> None:
        """Where the old fee is refused, an empty list of fees is sent."""
        settings = Settings(refused=(["theirs"],))
        configuration = configuration_of(settings)
        before = configuration.read()
        configuration.update({FEES: ["ours"]})
        settings.current[FEES] = ["theirs"]

        configuration.restore(before)

        assert settings.updates[-1] == {FEES: []}

    def test_a_fee_that_stays_is_told(self) -> None:
        """A fee of the suite that cannot be removed makes the check inconclusive."""
        configuration = configuration_of(Settings(refused=(["theirs"], [])))
        configuration.update({FEES: ["ours"]})

        with pytest.raises(PreconditionFailed, match="cannot be taken away"):
            configuration.restore({FEES: ["theirs"]})

    def test_card_codes_that_keep_their_look_are_noted(self) -> None:
        """Tokenization settings that cannot be put back are an observation."""
        settings = Settings(refused=(None,))
        configuration = configuration_of(settings)
        configuration.update({TOKENIZATION: {"ours": True}})

        configuration.restore({})

        assert len(settings.observations) == 1


class TestAlone:
    """Tests that change settings take turns."""

    @pytest.fixture
    def locked_folder(self, tmp_path: Path) -> Iterator[Path]:
        """Hold the lock of a folder, and return the folder."""
        with turn_to_change(tmp_path / "reports"):
            yield tmp_path / "reports"

    def test_another_process_has_to_wait(self, locked_folder: Path) -> None:
        """The lock is an exclusive one of the database file ``settings.lock``."""
        with closing(sqlite3.connect(locked_folder / "settings.lock", timeout=0)) as other:
            other.isolation_level = None

            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN EXCLUSIVE")

    def test_the_next_one_gets_it(self, tmp_path: Path) -> None:
        """The lock is free again after the test before ended by an error."""
        with pytest.raises(KeyError), turn_to_change(tmp_path):
            raise KeyError

        with turn_to_change(tmp_path):
            assert (tmp_path / "settings.lock").exists()

    def test_whoever_waits_for_all_tests_holds_no_other_turn(self, tmp_path: Path) -> None:
        """Settings are free for a test that runs, while another one waits to be alone."""
        meddling, running = (TurnOfTest(tmp_path) for _ in range(2))
        context = context_of(Settings(), Profile.model_validate({"implementation": {"name": ""}}))
        triggers: Any = SimpleNamespace(turn=meddling)
        configuration = Configuration(replace(context, triggers=triggers))
        changed: list[str] = []

        def change() -> None:
            with configuration.turn(tmp_path):
                changed.append("settings")
            meddling.end()

        meddling.begin()
        running.begin()
        waiting = threading.Thread(target=change)
        waiting.start()
        waiting.join(0.3)
        with turn_to_change(tmp_path):
            assert changed == []
        running.end()
        waiting.join(10)

        assert changed == ["settings"]
