"""Decisions: what single checks found out about single requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from conformance.contract.difference import Difference, Kind


class Outcome(StrEnum):
    """What one check found out about one requirement."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_EXERCISED = "not exercised"


class Reason(StrEnum):
    """Why a requirement got no verdict. The list is closed."""

    TRIGGER_MISSING = "the profile maps no way to bring it about"
    TRIGGER_FAILED = "the trigger did not do what it says"
    FEATURE_UNDECLARED = "the profile does not declare the feature"
    RESOURCE_MISSING = "the target does not offer what the check needs"
    PRECONDITION = "a step before the check failed"
    TWIN_REFUSED = "the same request without the fault was refused as well"
    NOT_REACHED = "the check ended before it came to this requirement"
    UNREADABLE = "the check could not read what the target sent"
    HARNESS = "the suite made a mistake"
    TARGET_LOST = "the target could not be reached any more"
    READ_ONLY = "only safe methods may be sent to this target"
    IRREVERSIBLE = "the profile does not permit what cannot be undone"
    NOT_RECORDED = "the recording that is judged again has no answer to it"
    BUDGET_SPENT = "the budget of the profile does not allow it"
    DESELECTED = "the selection of the run leaves it out"
    LOST = "the run ended before it was decided"
    NO_CHECK = "no test of the run names it"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a message says, as data.

    ``missing`` are the triggers and features that the profile would have to offer. A check that
    found something else than it expected has ``expected`` and ``got``, and maybe ``also``.
    ``exchange`` is the number of the journal entry that decided it, where that is one.
    ``difference`` is what failures with one cause have in common.
    """

    missing: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    also: str = ""
    exchange: str = ""
    difference: Difference | None = None


NO_FACTS = Facts()


class Broken(AssertionError):
    """A check found something else than the specification says."""

    def __init__(
        self,
        expected: str,
        got: object,
        also: str = "",
        exchange: str = "",
        *,
        difference: Difference | None = None,
    ) -> None:
        self.facts = Facts((), expected, str(got), also, exchange, difference)
        super().__init__(f"expected {expected}, got {got}" + (f"\n{also}" if also else ""))


def expect(
    condition: object,
    expected: str,
    got: object,
    also: str = "",
    exchange: str = "",
    *,
    difference: Difference | None = None,
) -> None:
    """Assert a condition, and say what was expected and what came where it does not hold.

    Args:
        condition: what has to hold.
        expected: what was expected.
        got: what came.
        also: what else helps to understand it.
        exchange: the number of the journal entry that it is about, if it is about one.
        difference: what failures with the same cause have in common, where it is known.

    Raises:
        Broken: it does not hold.
    """
    __tracebackhide__ = True
    if not condition:
        raise Broken(expected, got, also, exchange, difference=difference)


class Unmet(Exception):
    """A check cannot decide: something that it builds on did not hold.

    ``breaks`` are the requirements that forbid what came instead. They fail, whatever the check
    was about.
    """

    outcome = Outcome.INCONCLUSIVE
    reason: Reason

    def __init__(
        self, message: str, facts: Facts = NO_FACTS, *, breaks: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.facts = facts
        self.breaks = tuple(breaks)


class PreconditionFailed(Unmet):
    """A step that arranges the check was refused by the target."""

    reason = Reason.PRECONDITION


class TwinRefused(Unmet):
    """The same request without the fault was refused as well, so the refusal proves nothing."""

    reason = Reason.TWIN_REFUSED


class HarnessError(Unmet):
    """The suite itself did something wrong, for example sent a request that is not valid."""

    reason = Reason.HARNESS


class TriggerFailed(Unmet):
    """A trigger of the profile ran and had no effect, or broke."""

    reason = Reason.TRIGGER_FAILED


class TriggerRefused(TriggerFailed):
    """The first request of a trigger was refused with a client error: nothing was done."""


class Unusable(Unmet):
    """A value that the target sent has no form where the check needs it, in a URL for example."""

    reason = Reason.UNREADABLE


class TargetLost(Unmet):
    """The target stopped answering."""

    reason = Reason.TARGET_LOST


class ReadOnly(Unmet):
    """The profile does not say that the target is a sandbox, so nothing may be changed there."""

    outcome = Outcome.NOT_EXERCISED
    reason = Reason.READ_ONLY


class Irrevocable(Unmet):
    """What a request does cannot be undone, and the profile does not have the word for it."""

    outcome = Outcome.NOT_EXERCISED
    reason = Reason.IRREVERSIBLE


class BudgetSpent(Unmet):
    """The profile's budget of requests, resources or amounts is used up."""

    reason = Reason.BUDGET_SPENT


class TriggerMissing(Unmet):
    """The profile does not map a trigger that the check needs."""

    outcome = Outcome.NOT_EXERCISED
    reason = Reason.TRIGGER_MISSING

    def __init__(self, trigger: str, because: str = "") -> None:
        """Say which trigger is needed, and where it is not plain, for what."""
        told = f"the profile does not map the trigger {trigger}"
        super().__init__(f"{because}, and {told}" if because else told, Facts(missing=(trigger,)))


class FeatureUndeclared(Unmet):
    """The profile does not declare a feature that the check needs."""

    outcome = Outcome.NOT_EXERCISED
    reason = Reason.FEATURE_UNDECLARED

    def __init__(self, *features: str, because: str = "") -> None:
        """Say which features are needed, any of them, and where it is not plain, for what."""
        names = " or ".join(f"features.{name}" for name in features)
        told = f"the profile does not declare {names}"
        super().__init__(f"{because}, and {told}" if because else told, Facts(missing=features))


class ResourceMissing(Unmet):
    """The target's configuration does not offer what the check needs, a currency for example."""

    outcome = Outcome.NOT_EXERCISED
    reason = Reason.RESOURCE_MISSING


@dataclass(frozen=True, slots=True)
class Decision:
    """What one test found out about one requirement.

    ``detail`` is the message, ``facts`` what it says as data. ``exchanges`` are the numbers of the
    journal entries that the test produced until what decided it.
    """

    requirement: str
    outcome: Outcome
    test: str
    reason: Reason | None = None
    detail: str = ""
    exchanges: tuple[str, ...] = ()
    facts: Facts = NO_FACTS

    def to_json(self) -> dict[str, Any]:
        """Return as JSON values what the decision says, less its test and what goes without saying.

        It is the form of a journal, where most decisions are that something passed.
        """
        said: dict[str, Any] = {"requirement": self.requirement, "outcome": self.outcome.value}
        if self.reason is not None:
            said["reason"] = self.reason.value
        if self.detail:
            said["detail"] = self.detail
        if self.exchanges:
            said["exchanges"] = self.exchanges
        if self.facts != NO_FACTS:
            said["facts"] = asdict(self.facts)
        return said

    @classmethod
    def from_json(cls, value: Mapping[str, Any], test: str) -> Decision:
        """Read back what :meth:`to_json` returned of a decision of a test."""
        reason, facts = value.get("reason"), value.get("facts")
        return cls(
            value["requirement"],
            Outcome(value["outcome"]),
            test,
            None if reason is None else Reason(reason),
            value.get("detail", ""),
            tuple(value.get("exchanges", ())),
            NO_FACTS if facts is None else _facts_from_json(facts),
        )


def _facts_from_json(value: Mapping[str, Any]) -> Facts:
    found = value.get("difference")
    difference = found and Difference(**{**found, "kind": Kind(found["kind"])})
    return Facts(**{**value, "missing": tuple(value["missing"]), "difference": difference})
