"""What ``init`` and ``doctor`` make of what a target says, without a target."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cli.checkup import arrivals, coins, draft, start, trial
from conformance.cli.checkup.fitting import MAX_ROUNDS, fitted, heeded, listed_values
from conformance.cli.checkup.learned import Learned
from conformance.cli.checkup.offers import Nowhere
from conformance.cli.checkup.trial import SHAPED_BY
from conformance.contract.catalogue import catalogue
from conformance.contract.document import document
from conformance.contract.vocabulary import triggers
from conformance.exchange.delivery import Delivery
from conformance.platform.resource import Resource
from conformance.profile.model import Profile
from conformance.profile.webhooks import Signature
from conformance.reporting.report import Entry
from conformance.selftest.exchange.test_differences import answered
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict
from conformance.webhooks.signatures import Verifier

SECRET = "a-secret-Of-webhooks-8c1f"
ENVIRON = {arrivals.SECRET: SECRET}
BODY = b'{"type": "CUSTOMER.KYC_APPROVED"}'
VALUES = (("version", "{version}"), ("at", "{now}"))


def refused(**fields: str) -> Mapping[str, Any]:
    """Return an error object that says something of some fields."""
    rows = [{"field": f"consent.{name}", "message": text} for name, text in fields.items()]
    return {"code": "INVALID_INPUT", "details": {"errors": rows}}


class TestFitting:
    """A body is fitted to what its refusals say of its members."""

    def test_members_are_added_and_taken_out(self) -> None:
        """What is missing gets the value of its name; what is not known is left out."""

        def send(body: Mapping[str, Any]) -> Any:
            if "termsVersion" in body:
                return answered(400, refused(termsVersion="is not known"))
            if "version" not in body:
                return answered(400, refused(version="is required"))
            return answered(201, {"id": "x"})

        body, answer = fitted(
            {"termsVersion": "{version}", "ip": "1"}, VALUES, send, root="consent"
        )

        assert answer.accepted
        assert body == {"ip": "1", "version": "{version}"}

    def test_a_listed_value_is_taken(self) -> None:
        """The first of those that the refusal lists stands in the place of the refused one."""

        def send(body: Mapping[str, Any]) -> Any:
            if body["method"] == "CLICK_WRAP":
                return answered(201, {})
            return answered(400, refused(method="must be one of CLICK_WRAP, PAPER"))

        assert fitted({"method": "CLICKWRAP"}, VALUES, send, root="consent")[0] == {
            "method": "CLICK_WRAP"
        }

    @pytest.mark.parametrize(
        "body",
        [
            None,
            [1],
            {"details": {"errors": {"field": 1}}},
            {"details": {"errors": [1, {"field": None}, {"message": []}]}},
            refused(at="is required"),
            refused(other="one of"),
        ],
    )
    def test_it_comes_to_an_end(self, body: Any) -> None:
        """Whatever a refusal says, only some requests are sent."""
        sent = []

        def send(template: Mapping[str, Any]) -> Any:
            sent.append(template)
            return answered(400, body)

        _, answer = fitted({"at": "{now}"}, VALUES, send, root="consent")

        assert not answer.accepted
        assert len(sent) <= MAX_ROUNDS + 1

    @pytest.mark.parametrize(
        ("row", "values"),
        [
            ({"message": "must be one of MTN, AIRTEL"}, ["MTN", "AIRTEL"]),
            ({"message": "Allowed values are: 'M-PESA' | 'T KASH'"}, ["M-PESA", "T KASH"]),
            ({"constraint": {"format": "text", "oneOf": ["A", "B"]}}, ["A", "B"]),
            ({"constraint": {"enum": [1, 2]}, "message": "is wrong"}, []),
        ],
    )
    def test_listed_values_are_read(self, row: Mapping[str, Any], values: list[str]) -> None:
        """They stand in the constraint or in the message, and often nowhere."""
        body = {"details": {"errors": [{"field": "accountInfo.provider", **row}]}}

        assert listed_values(answered(400, body), "provider") == values


class TestNowhere:
    """What is answered where there is no operation tells whether one is there."""

    @pytest.mark.parametrize(
        ("nowhere", "status", "code", "served"),
        [
            (Nowhere(404, "NOT_FOUND"), 404, "NOT_FOUND", False),
            (Nowhere(404, "NOT_FOUND"), 404, "TRANSACTION_NOT_FOUND", True),
            (Nowhere(404, None), 404, None, False),
            (Nowhere(404, None), 405, None, False),
            (Nowhere(404, None), 400, "INVALID_INPUT", True),
            (Nowhere(403, None), 403, None, False),
            (Nowhere(400, "INVALID_INPUT"), 400, "INVALID_INPUT", False),
            (Nowhere(200, None), 200, None, False),
        ],
    )
    def test_an_operation_answers_otherwise(
        self, nowhere: Nowhere, status: int, code: str | None, *, served: bool
    ) -> None:
        """By its status, or by a code that names what is missing."""
        body = None if code is None else {"code": code}

        assert nowhere.serves(answered(status, body)) is served


def signed(message: bytes, digest: Callable[..., Any] = hashlib.sha256) -> Any:
    """Return the code of a message that the secret makes."""
    return hmac.new(SECRET.encode(), message, digest)


FORMS: Mapping[str, dict[str, str]] = {
    "bare": {"x-signature": signed(BODY).hexdigest()},
    "prefixed": {"x-hub-signature-256": "sha256=" + signed(BODY).hexdigest()},
    "time in it": {"x-sig-hmac": "t=17,v1=" + signed(b"17." + BODY, hashlib.sha512).hexdigest()},
    "other headers": {
        "webhook-id": "m1",
        "webhook-timestamp": "17",
        "webhook-signature": "v1," + base64.b64encode(signed(b"m1.17." + BODY).digest()).decode(),
    },
}


@pytest.mark.parametrize(("amount", "grade"), [(5_000, "fine"), (5_001, "problem")])
def test_a_limit_that_the_budget_forbids_is_told(amount: int, grade: str) -> None:
    """What is above the limit has to be deposited first."""
    limit = {"currency": "USD", "amount": amount}
    profile = Profile.model_validate(
        {
            "implementation": {"name": "x"},
            "environment": "sandbox",
            "budget": {"amount": 10_000},
            "resources": {"single_transaction_limit": limit},
        }
    )

    *_, last = start.look_at_environment(profile)

    assert str(last.grade) == grade
    assert grade == "fine" or last.key == "budget.amount"


class TestHeeding:
    """What a target does not look at is left out of a body."""

    def test_what_is_needed_stays(self) -> None:
        """A member that may hold anything, and has to be there, is no stranger to the target."""

        def send(body: Mapping[str, Any]) -> Any:
            wrong = [name for name in ("at", "how") if name not in body]
            wrong += ["at"] if isinstance(body.get("at"), dict) else []
            return answered(400, refused(**dict.fromkeys(wrong, "no"))) if wrong else answered(201)

        body = {"at": "{now}", "how": "CLICK", "unknown": 1}

        assert heeded(body, send) == {"at": "{now}", "how": "CLICK"}


class TestCoins:
    """How a stablecoin is minted and burned is known where the target took it, or corrected it."""

    @pytest.mark.parametrize(
        ("refusal", "is_known"),
        [
            (answered(201, {"id": "x"}), True),
            (answered(409, {"code": "STABLECOIN_NOT_PROVISIONED"}), False),
            (answered(403, {"code": "FORBIDDEN"}), False),
            (answered(400, refused(amount="is wrong")), False),
        ],
    )
    def test_a_refusal_teaches_no_form(self, refusal: Any, *, is_known: bool) -> None:
        """The usual body is asked about, where nothing shows that the target reads it."""
        names = Profile.model_validate({"implementation": {"name": "x"}}).bindings
        api = SimpleNamespace(
            create_stablecoin=lambda **_: answered(201, {"id": "coin"}),
            mint_stablecoin=lambda _, **__: refusal,
            burn_stablecoin=lambda _, **__: refusal,
        )
        platform: Any = SimpleNamespace(
            api=api,
            profile=SimpleNamespace(bindings=names),
            samples=SimpleNamespace(digits=lambda count: "123456"[:count]),
        )

        _, mint, burn = coins.forms(platform, Resource({"id": "account"}), None)

        assert {mint.is_question, burn.is_question} == {not is_known}


class TestArrivals:
    """Webhooks that came say in which form they come."""

    @pytest.mark.parametrize("name", FORMS)
    def test_the_form_of_a_signature_is_found(self, name: str) -> None:
        """What is found verifies what came, and is said with the feature."""
        delivery = Delivery(0, 0.0, FORMS[name], {"type": "X"}, BODY)

        found = {
            one.key: one.value for one in arrivals.signature([delivery], arrivals.SECRET, ENVIRON)
        }

        assert found["features", "webhook_signatures"] is True
        form = Signature.model_validate(found["webhooks", "signature"])
        assert Verifier(form, ENVIRON).problem(delivery) is None

    def test_a_secret_may_be_spelled_in_base64(self) -> None:
        """The secret of a sender of standard webhooks stands for bytes, and is marked as one."""
        environ = {arrivals.SECRET: "whsec_" + base64.b64encode(SECRET.encode()).decode()}
        delivery = Delivery(0, 0.0, FORMS["other headers"], {"type": "X"}, BODY)

        found = {
            one.key: one.value for one in arrivals.signature([delivery], arrivals.SECRET, environ)
        }

        form = Signature.model_validate(found["webhooks", "signature"])
        assert form.key_encoding == "base64"
        assert Verifier(form, environ).problem(delivery) is None

    @pytest.mark.parametrize("environ", [{}, {arrivals.SECRET: "another-Secret-99x1"}])
    def test_without_the_right_secret_it_asks(self, environ: Mapping[str, str]) -> None:
        """The question names the header and the variable, and no value."""
        delivery = Delivery(0, 0.0, FORMS["bare"], {"type": "X"}, BODY)

        (one,) = arrivals.signature([delivery], arrivals.SECRET, environ)

        assert one.is_question
        assert "x-signature" in one.shown
        assert arrivals.SECRET in one.shown
        assert FORMS["bare"]["x-signature"] not in one.shown

    def test_unsigned_ones_say_nothing(self) -> None:
        """Nothing is asked where no header looks like a signature."""
        delivery = Delivery(0, 0.0, {"user-agent": "x"}, {"type": "X"}, BODY)

        assert list(arrivals.signature([delivery], arrivals.SECRET, ENVIRON)) == []

    def test_a_hostile_header_is_soon_read(self) -> None:
        """However many names a header holds, few of them are tried."""
        value = ",".join(f"n{number}=1" for number in range(3000))
        delivery = Delivery(0, 0.0, {"x-signature": value}, {"type": "X"}, BODY)

        (one,) = arrivals.signature([delivery], arrivals.SECRET, ENVIRON)

        assert one.is_question

    def test_it_tells_what_came(self) -> None:
        """Webhooks declare the feature; what is none, and nothing at all, is asked about."""
        webhook = Delivery(0, 0.0, {}, {"type": "CUSTOMER.KYC_APPROVED"}, BODY)
        other = Delivery(1, 0.0, {}, None, b"hello")

        declared, asked = arrivals.told_by([webhook, other], "http://here/hook")
        (missed,) = arrivals.told_by([], "http://here/hook")

        assert (declared.key, declared.value) == (("features", "webhooks"), True)
        assert asked.is_question
        assert "http://here/hook" in missed.shown


def test_the_keys_of_a_step_exist() -> None:
    """Each names an operation, and keys that a profile has."""
    profile = Profile.model_validate({"implementation": {"name": "x"}})

    assert set(SHAPED_BY) <= set(document().operations)
    for key in (key for keys in SHAPED_BY.values() for key in keys):
        section, _, name = key.partition(".")
        assert name in (triggers() if section == "triggers" else dir(getattr(profile, section)))


def test_what_init_does_not_try_are_bindings() -> None:
    """Each is one of a profile."""
    profile = Profile.model_validate({"implementation": {"name": "x"}})

    assert set(draft.NOT_TRIED) <= set(type(profile.bindings).model_fields)


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("SCA_SESSION_REQUIRED", "bindings.sca_login, triggers.sca.login"),
        ("INVALID_INPUT", "bindings.sca_code, bindings.sca_proofs, triggers.sca.code"),
    ],
)
def test_a_proof_without_a_session_needs_a_login(
    monkeypatch: pytest.MonkeyPatch, code: str, keys: str
) -> None:
    """No other proof helps a customer whose login is what fails."""
    requirement = catalogue()["SCA-027"]
    members: dict[str, Any] = {
        "id": requirement.id,
        "verdict": RequirementVerdict.INCONCLUSIVE,
        "reason": Reason.PRECONDITION,
        "detail": f"{Reason.PRECONDITION}: authorizeQuote → 409 {code}",
    }
    entry = Entry.model_construct(**members)
    monkeypatch.setattr(trial, "assemble", lambda _: SimpleNamespace(requirements=[entry]))
    subjects = [
        trial.Subject(name, f"triggers.{name}", requirement, "test")
        for name in ("sca.second_challenge", "sca.third_challenge")
    ]

    first, others = trial.findings(subjects, Path())

    assert first.key == f"{keys}, triggers.sca.second_challenge"
    assert others.key == keys
    assert ("logged in" in first.line) is (code == "SCA_SESSION_REQUIRED")


def test_a_proposal_is_compact() -> None:
    """A row of a list is a line of the diff, and what stays the same is none."""
    profile = {"implementation": {"name": "x"}, "features": {"sca": True}}
    rows = [{"sending": "USD", "receiving": "USD", "account": "usd_account"}]

    lines = draft.proposed("p", profile, [Learned(("resources", "corridors"), "", rows)])

    assert lines[3:] == [
        "   sca: true",
        "+resources:",
        "+  corridors:",
        "+    - {sending: USD, receiving: USD, account: usd_account}",
    ]
