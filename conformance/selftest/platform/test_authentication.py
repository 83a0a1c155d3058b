"""The proofs of strong customer authentication that the platform knows or guesses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.authentication import StrongAuthentication
from conformance.platform.given.logins import Logins
from conformance.platform.ledger import Ledger
from conformance.platform.memory import Memory
from conformance.platform.part import Context
from conformance.profile.model import Profile
from conformance.selftest.exchange.test_differences import answered
from conformance.verdict.decisions import ResourceMissing

QUOTE = {"id": "Quote:1", "scaChallenge": {"factor": "TOTP"}}
REFUSAL = SimpleNamespace(accepted=False, code=None)


def authentication(bindings: dict[str, Any]) -> StrongAuthentication:
    """Return the part of a platform whose target refuses every proof."""
    content = {"implementation": {"name": "refuser"}, "bindings": bindings}
    handed_on = Profile.model_validate(Profile.model_validate(content).to_json())
    api = SimpleNamespace(
        authorize_quote=lambda *_, **__: REFUSAL, client=SimpleNamespace(origin="https://a.example")
    )
    context = context_of(api, handed_on)
    parts = cast("Any", None)
    return StrongAuthentication(context, parts, parts, parts, Logins(context))


def context_of(api: Any, profile: Profile, *, is_lapsed: bool = False) -> Context:
    """Return what the parts of a platform share, whose sessions a test let lapse or did not."""
    context = SimpleNamespace(
        api=api, profile=profile, webhooks=None, samples=None, ledger=Ledger(), memory=Memory(),
        triggers=SimpleNamespace(was_fired=lambda *_, **__: is_lapsed, maps=lambda _: False),
        observe=lambda _: None,
    )  # fmt: skip
    return cast("Context", context)


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


@pytest.mark.parametrize(("is_lapsed", "times_sent", "logins"), [(False, 2, 1), (True, 1, 0)])
def test_a_customer_without_a_session_logs_in_once(
    *, is_lapsed: bool, times_sent: int, logins: int
) -> None:
    """What is refused for want of a session is sent again, unless a test let the session lapse."""
    profile = Profile.model_validate({"implementation": {"name": "asks for a login"}})
    seen: list[str] = []

    def answer(name: str) -> Answer:
        seen.append(name)
        status = 201 if "login" in seen else 409
        return answered(status, {"code": "SCA_SESSION_REQUIRED"})

    api = SimpleNamespace(complete_sca_login=lambda *_: answer("login"))
    part = Logins(context_of(api, profile, is_lapsed=is_lapsed))

    proof = part.in_session("Customer:1", lambda: answer("proof"))

    assert proof.accepted is not is_lapsed
    assert (seen.count("proof"), seen.count("login")) == (times_sent, logins)
