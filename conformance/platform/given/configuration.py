"""The settings of the platform."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    arranged_body,
    fill_template,
)
from conformance.platform.turns import turn
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

FEES = "feeConfigs"
TOKENIZATION = "cardTokenization2faConfig"

_PROBES: tuple[Any, Any] = (110, 120)
"""Rates, or fixed amounts, that no test sets and that differ wherever a quote bears one."""

_BREAKS = {"basis_points": "CFG-016", "fixed": "CFG-017"}
"""What forbids that a part of a standing fee has no effect."""


class Configuration(Part):
    """The settings that the whole platform shares."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.without_effect: dict[str, str] = {}
        """Why a part of a standing fee has no effect, or nothing; tests of a run may share it."""
        self._named: set[str] = set()

    def update(self, body: Any, *, valid: bool = True) -> Answer:
        """Send ``PATCH /config``."""
        self._named |= {FEES, TOKENIZATION} & set(body if isinstance(body, dict) else ())
        return self._api.update_config(body, valid=valid)

    def change(self, body: Body) -> None:
        """Change settings, as a step before a check.

        Raises:
            PreconditionFailed: it is refused. Its members are those of the bindings, so that this
                need not speak against the target.
        """
        answer = self.update(body)
        if not answer.accepted:
            raise PreconditionFailed(f"what the bindings make of {', '.join(body)}: {answer}")

    def read(self) -> Body:
        """Return the settings as they are now."""
        body = arranged_body(self._api.get_config())
        if not isinstance(body, dict):
            raise PreconditionFailed(f"GET /config answers with no object: {body!r}")
        return body

    def standing_fee(
        self, *, basis_points: Any = None, fixed: Any = None, currency: str | None = "USD"
    ) -> Any:
        """Return a value of ``feeConfigs``, shaped by the bindings.

        Args:
            basis_points: the rate, if the fee has one.
            fixed: the fixed amount in the smallest unit, if the fee has one.
            currency: code of the source currency that the fee is for, if it names one.
        """
        words = {"{currency}": currency, "{basisPoints}": basis_points, "{fixedAmount}": fixed}
        return fill_template(self._profile.bindings.fee_configs, words)

    def arrange_effect(self, part: str, borne: Callable[[], int]) -> None:
        """Make certain that the bindings call a part of a standing fee by a name that counts.

        What the target does not know it may ignore, and its quotes then say nothing about it.
        That speaks against the target only where the profile itself says how a fee is written.

        Args:
            part: ``basis_points`` or ``fixed``.
            borne: returns the fee of a quote that is made now; only asked where the
                configuration does not show what was set.

        Raises:
            PreconditionFailed: a fee of this part is accepted, but neither shown nor borne.
        """
        if part not in self.without_effect:
            self.without_effect[part] = self._why_without_effect(part, borne)
        if why := self.without_effect[part]:
            is_written = "fee_configs" in self._profile.bindings.model_fields_set
            raise PreconditionFailed(why, breaks=[_BREAKS[part]] if is_written else ())

    def _why_without_effect(self, part: str, borne: Callable[[], int]) -> str:
        def is_shown(fee: Any) -> bool:
            return holds(self.read().get(FEES), fee)

        first, second = (self.standing_fee(**{part: value}) for value in _PROBES)
        if not self.update({FEES: first}).accepted or is_shown(first):
            return ""
        before = borne()
        self.change({FEES: second})
        if self._until(lambda: is_shown(second) or borne() != before, bool):
            return ""
        return (
            f"bindings.fee_configs has no effect: {second} is accepted, but GET /config shows "
            f"{self.read().get(FEES)}, and the fee of quotes stays {before}"
        )

    def turn(self, folder: Path) -> AbstractContextManager[None]:
        """Wait until no other process of this run changes the settings, and keep others waiting.

        Args:
            folder: the report folder of the run.
        """
        # Whoever waits for a turn of all tests may hold no other one, for which these would wait.
        self._triggers.turn.stay_alone()
        return turn_to_change(folder)

    def before_changes(self) -> Body:
        """Return the settings as they are, once it is certain that a fee in them can be put back.

        Raises:
            ResourceMissing: the target does not take its own standing fee, as it shows it.
        """
        before = self.read()
        if before.get(FEES):
            answer = self.update({FEES: before[FEES]}, valid=False)
            if not answer.accepted:
                raise ResourceMissing(
                    f"the standing fee {before[FEES]} is left alone: it could not be put back, "
                    f"as {answer}"
                )
        return before

    def restore(self, before: Json) -> None:
        """Give the settings that this test named the values that they had before it.

        Raises:
            PreconditionFailed: the standing fee of the test stays.
        """
        if FEES in self._named:
            self._restore_fee(before.get(FEES))
        if TOKENIZATION in self._named:
            answer = self.update({TOKENIZATION: before.get(TOKENIZATION)}, valid=False)
            if not answer.accepted:
                self._observe(f"{TOKENIZATION} cannot be given back the value it had")

    def _restore_fee(self, fee: Any) -> None:
        none = self._profile.bindings.no_fee_configs
        if self.update({FEES: fee or none}, valid=False).accepted:
            # Changes may show a moment late, and the next test has to see none of them.
            self._until(lambda: self.read().get(FEES) or None, lambda seen: seen == (fee or None))
            return
        # It may be shown in another shape than it is set in.
        self._observe(f"{FEES} cannot be given back the value that GET /config shows")
        answer = self.update({FEES: none})
        if not answer.accepted:
            raise PreconditionFailed(f"the standing fee cannot be taken away: {answer}")


def turn_to_change(folder: Path) -> AbstractContextManager[None]:
    """Wait until no other process of this run changes the settings, and keep others waiting."""
    return turn(folder, "settings")


def holds(shown: Any, sent: Any) -> bool:
    """Return whether all that was sent is shown; there may be more, and numbers may be texts."""
    if isinstance(sent, dict):
        return isinstance(shown, dict) and all(
            holds(shown.get(name), value) for name, value in sent.items()
        )
    if isinstance(sent, list):
        return isinstance(shown, list) and all(
            any(holds(entry, value) for entry in shown) for value in sent
        )
    return bool(shown == sent) or str(shown) == str(sent)
