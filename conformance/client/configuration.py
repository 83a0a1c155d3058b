"""The suite in the part of a platform that looks at its own settings, and changes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from conformance.client.actor import Actor, Json
from conformance.client.http import Answer
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

FEES = "feeConfigs"
TOKENIZATION = "cardTokenization2faConfig"

_LONGEST_TURN = 600.0


class Configuration(Actor):
    """The settings that the whole platform shares."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._named: set[str] = set()

    def get_config(self) -> Answer:
        """Send ``GET /config``."""
        return self.client.call("getConfig")

    def update_config(self, body: Any, *, valid: bool = True) -> Answer:
        """Send ``PATCH /config``."""
        self._named |= {FEES, TOKENIZATION} & set(body if isinstance(body, dict) else ())
        return self.client.call("updateConfig", body=body, valid=valid)

    def configuration(self) -> Json:
        """Return the settings as they are now."""
        body = self.arranged(self.get_config())
        if not isinstance(body, dict):
            raise PreconditionFailed(f"GET /config answers with no object: {body!r}")
        return body

    def standing_fee(
        self, *, basis_points: Any = None, fixed: Any = None, currency: str = "USD"
    ) -> Any:
        """Return a value of ``feeConfigs``, shaped by the bindings.

        Args:
            basis_points: the rate, if the fee has one.
            fixed: the fixed amount in the smallest unit, if the fee has one.
            currency: code of the source currency that the fee is for.
        """
        words = {"{currency}": currency, "{basisPoints}": basis_points, "{fixedAmount}": fixed}
        return _filled(self.profile.bindings.fee_configs, words)

    def before_changes(self) -> Json:
        """Return the settings as they are, once it is certain that a fee in them can be put back.

        Raises:
            ResourceMissing: the target does not take its own standing fee, as it shows it.
        """
        before = self.configuration()
        if before.get(FEES):
            answer = self.update_config({FEES: before[FEES]}, valid=False)
            if not answer.accepted:
                raise ResourceMissing(
                    f"the standing fee {before[FEES]} is left alone: it could not be put back, "
                    f"as {answer}"
                )
        return before

    def put_back(self, before: Json) -> None:
        """Give the settings that this test named the values that they had before it.

        Raises:
            PreconditionFailed: the standing fee of the test stays.
        """
        if FEES in self._named:
            self._put_fee_back(before.get(FEES))
        if TOKENIZATION in self._named:
            answer = self.update_config({TOKENIZATION: before.get(TOKENIZATION)}, valid=False)
            if not answer.accepted:
                self.observe(f"{TOKENIZATION} cannot be given back the value it had")

    def _put_fee_back(self, fee: Any) -> None:
        none = self.profile.bindings.no_fee_configs
        if self.update_config({FEES: fee or none}, valid=False).accepted:
            # Changes may show a moment late, and the next test has to see none of them.
            self.until(
                lambda: self.configuration().get(FEES) or None, lambda seen: seen == (fee or None)
            )
            return
        # It may be shown in another shape than it is set in.
        self.observe(f"{FEES} cannot be given back the value that GET /config shows")
        answer = self.update_config({FEES: none})
        if not answer.accepted:
            raise PreconditionFailed(f"the standing fee cannot be taken away: {answer}")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process of this run changes the settings, and keep others waiting.

    The lock is one of a database's, so that it ends with its process in every system.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "settings.lock", timeout=_LONGEST_TURN)) as lock:
        lock.isolation_level = None
        lock.execute("BEGIN EXCLUSIVE")
        yield


def _filled(template: Any, words: Mapping[str, Any]) -> Any:
    """Return a template with its words filled in, less the members whose word has no value."""
    if isinstance(template, dict):
        filled = {name: _filled(member, words) for name, member in template.items()}
        return {
            name: value
            for name, value in filled.items()
            if value is not None or template[name] is None
        }
    if isinstance(template, list):
        return [_filled(member, words) for member in template]
    return words.get(template, template) if isinstance(template, str) else template
