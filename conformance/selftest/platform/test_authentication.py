"""The proofs of strong customer authentication that the platform knows or guesses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.authentication import StrongAuthentication
from conformance.platform.memory import Memory
from conformance.platform.part import Context
from conformance.profile.model import Profile
from conformance.verdict.decisions import ResourceMissing

QUOTE = {"id": "Quote:1", "scaChallenge": {"factor": "TOTP"}}
REFUSAL = SimpleNamespace(accepted=False)


def authentication(bindings: dict[str, Any]) -> StrongAuthentication:
    """Return the part of a platform whose target refuses every proof."""
    content = {"implementation": {"name": "refuser"}, "bindings": bindings}
    handed_on = Profile.model_validate(Profile.model_validate(content).to_json())
    api = SimpleNamespace(
        authorize_quote=lambda *_, **__: REFUSAL, client=SimpleNamespace(origin="https://a.example")
    )
    context = SimpleNamespace(
        api=api, profile=handed_on, triggers=None, webhooks=None, samples=None, ledger=None,
        memory=Memory(), observe=None,
    )  # fmt: skip
    parts = cast("Any", None)
    return StrongAuthentication(cast("Context", context), parts, parts, parts)


@pytest.mark.parametrize(
    "bindings",
    [{}, {"sca_proofs": {"TOTP": {"otp": "{code}"}}}, {"sca_proofs": {"PASSKEY": {"id": "1"}}}],
)
def test_a_guess_that_is_refused_breaks_nothing(bindings: dict[str, Any]) -> None:
    """A profile that says no code says no proof with a code, also as a worker gets it."""
    with pytest.raises(ResourceMissing, match=r"no bindings\.sca_code"):
        authentication(bindings).send_proof(QUOTE)


@pytest.mark.parametrize(
    "bindings", [{"sca_code": "000000"}, {"sca_proofs": {"TOTP": {"otp": "000000"}}}]
)
def test_a_proof_that_is_known_has_to_be_taken(bindings: dict[str, Any]) -> None:
    """The refusal of a proof that the profile says is an answer like any other."""
    answer: Answer = authentication(bindings).send_proof(QUOTE)

    assert not answer.accepted
