"""Fuzzing: generated data follow from the seed alone, and only real mistakes of a target count."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.contract.document import document
from conformance.exchange.forms import File
from conformance.fuzz import drawn as drawn_module
from conformance.fuzz import generation
from conformance.fuzz.drawn import ABSENT, Drawn, draw
from conformance.fuzz.faults import HELD, faults
from conformance.fuzz.generation import generate
from conformance.fuzz.lenient import must_be_refused, reading
from conformance.fuzz.requests import HOSTILE, Prepared, prepared
from conformance.fuzz.share import share
from conformance.platform.grounds.ground import Ground
from conformance.selftest.collection import ROOT, requirements_by_test

Json = dict[str, Any]

OPERATIONS = document().operations
FEW_EXAMPLES = 3
MODEL_TESTS = 5
"""Walks along links and through the model, payments and changes of several clients, and accounts
that several register."""

BODIES: dict[str, Json] = {
    "createQuote": {
        "source": {"sourceType": "ACCOUNT", "accountId": "InternalAccount:1"},
        "destination": {"destinationType": "ACCOUNT", "accountId": "ExternalAccount:1"},
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": 10_000,
    },
    "authorizeQuote": {"code": "123456"},
    "createCustomer": {"customerType": "INDIVIDUAL", "fullName": "Ada Okafor"},
    "createExternalAccount": {
        "currency": "USD",
        "accountInfo": {
            "accountType": "USD_ACCOUNT",
            "accountNumber": "123456789",
            "routingNumber": "021000021",
        },
    },
    "createBeneficialOwner": {
        "customerId": "Customer:1",
        "roles": ["DIRECTOR"],
        "ownershipPercentage": 25,
        "personalInfo": {
            "firstName": "Ada",
            "lastName": "Okafor",
            "birthDate": "1979-07-21",
            "address": {"line1": "77 Harbor Road", "country": "US"},
            "identifier": "123-45-6789",
        },
    },
    "createDocument": {
        "documentHolder": "Customer:1",
        "documentType": "PASSPORT",
        "documentNumber": "X1234567",
        "issuingAuthority": "Department of State",
        "file": "%PDF-1.4",
    },
    "createVerification": {"customerId": "Customer:1"},
    "createKycLink": {"redirectUri": "https://platform.example/done"},
    "confirmEmail": {"code": "123456"},
    "confirmPhone": {"code": "123456"},
    "createInternalAccount": {
        "type": "RULE_BASED",
        "customerId": "Customer:1",
        "currency": "USD",
        "sweepRule": {"destination": {"accountId": "ExternalAccount:1"}},
    },
    "startFactorReset": {"factor": "TOTP", "endUserIpAddress": "203.0.113.7"},
    "completeFactorReset": {"endUserIpAddress": "203.0.113.7"},
}
"""A valid body for each operation whose faulty ones have to be refused."""


def digest(names: list[str], seed: int = 1) -> str:
    """Return the hash of what is generated for these operations."""
    drawn = [generate(name, seed, FEW_EXAMPLES) for name in names]
    return hashlib.sha256(repr(drawn).encode()).hexdigest()


# --- Collection -----------------------------------------------------------------------------


def test_each_operation_has_one_test_with_an_id_of_its_own() -> None:
    """The id of the test of an operation names that operation."""
    names = [
        test.rpartition("::")[2]
        for test in requirements_by_test()
        if "conformance/fuzz/test_operations" in test
    ]

    assert sorted(names) == sorted(f"test_{operation}" for operation in OPERATIONS)


def test_what_is_held_against_bodies_is_known_of_each_operation_that_refuses_faults() -> None:
    """Operations with ``faulty-body`` have places of faults and a whole body here."""
    refusing = {
        name for name, operation in OPERATIONS.items() if "faulty-body" in operation.requirements
    }

    assert refusing == HELD.keys() == BODIES.keys()


def test_no_examples_leave_fuzzing_out_and_its_libraries_unloaded() -> None:
    """``--fuzz-examples=0`` deselects all of it, models too, and does not load schemathesis."""
    program = (
        "import sys, pytest\n"
        "pytest.main(['conformance/fuzz', '--fuzz-examples=0', '--collect-only', '-q',"
        " '-pno:schemathesis', '-pno:cacheprovider'])\n"
        "print('loaded' if 'schemathesis' in sys.modules else 'not loaded')\n"
    )

    output = python(program)

    assert f"no tests collected ({len(OPERATIONS) + MODEL_TESTS} deselected)" in output
    assert output.endswith("not loaded\n")


# --- Generation -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_seed_gives_the_same_requests_in_another_process_and_order() -> None:
    """Loaded modules and what was drawn before have no influence on the requests."""
    names = ["listTransactions", "authorizeQuote", "createQuote"]
    program = (
        "from conformance.selftest.fuzz.test_fuzz import digest, generate, FEW_EXAMPLES\n"
        f"for name in {names[::-1]}:\n"
        "    generate(name, 1, FEW_EXAMPLES)\n"
        f"print(digest({names}))\n"
    )

    assert python(program).strip() == digest(names)


@pytest.mark.parametrize("name", ["createQuote", "getCustomer", "listTransactions", "getConfig"])
def test_another_seed_gives_other_requests(name: str) -> None:
    """Two seeds draw different requests of one operation."""
    assert digest([name], seed=1) != digest([name], seed=2)


@pytest.mark.parametrize("name", ["createQuote", "createDocument", "getCustomer", "getConfig"])
def test_requests_are_kept_as_they_were_generated(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bodies of JSON, bytes, forms and none come back from the disk, without being generated."""
    monkeypatch.setattr(drawn_module, "place_beside", lambda _, file: tmp_path / file)
    generated = generate(name, 1, FEW_EXAMPLES)

    draw.__wrapped__(name, 1, FEW_EXAMPLES)
    monkeypatch.setattr(generation, "generate", None)
    kept = draw.__wrapped__(name, 1, FEW_EXAMPLES)

    assert list(kept) == generated


