"""Walks along links: what a link hands on, where a walk goes, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.exchange.journal import Exchange
from conformance.fuzz import links as module
from conformance.fuzz.drawn import ABSENT, Drawn
from conformance.fuzz.links import STEPS, Followed, Walks, sources
from conformance.fuzz.requests import Prepared
from conformance.fuzz.test_links import DECIDED, LINKED, READ, _expect_read, _expect_unbroken
from conformance.platform.grounds.ground import Ground
from conformance.verdict.decisions import (
    Broken,
    Irrevocable,
    ReadOnly,
    ResourceMissing,
    TriggerMissing,
)

OPERATIONS = document().operations
CREATED = {"id": "Customer:1"}


def answer(name: str, status: int, body: Any = None) -> Answer:
    """Return the answer of an operation."""
    exchange = Exchange("w-1", "t", name, "GET", "/", {}, None, status, {}, body, 0.1)
    return Answer(OPERATIONS[name], status, {}, body, exchange)


def followed(
    name: str, status: int, body: Any = None, *, path: Mapping[str, str] | None = None
) -> Followed:
    """Return a request that was sent, and its answer."""
    return Followed(answer(name, status, body), path or {}, {}, (name,), is_read=True)


class Target:
    """Answers in the place of a target, as ``answers`` says by operation; else with 204."""

    def __init__(self, answers: Mapping[str, tuple[int, Any]]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def send(self, _platform: Any, operation: Operation, request: Prepared) -> Answer:
        """Answer a request, and note it."""
        self.asked.append((operation.id, request.path))
        return answer(operation.id, *self.answers.get(operation.id, (204, None)))


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Walks:
    """Walks on ground that needs nothing, with the same body for each operation."""
    body = Drawn({}, {}, {"fullName": "Ada Okafor"}, "application/json", valid=True, note="drawn")
    monkeypatch.setattr(module, "draw", lambda *_: (body,))
    monkeypatch.setattr(module, "ground", lambda *_: Ground())
    platform: Any = SimpleNamespace()
    return Walks(platform, seed=1, examples=1)


class TestLinks:
    """What a link hands on to the next request."""

    def test_a_member_of_the_answer_becomes_a_part_of_the_path(self) -> None:
        """The id of a created customer is that of the one to read, and of one to submit."""
        found = {link.name: link for link in followed("createCustomer", 201, CREATED).links()}

        assert found["readCustomer"].operation.id == "getCustomer"
        assert found["readCustomer"].path == {"customerId": "Customer:1"}
        assert found["submitCustomer"].body == {"customerId": "Customer:1"}
        assert found["readSubmissions"].query == {"customerId": "Customer:1"}

    def test_a_part_of_the_request_is_handed_on(self) -> None:
        """Who was invited can be read: the customer of the path."""
        invited = followed("createKycLink", 201, {}, path={"customerId": "Customer:2"})

        paths = [link.path for link in invited.links() if link.operation.id == "getCustomer"]

        assert paths == [{"customerId": "Customer:2"}]

    @pytest.mark.parametrize("body", [None, [], {}, {"id": None}, "x", {"i": {"d": 1}}])
    def test_what_the_answer_lacks_leads_nowhere(self, body: Any) -> None:
        """A link is followed only with all that it hands on."""
        names = [link.name for link in followed("createCustomer", 201, body).links()]

        assert "readCustomer" not in names

    def test_another_status_has_no_links(self) -> None:
        """Of a refusal nothing is followed."""
        assert list(followed("createCustomer", 400, CREATED).links()) == []


class TestWalks:
    """Where walks go."""

    def test_a_walk_follows_the_links_of_its_answers(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each step asks what a link of an answer names, and each link has its turn."""
        target = Target({"createCustomer": (201, CREATED)})
        monkeypatch.setattr(module, "send", target.send)

        for _ in range(4):
            walks.walk(OPERATIONS["createCustomer"])

        linked = {link.operation.id for link in followed("createCustomer", 201, CREATED).links()}
        assert {"createCustomer", *linked} <= {name for name, _ in target.asked}
        assert ("getCustomer", {"customerId": "Customer:1"}) in target.asked
        assert len(target.asked) == 4 * (STEPS + 1)
        read = walks.followed["getCustomer"][0]
        assert read.is_read
        assert str(read) == "createCustomer [w-1] 201 → getCustomer [w-1] 204"

    def test_the_same_seed_walks_the_same_way(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is sent follows from the seed and the answers."""
        asked = []
        for again in (walks, Walks(walks.platform, seed=1, examples=1)):
            target = Target({"createCustomer": (201, CREATED)})
            monkeypatch.setattr(module, "send", target.send)
            again.walk(OPERATIONS["createCustomer"])
            asked.append(target.asked)

        assert asked[0] == asked[1]

    def test_what_was_deleted_need_not_be_read(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An account that a walk has deleted is not expected to be there."""
        account = {"id": "ExternalAccount:1"}
        target = Target({"createExternalAccount": (201, account)})
        monkeypatch.setattr(module, "send", target.send)

        for _ in range(6):
            walks.walk(OPERATIONS["createExternalAccount"])

        names = [name for name, _ in target.asked]
        before = names[: names.index("deleteExternalAccount")].count("getExternalAccount")
        reads = [one.is_read for one in walks.followed["getExternalAccount"]]
        assert before < len(reads)
        assert reads == [True] * before + [False] * (len(reads) - before)

    @pytest.mark.parametrize("missing", [TriggerMissing, ResourceMissing])
    def test_what_has_no_ground_is_left_out(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch, missing: type[Exception]
    ) -> None:
        """A walk does not begin where the target does not offer what it needs."""

        def ground(*_: Any) -> Ground:
            raise missing("x")

        target = Target({})
        monkeypatch.setattr(module, "send", target.send)
        monkeypatch.setattr(module, "ground", ground)

        walks.walk(OPERATIONS["createCustomer"])

        assert target.asked == []

    def test_a_target_that_may_only_be_read_ends_the_walks(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """That is the reason then, and not that something is not offered."""

        def ground(*_: Any) -> Ground:
            raise ReadOnly("it is no sandbox")

        monkeypatch.setattr(module, "ground", ground)

        with pytest.raises(ReadOnly):
            walks.walk(OPERATIONS["createCustomer"])

    def test_what_cannot_be_undone_is_not_sent(
        self, walks: Walks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request that the profile does not permit ends nothing."""

        def refuse(*_: Any) -> Answer:
            raise Irrevocable("it burns money")

        monkeypatch.setattr(module, "send", refuse)

        walks.walk(OPERATIONS["createStablecoin"])

        assert walks.followed == {}

    def test_a_request_without_a_body_gets_none(self, walks: Walks) -> None:
        """What was generated for bodies is not sent to operations without one."""
        assert walks._drawn(OPERATIONS["getCustomer"], {}, {}).body is ABSENT
        assert walks._drawn(OPERATIONS["createCustomer"], {}, {}).body == {"fullName": "Ada Okafor"}


class TestVerdicts:
    """What is decided by walks."""

    def test_each_operation_that_links_lead_to_is_decided(self) -> None:
        """Walks begin wherever there are links, and resources are read by their ids."""
        assert {operation.id for operation in sources()} >= {"createCustomer", "createQuote"}
        assert {operation.id for operation in READ} == {
            "getCustomer",
            "getExternalAccount",
            "getFactorReset",
            "listStablecoinOperations",
        }
        assert len(DECIDED) == len(set(DECIDED)) == len(LINKED) + len(READ)

    def test_what_cannot_be_read_fails_with_its_chain(self) -> None:
        """An answer that there is no such customer fails, and says what led to it."""
        lost = followed("getCustomer", 404, {"code": "CUSTOMER_NOT_FOUND", "reason": "no"})

        with pytest.raises(Broken, match="after getCustomer") as raised:
            _expect_read(OPERATIONS["getCustomer"], "CUS-005", [lost])

        assert raised.value.facts.exchange == "w-1"

    def test_another_resource_fails(self) -> None:
        """The answer has to be the resource that the path names."""
        path = {"customerId": "Customer:1"}
        right = followed("getCustomer", 200, CREATED, path=path)
        other = followed("getCustomer", 200, {"id": "Customer:2"}, path=path)

        _expect_read(OPERATIONS["getCustomer"], "CUS-005", [right])
        with pytest.raises(Broken, match="expected the one that is named by Customer:1"):
            _expect_read(OPERATIONS["getCustomer"], "CUS-005", [right, other])

    def test_what_is_not_offered_decides_nothing(self) -> None:
        """Where no link leads to an operation, or it is not offered, nothing is said about it."""
        operation = OPERATIONS["getCustomer"]
        busy = followed("getCustomer", 503)

        for met in ([], [busy]):
            with pytest.raises(ResourceMissing):
                _expect_read(operation, "CUS-005", met)
            with pytest.raises(ResourceMissing):
                _expect_unbroken(operation, met)

    def test_a_server_error_fails(self) -> None:
        """An accepted answer does not hide it."""
        answers = [followed("getCustomer", 200, CREATED), followed("getCustomer", 500)]

        with pytest.raises(Broken, match="expected no server error"):
            _expect_unbroken(OPERATIONS["getCustomer"], answers)
