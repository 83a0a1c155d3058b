"""What every part of the platform acts with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from conformance.platform.api import Api
from conformance.platform.ledger import Ledger
from conformance.platform.memory import Memory
from conformance.platform.triggers import Triggers
from conformance.platform.waiting import Waiting
from conformance.platform.webhooks import Webhooks
from conformance.profile.model import Profile
from conformance.testdata.samples import Samples
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
)

T = TypeVar("T")

Observe = Callable[[str], None]
"""Notes for the report which of several conforming answers was seen."""


@dataclass(frozen=True, slots=True)
class Context:
    """What all parts of one test's platform share."""

    api: Api
    profile: Profile
    triggers: Triggers
    webhooks: Webhooks
    samples: Samples
    ledger: Ledger
    memory: Memory
    observe: Observe


class Part:
    """A part of the platform: arranges resources of one kind.

    Its methods raise :class:`PreconditionFailed` where a step of the arrangement is refused, and
    :class:`ResourceMissing`, :class:`FeatureUndeclared` or :class:`TriggerMissing` where target or
    profile do not offer what it needs.
    """

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._profile = context.profile
        self._triggers = context.triggers
        self._webhooks = context.webhooks
        self._samples = context.samples
        self._ledger = context.ledger
        self._memory = context.memory
        self._observe = context.observe
        self._until = Waiting(context.profile.timing, context.memory.patience).until

    def _either(
        self,
        circumstance: str,
        draws: Sequence[bool],
        usual: Callable[[], T],
        other: Callable[[], T | None],
    ) -> T:
        """Arrange something in the usual way, or in the tests that draw it in another one.

        Where the other way did not work the first time, it is tried no more.

        Args:
            circumstance: what is otherwise in the other way.
            draws: what is drawn from, with the other way at each True.
            usual: arranges it.
            other: arranges it in the other way; None where it does not come about.
        """
        works = self._memory.works.get(circumstance)
        if works is False or not self._samples.drawn(circumstance, draws):
            return usual()
        found = None
        try:
            found = other()
        except (PreconditionFailed, ResourceMissing) as error:
            if works:
                raise
            self._observe(f"it does not come about that {circumstance}: {error}")
        self._memory.works[circumstance] = works or found is not None
        return usual() if found is None else found

    def _require_feature(self, name: str) -> None:
        if not self._profile.features.declares(name):
            raise FeatureUndeclared(name)