def test_another_seed_is_generated_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of one seed is not taken for another one."""
    monkeypatch.setattr(drawn_module, "place_beside", lambda _, file: tmp_path / file)

    draw.__wrapped__("getCustomer", 1, FEW_EXAMPLES)

    assert list(draw.__wrapped__("getCustomer", 2, FEW_EXAMPLES)) == generate(
        "getCustomer", 2, FEW_EXAMPLES
    )


def test_a_larger_number_gives_more_requests() -> None:
    """The number of examples bounds the requests that are drawn."""
    assert len(draw("createQuote", 1, 1)) < len(draw("createQuote", 1, FEW_EXAMPLES))


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_sent_something(name: str) -> None:
    """At least one request of an operation is valid, and none is drawn twice."""
    drawn = draw(name, 1, FEW_EXAMPLES)

    assert any(request.valid for request in drawn)
    assert len({repr(request) for request in drawn}) == len(drawn)


# --- Requests -------------------------------------------------------------------------------


def requests_of(name: str, ground: Ground) -> list[Prepared]:
    """Return the prepared requests of one operation on a ground."""
    return prepared(OPERATIONS[name], draw(name, 1, FEW_EXAMPLES), ground, "1", FEW_EXAMPLES)


def test_requests_reach_a_live_parent_and_unknown_ones() -> None:
    """Generated paths name the existing customer as well as unknown ones."""
    parents = [
        request.path["customerId"] for request in requests_of("getCustomer", live("customerId"))
    ]

    assert "Live:1" in parents
    assert len(set(parents)) > 1


def test_an_invalid_request_is_not_refused_for_its_parent() -> None:
    """Invalid requests name the existing resource, so that their mistake is looked at."""
    drawn = [request for request in draw("authorizeQuote", 1, FEW_EXAMPLES) if not request.valid]

    requests = prepared(OPERATIONS["authorizeQuote"], drawn, live("quoteId"), "1", FEW_EXAMPLES)

    assert {request.path["quoteId"] for request in requests} == {"Live:1"}


def test_a_valid_body_names_live_resources() -> None:
    """Valid bodies name the existing account as well as that of the whole body."""
    ground = Ground(live={"source.accountId": "Live:1"}, body=BODIES["createQuote"])
    bodies = [request.body for request in requests_of("createQuote", ground) if request.body]

    sources = [body["source"] for body in bodies if body["source"]["sourceType"] == "ACCOUNT"]

    assert {source["accountId"] for source in sources} == {"InternalAccount:1", "Live:1"}


def test_what_all_share_is_not_changed() -> None:
    """No JSON object is sent to updateConfig, as the configuration belongs to everybody."""
    contents = [request.content for request in requests_of("updateConfig", Ground())]

    assert contents
    assert not [content for content in contents if content and content.startswith(b"{")]


@pytest.mark.parametrize(
    ("request_", "judged"),
    [
        (Prepared({"quoteId": "Quote:1"}, {}, b"{}", "application/json", ""), True),
        (Prepared({"quoteId": "é"}, {"status": ["a", "b"]}, None, "", ""), True),
        (Prepared({"quoteId": "a\x00"}, {}, None, "", ""), False),
        (Prepared({"quoteId": "a/b"}, {}, None, "", ""), False),
        (Prepared({}, {"status": ["a", "\x1f"]}, None, "", ""), False),
        (Prepared({}, {}, b"{}", "text/plain", ""), False),
    ],
)
def test_answers_that_a_proxy_may_have_given_are_not_judged(
    request_: Prepared,
    judged: bool,
) -> None:
    """Control characters, a slash in an id and a wrong media type make a request not judged."""
    assert request_.judged is judged


def test_hostile_texts_are_sent_as_members_and_as_bodies() -> None:
    """Each hostile text is sent as a whole body, and in members of JSON."""
    operation, ground = OPERATIONS["createQuote"], Ground(body=BODIES["createQuote"])

    contents = {r.content for r in prepared(operation, (), ground, "1", 10_000)}

    assert {text.encode() for text in HOSTILE} <= contents
    assert any(b'"accountId": "\\u0000"' in content for content in contents if content)


# --- Forms ----------------------------------------------------------------------------------

FORM = Ground(
    live={"documentHolder": "Live:1"},
    body={**BODIES["createDocument"], "file": File("x.pdf", "application/pdf", b"%PDF-1.4")},
)


def read_form(request: Prepared) -> Message:
    """Return a form as a parser of e-mail reads it."""
    head = f"Content-Type: {request.content_type}\r\n\r\n".encode()
    return message_from_bytes(head + (request.content or b""))


def test_generated_forms_can_be_taken_apart() -> None:
    """Forms that are judged are multipart, and have all members of the document."""
    requests = [request for request in requests_of("createDocument", FORM) if request.framed]
    forms = [read_form(request) for request in requests if request.judged and request.content]

    names = {
        part.get_param("name", header="content-disposition") for f in forms for part in f.walk()
    }

    assert all(form.is_multipart() or form.get_payload() == "" for form in forms)
    assert names >= BODIES["createDocument"].keys()


def test_a_form_names_live_resources() -> None:
    """At least one form names the existing customer and holds a whole file."""
    contents = [request.content or b"" for request in requests_of("createDocument", FORM)]

    assert any(b"Live:1" in content and b"%PDF-1.4" in content for content in contents)


def test_hostile_forms_are_not_judged() -> None:
    """A parser before the implementation may refuse a hostile form."""
    requests = prepared(OPERATIONS["createDocument"], (), FORM, "1", 10_000)

    assert len(requests) > len(BODIES["createDocument"])
    assert not [request.note for request in requests if request.judged]


def test_what_is_sent_in_a_form_follows_from_the_seed() -> None:
    """The same seed gives the same form, its boundary included."""
    first, second = requests_of("createDocument", FORM), requests_of("createDocument", FORM)

    assert [request.content for request in first] == [request.content for request in second]


def test_each_request_has_a_key_of_its_own() -> None:
    """No two requests have the same ``Idempotency-Key``."""
    ground = Ground(
        path={"customerId": "Live:1"},
        body=BODIES["createKycLink"],
        headers={"Idempotency-Key": "{key}"},
    )

    keys = [request.headers["Idempotency-Key"] for request in requests_of("createKycLink", ground)]

    assert len(set(keys)) == len(keys)


# --- Forgiveness ----------------------------------------------------------------------------

QUOTE = OPERATIONS["createQuote"].request_schema or {}

FORGIVEN: tuple[tuple[str, Any], ...] = (
    ("lockedCurrencyAmount", "10000"),
    ("lockedCurrencyAmount", " 10,000 "),
    ("lockedCurrencyAmount", 10_000.0),
    ("lockedCurrencyAmount", "1e4"),
    ("lockedCurrencyAmount", True),
    ("lockedCurrencyAmount", [10_000]),
    ("lockedCurrencySide", "sending"),
    ("lockedCurrencySide", ["SENDING"]),
    ("lockedCurrencySide", 0),
    ("immediatelyExecute", "true"),
    ("immediatelyExecute", 1),
    ("immediatelyExecute", ""),
    ("immediatelyExecute", None),
    ("description", 17),
    ("description", None),
    ("remittanceInformation", "x" * 80 + "  "),
    ("remittanceInformation", "e\u0301" * 80),
    ("unknown", {"a": []}),
    ("source", {"sourceType": "account", "accountId": 17}),
    ("source", [{"sourceType": "ACCOUNT", "accountId": "InternalAccount:1", "more": 1}]),
    ("source", {"sourceType": "REALTIME_FUNDING", "currency": "USD", "customerId": None}),
)

NOT_FORGIVEN: tuple[tuple[str, Any], ...] = (
    ("lockedCurrencyAmount", "plenty"),
    ("lockedCurrencyAmount", 10_000.5),
    ("lockedCurrencyAmount", "10000.5"),
    ("lockedCurrencyAmount", -1),
    ("lockedCurrencyAmount", None),
    ("lockedCurrencyAmount", [1, 2]),
    ("lockedCurrencyAmount", {}),
    ("lockedCurrencySide", "SIDEWAYS"),
    ("lockedCurrencySide", None),
    ("immediatelyExecute", "sometimes"),
    ("immediatelyExecute", [True, False]),
    ("description", {}),
    ("remittanceInformation", "x" * 81),
    ("source", None),
    ("source", []),
    ("source", "InternalAccount:1"),
    ("source", {"sourceType": "ACCOUNT"}),
    ("source", {"sourceType": "BURIED_TREASURE", "accountId": "InternalAccount:1"}),
)


@pytest.mark.parametrize(("name", "value"), FORGIVEN)
def test_what_an_honest_implementation_may_read_need_not_be_refused(name: str, value: Any) -> None:
    """Coercion, case, null for absence and unknown members are tolerated."""
    assert not must_be_refused(QUOTE, {**BODIES["createQuote"], name: value})


@pytest.mark.parametrize(("name", "value"), NOT_FORGIVEN)
def test_what_nobody_can_read_has_to_be_refused(name: str, value: Any) -> None:
    """Values of which no coercion makes a valid one have to be refused."""
    assert must_be_refused(QUOTE, {**BODIES["createQuote"], name: value})


@pytest.mark.parametrize("body", [None, 17, "text", [], [1, 2], [None, None]])
def test_a_body_that_is_no_object_has_to_be_refused(body: Any) -> None:
    """Null, scalars and lists as a body have to be refused, an empty list too."""
    assert must_be_refused(QUOTE, body)


@pytest.mark.parametrize("number", ["0210-0002-1", " 021000021", "\uff10\uff12\uff11000021"])
def test_digits_may_be_written_in_groups(number: str) -> None:
    """Spaces, hyphens and other digits in a number are tolerated, and letters are not."""
    schema = OPERATIONS["createExternalAccount"].request_schema or {}
    info = {**BODIES["createExternalAccount"]["accountInfo"], "routingNumber": number}

    assert not must_be_refused(schema, {"currency": "USD", "accountInfo": info})
    assert must_be_refused(
        schema, {"currency": "USD", "accountInfo": {**info, "routingNumber": "x"}}
    )


def test_a_reading_leaves_what_it_cannot_improve() -> None:
    """``reading`` drops null only where the schema forbids it, and makes up no value."""
    schema = {"properties": {"a": {"type": ["string", "null"]}, "b": {"type": "integer"}}}

    assert reading(schema, {"a": None, "b": None, "c": None}) == {"a": None, "c": None}
    assert reading(schema, {"b": "x"}) == {"b": "x"}


# --- Faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BODIES)
def test_a_faulty_body_differs_from_a_valid_one_in_one_place(name: str) -> None:
    """The one difference is at a place for which the operation has to refuse faults."""
    operation, base = OPERATIONS[name], BODIES[name]

    faulty = faults(operation, base, draw(name, 1, FEW_EXAMPLES), 1_000)

    assert not must_be_refused(operation.request_schema or operation.form_schema or {}, base)
    assert faulty
    for fault in faulty:
        assert fault.place in HELD[name]
        if fault.place:
            assert differences(base, fault.body) == [fault.place]


def test_zero_and_what_is_read_as_zero_are_spared() -> None:
    """No fault is made of an amount of 0, whose refusal is only recommended."""
    drawn = [quote(lockedCurrencyAmount=value) for value in (0, "0", False, -1)]

    faulty = faults(OPERATIONS["createQuote"], BODIES["createQuote"], drawn, 1_000)

    assert {fault.body["lockedCurrencyAmount"] for fault in faulty} == {-1, "-1"}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("createQuote", {"source": {"sourceType": "REALTIME_FUNDING", "accountId": "x"}}),
        ("createCustomer", {"customerType": "BUSINESS"}),
        ("createBeneficialOwner", {"personalInfo": []}),
    ],
)
def test_values_that_are_right_in_themselves_are_spared(name: str, body: Json) -> None:
    """No fault is made of a value that is valid but lacks others beside it."""
    drawn = [Drawn({}, {}, {**BODIES[name], **body}, "application/json", valid=False, note="")]

    assert faults(OPERATIONS[name], BODIES[name], drawn, 1_000) == []


def test_members_that_need_not_be_looked_at_are_spared() -> None:
    """No fault is made of members that an implementation may ignore."""
    drawn = [quote(purposeOfPayment={}, platformFeeOverride=1), quote(source={"accountId": "x"})]

    assert faults(OPERATIONS["createQuote"], BODIES["createQuote"], drawn, 1_000) == []


def live(name: str) -> Ground:
    """Return a ground whose path parameter names the resource ``Live:1``, which exists."""
    return Ground(path={name: "Live:1"})


def quote(**members: Any) -> Drawn:
    """Return an invalid request for a quote with other members."""
    body = {**BODIES["createQuote"], **members}
    return Drawn({}, {}, body, "application/json", valid=False, note="")


def differences(base: Json, other: Json, place: str = "") -> list[str]:
    """Return the dotted paths at which two bodies differ."""
    places = []
    for name in sorted({*base, *other}):
        here = f"{place}.{name}" if place else name
        old, new = base.get(name, ABSENT), other.get(name, ABSENT)
        if isinstance(old, dict) and isinstance(new, dict):
            places += differences(old, new, here)
        elif repr(old) != repr(new):
            places.append(here)
    return places


def python(program: str) -> str:
    """Run a program in a Python process of its own and return what it prints."""
    completed = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return completed.stdout


def test_each_account_type_is_generated_from_alone() -> None:
    """Each type of account has a schema without conditions, in which it is the only one."""
    operation = OPERATIONS["createExternalAccount"]
    kinds = sorted(generation._kinds(operation.request_schema))
    types = {path.stem.upper() for path in (ROOT / "fixtures" / "accounts").glob("*.yaml")}

    assert types <= set(kinds)
    for kind in kinds:
        schema = generation._of_kind(operation.request_schema, kind)
        assert "allOf" not in schema
        info = schema["properties"]["accountInfo"]
        assert "allOf" not in info
        assert info["properties"]["accountType"]["const"] == kind
        assert set(info["required"]) <= {*info["properties"]}
        assert {"const", "enum"} & {*schema["properties"]["currency"]}


@pytest.mark.parametrize(
    ("fault", "status", "fields", "shares"),
    [
        (None, 201, [], (1, 0, 0)),
        ("a.b", 400, [], (0, 1, 0)),
        ("a.b", 400, ["x.b"], (0, 1, 0)),
        ("", 422, ["x"], (0, 1, 0)),
        ("a.b", 400, ["a"], (0, 0, 1)),
        ("a.b", 404, [], (0, 0, 1)),
        (None, 400, [], (0, 0, 1)),
    ],
)
def test_a_share_tells_why_requests_were_refused(
    fault: str | None, status: int, fields: list[str], shares: tuple[int, int, int]
) -> None:
    """A refusal is for the fault where it is of the request, and names no other field."""
    request = Prepared({}, {}, b"{}", "application/json", "", fault=fault)
    errors = [{"field": field} for field in fields]
    answer: Any = SimpleNamespace(
        status=status, accepted=status < 300, body={"details": {"errors": errors}}
    )

    found = share([(request, answer)])

    assert (found.accepted, found.intended, found.other) == shares
    assert "of 1 generated requests" in str(found)
