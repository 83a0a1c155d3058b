"""The platform's settings as the suite changes them: shaped by the bindings, alone, put back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
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
from conformance.profile.model import Profile
from conformance.selftest.contexts import context_of
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Json = dict[str, Any]

NONE: frozenset[str] = frozenset()

EXCHANGE = Exchange("main-1", "", "updateConfig", "PATCH", "", {}, None, 200, {}, None, 0.0)


class Settings:
    """Stands in for client and target: keeps settings, and refuses some of them."""

    def __init__(self, *, refused: tuple[Any, ...] = (), ignored: frozenset[str] = NONE) -> None:
        self.kept: Json = {FEES: ["theirs"], TOKENIZATION: {"theirs": True}}
        self.sent: list[Json] = []
        self.observed: list[str] = []
        self._refused = refused
        self._ignored = ignored

    def call(self, name: str, *, body: Any = None, **_: Any) -> Answer:
        """Read or change the settings."""
        status = 200
        if name == "updateConfig":
            self.sent.append(body)
            if any(value in self._refused for value in body.values()):
                status = 400
            else:
                self.kept |= {k: v for k, v in body.items() if k not in self._ignored}
        return Answer(document().operations[name], status, {}, dict(self.kept), EXCHANGE)


def acting(settings: Settings, **bindings: Any) -> Configuration:
    """Return the suite in the part of a platform with these settings."""
    profile = Profile.model_validate(
        {
            "implementation": {"name": ""},
            "bindings": bindings,
            "timing": {"state": 0.05, "poll": 0.01},
        }
    )
    return Configuration(context_of(settings, profile, settings.observed))


class TestStandingFee:
    """What the bindings make of a fee."""

    def test_what_a_fee_does_not_have_is_left_out(self) -> None:
        """A rate alone names no fixed amount."""
        platform = acting(Settings())

        assert platform.standing_fee(basis_points=150) == [
            {"sourceCurrency": "USD", "variableFeeBasisPoints": 150}
        ]
        assert platform.standing_fee(fixed=250, currency="EUR") == [
            {"sourceCurrency": "EUR", "fixedFeeAmount": 250}
        ]

    def test_it_may_have_any_shape(self) -> None:
        """Also one without a list, and with members that are always the same."""
        shape = {"USD": {"rate": "{basisPoints}", "flat": "{fixedAmount}", "note": None}}

        fee = acting(Settings(), fee_configs=shape).standing_fee(basis_points=1, fixed=2)

        assert fee == {"USD": {"rate": 1, "flat": 2, "note": None}}


class TestEffect:
    """A fee by names that the target does not know proves nothing."""

    IGNORING = frozenset({FEES})

    def test_a_fee_that_is_shown_has_an_effect(self) -> None:
        """Whether quotes bear it is what scenarios find out, so that none is needed."""
        acting(Settings()).arrange_effect("fixed", pytest.fail)

    def test_a_fee_that_is_borne_has_an_effect(self) -> None:
        """Wherever it is shown, if it is."""
        fees = iter((310, 320))

        acting(Settings(ignored=self.IGNORING)).arrange_effect("fixed", lambda: next(fees))

    def test_a_fee_that_is_refused_is_none_of_an_unknown_name(self) -> None:
        """The scenario that sets one will tell."""
        platform = acting(Settings(refused=("plenty",)), fee_configs="plenty")

        platform.arrange_effect("fixed", pytest.fail)

    def test_a_fee_that_is_neither_leaves_the_check_undecided(self) -> None:
        """Also where the platform has a fee of its own, which stays."""
        platform = acting(Settings(ignored=self.IGNORING))

        with pytest.raises(PreconditionFailed, match=r"fee_configs has no effect: .*'theirs'.* 7$"):
            platform.arrange_effect("fixed", lambda: 7)

    def test_it_is_found_out_once(self) -> None:
        """For each part, as the name of one may be known and that of another not."""
        settings = Settings(ignored=self.IGNORING)
        unheeded: dict[str, str] = {}
        for _ in range(2):
            platform = acting(settings)
            platform.without_effect = unheeded
            with pytest.raises(PreconditionFailed, match="no effect"):
                platform.arrange_effect("basis_points", lambda: 0)

        assert len(settings.sent) == 2
        assert set(unheeded) == {"basis_points"}


class TestPuttingBack:
    """After a test the settings are as they were."""

    def test_what_a_test_named_gets_its_value_back(self) -> None:
        """And nothing else is sent."""
        settings = Settings()
        platform = acting(settings)
        before = platform.read()
        platform.update({FEES: ["ours"]})

        platform.restore(before)

        assert settings.kept == before
        assert settings.sent == [{FEES: ["ours"]}, {FEES: ["theirs"]}]

    def test_a_fee_that_could_not_be_put_back_is_left_alone(self) -> None:
        """It is not ours to take away."""
        platform = acting(Settings(refused=(["theirs"],)))

        with pytest.raises(ResourceMissing, match="left alone"):
            platform.before_changes()

    def test_a_fee_that_is_not_taken_back_is_at_least_taken_away(self) -> None:
        """Where it is shown in another shape than it is set in."""
        settings = Settings(refused=(["theirs"],))
        platform = acting(settings)
        before = platform.read()
        platform.update({FEES: ["ours"]})
        settings.kept[FEES] = ["theirs"]

        platform.restore(before)

        assert settings.sent[-1] == {FEES: []}

    def test_a_fee_that_stays_is_told(self) -> None:
        """Everybody's quotes would bear it."""
        platform = acting(Settings(refused=(["theirs"], [])))
        platform.update({FEES: ["ours"]})

        with pytest.raises(PreconditionFailed, match="cannot be taken away"):
            platform.restore({FEES: ["theirs"]})

    def test_card_codes_that_keep_their_look_are_noted(self) -> None:
        """It disturbs nobody."""
        settings = Settings(refused=(None,))
        platform = acting(settings)
        platform.update({TOKENIZATION: {"ours": True}})

        platform.restore({})

        assert len(settings.observed) == 1


class TestAlone:
    """Tests that change settings take turns."""

    @pytest.fixture
    def locked(self, tmp_path: Path) -> Iterator[Path]:
        """Hold the lock of a folder."""
        with turn_to_change(tmp_path / "reports"):
            yield tmp_path / "reports"

    def test_another_process_has_to_wait(self, locked: Path) -> None:
        """The lock is one of the database's file."""
        with closing(sqlite3.connect(locked / "settings.lock", timeout=0)) as other:
            other.isolation_level = None

            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN EXCLUSIVE")

    def test_the_next_one_gets_it(self, tmp_path: Path) -> None:
        """As soon as the one before has ended, also by an error."""
        with pytest.raises(KeyError), turn_to_change(tmp_path):
            raise KeyError

        with turn_to_change(tmp_path):
            assert (tmp_path / "settings.lock").exists()
