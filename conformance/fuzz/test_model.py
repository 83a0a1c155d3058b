"""Payments that nobody wrote down: walks by chance, each step of which is compared with a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from conformance.platform.platform import Platform
from conformance.verdict.decisions import expect

Check = Callable[..., AbstractContextManager[None]]

DECIDED = ("ACC-900", "TRX-900", "QUO-970", "EVT-360", "EVT-361")


@pytest.mark.requirement(*DECIDED)
def test_payments_agree_with_the_model(
    platform: Platform, check: Check, pytestconfig: pytest.Config, seeds: list[int]
) -> None:
    """After each step of each walk, statuses, balances and webhooks are what the model allows."""
    # Hypothesis is dear to import, and a run that leaves fuzzing out need not pay for it.
    from conformance.fuzz.model.machine import walk  # noqa: PLC0415 - as above

    examples, budget = map(pytestconfig.getoption, ("model_examples", "budget"))
    walks = (walk(platform, seed, examples, budget) for seed in seeds)
    found = next(filter(None, walks), {})

    for requirement in DECIDED:
        with check(requirement):
            if requirement.startswith("EVT"):
                platform.webhooks.require()
            expect(requirement not in found, "what the model allows", found.get(requirement))
