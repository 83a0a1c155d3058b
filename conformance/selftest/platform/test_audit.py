"""The audit: money that is made or lost is seen, and honest targets are left in peace."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from conformance.exchange.folder import RunFolder
from conformance.platform.audit import audit
from conformance.platform.ledger import Ledger
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.platform.waiting import Waiting
from conformance.proof.patch import Patch
from conformance.reference import settlement
from conformance.reference.ledger import Leg, available, system
from conformance.run import Connection
from conformance.sut.target import Target

ACCOUNT = "InternalAccount:1"


class Books:
    """What an audit asks a platform for."""

    def __init__(self, deposit: int, balances: tuple[int, int]) -> None:
        self.ledger = Ledger(
            deposits={ACCOUNT: deposit},
            accounts={ACCOUNT: Resource({"id": ACCOUNT, "customerId": "Customer:1"})},
        )
        self.transactions = self.internal_accounts = self
        self._balances = balances
        self._transactions: list[Json] = []

    def quote(
        self, number: int, amount: int, transaction: Json | None, *, into: bool = False
    ) -> None:
        """Enter a quote from or to the account, and its transaction if it is listed."""
        here, there = {"accountId": ACCOUNT}, {"accountId": "ExternalAccount:1"}
        self.ledger.quotes[f"Quote:{number}"] = {
            "transactionId": f"Transaction:{number}",
            "source": there if into else here,
            "destination": here if into else there,
            "totalSendingAmount": amount,
            "totalReceivingAmount": amount,
        }
        if transaction is not None:
            self._transactions.append({"id": f"Transaction:{number}", **transaction})

    def of_customer(self, _owner: str) -> Iterator[Json]:
        """Yield what is listed."""
        yield from self._transactions

    def until(self, read: Callable[[], list[str]], _wanted: object) -> list[str]:
        """Read once: nothing changes here."""
        return read()

    def balances(self, _account: Json) -> tuple[int, int]:
        """Return balance and total balance."""
        return self._balances


def audited(books: Books) -> list[str] | None:
    """Return what the audit finds."""
    return audit(cast(Platform, books))


class TestSums:
    """What may be left after a quote of 40 from a deposit of 100."""

    @pytest.mark.parametrize(
        ("transaction", "honest", "dishonest"),
        [
            pytest.param({"status": "COMPLETED"}, [60], [100, 59, 61], id="completed"),
            pytest.param({"status": "PROCESSING"}, [60, 100], [59, 101], id="in flight"),
            pytest.param({"status": "PENDING"}, [100], [60], id="not executed"),
            pytest.param({"status": "PENDING_AUTHORIZATION"}, [100], [60], id="not authorized"),
            pytest.param({"status": "EXPIRED"}, [100], [60], id="expired"),
            pytest.param({"status": "FAILED"}, [60, 100], [59, 140], id="failed"),
            pytest.param(
                {"status": "FAILED", "refund": {"status": "PENDING"}},
                [60, 100],
                [140],
                id="being refunded",
            ),
            pytest.param(
                {"status": "FAILED", "refund": {"status": "COMPLETED"}},
                [100],
                [60, 140],
                id="refunded",
            ),
            pytest.param({"status": "REFUND_COMPLETED"}, [100], [60], id="refunded by status"),
            pytest.param({"status": "REFUNDED"}, [100], [60], id="refunded by another"),
            pytest.param(None, [60, 100], [59, 101], id="not listed"),
            pytest.param({"status": "UNHEARD_OF"}, [60, 100], [59, 101], id="unknown status"),
        ],
    )
    def test_of(self, transaction: Json | None, honest: list[int], dishonest: list[int]) -> None:
        """Each reading of the specification is honest; money from nowhere is not."""
        for total in honest + dishonest:
            books = Books(100, (total, total))
            books.quote(1, 40, transaction)

            assert bool(audited(books)) is (total in dishonest), total

    @pytest.mark.parametrize(("total", "is_honest"), [(60, True), (35, True), (34, False)])
    def test_what_went_back_may_be_missing(self, total: int, is_honest: bool) -> None:
        """A deposit of 25 was to be returned to its sender."""
        books = Books(100, (total, total))
        books.quote(1, 40, {"status": "COMPLETED"})
        books.ledger.returned[ACCOUNT] = 25

        assert (audited(books) == []) is is_honest

    def test_what_comes_in_is_added(self) -> None:
        """A quote may lead to an internal account."""
        books = Books(100, (130, 130))
        books.quote(1, 30, {"status": "COMPLETED"}, into=True)

        assert audited(books) == []

    def test_a_transfer_to_itself_changes_nothing(self) -> None:
        """What goes out comes in."""
        books = Books(100, (100, 100))
        books.quote(1, 30, {"status": "COMPLETED"})
        quote = {**books.ledger.quotes["Quote:1"], "destination": {"accountId": ACCOUNT}}
        books.ledger.quotes["Quote:1"] = quote

        assert audited(books) == []

    def test_quotes_add_up(self) -> None:
        """Each that is in flight widens the range."""
        books = Books(100, (50, 50))
        books.quote(1, 10, {"status": "COMPLETED"})
        books.quote(2, 20, {"status": "PROCESSING"})
        books.quote(3, 20, {"status": "PROCESSING"})

        assert audited(books) == []

    def test_the_message_says_what_is_left_and_what_should_be(self) -> None:
        """For the account."""
        books = Books(100, (100, 100))
        books.quote(1, 40, {"status": "COMPLETED"})

        assert audited(books) == [
            f"{ACCOUNT}: totalBalance is 100, but its deposits and completed quotes leave 60"
        ]

    @pytest.mark.parametrize("balance", [-1, 101])
    def test_a_balance_lies_between_nothing_and_the_total(self, balance: int) -> None:
        """Held funds are in the total alone."""
        books = Books(100, (balance, 100))
        books.quote(1, 40, {"status": "PENDING"})

        assert audited(books) == [
            f"{ACCOUNT}: balance {balance} is not between 0 and totalBalance 100"
        ]

    def test_held_funds_are_no_loss(self) -> None:
        """They are still there."""
        books = Books(100, (60, 100))
        books.quote(1, 40, {"status": "PENDING"})

        assert audited(books) == []

    def test_nothing_is_asked_where_nothing_moved(self) -> None:
        """A test that only reads pays nothing for the audit."""
        assert audited(Books(100, (7, 7))) is None


class TestReference:
    """The audit of real tests."""

    @pytest.fixture
    def platform(self, reference_target: Target, tmp_path: Path) -> Generator[Platform]:
        """A platform on the reference."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        platform = connection.platform("test_x")
        # The audit looks again for as long as something is wrong.
        timing = platform.profile.timing.model_copy(update={"state": 0.3})
        platform.until = Waiting(timing).until
        yield platform
        connection.close()

    @pytest.fixture
    def patch(self) -> Generator[Patch]:
        """Changes to the reference, which end with the test."""
        patching = Patch()
        yield patching
        patching.revert()

    def test_an_honest_target_passes(self, platform: Platform) -> None:
        """After a deposit and an execution, settled or not."""
        platform.quotes.execute()

        assert audit(platform) == []

    def test_money_that_came_before_the_first_deposit_is_not_counted_twice(
        self, platform: Platform
    ) -> None:
        """Here a quote pulled it, which is a quote of the test as well."""
        owner = platform.approved.customer()
        account = platform.internal_accounts.account(amount=0, customer=owner)
        bank = {**platform.external_accounts.pullable(owner), "customerId": owner["id"]}
        platform.quotes.complete(platform.quotes.pending(bank, account))

        platform.internal_accounts.deposit(account, 1_000)

        assert audit(platform) is None

    def test_a_dishonest_one_does_not(self, platform: Platform, patch: Patch) -> None:
        """Here a cent is lost with every payment that arrives."""
        patch.wrap(settlement, "completion_legs", losing_a_cent)

        platform.quotes.complete()

        (problem,) = audit(platform) or [""]
        assert "totalBalance is 89999, but its deposits and completed quotes leave 90000" in problem

    def test_a_refund_that_is_short_is_seen(self, platform: Platform, patch: Patch) -> None:
        """All of the sending amount goes back."""
        patch.wrap(settlement, "refund_legs", losing_a_cent)

        quote = platform.quotes.payout(trigger="payout.return")
        platform.webhooks.wait_for("OUTGOING_PAYMENT.REFUND_COMPLETED", quote["transactionId"])

        (problem,) = audit(platform) or [""]
        assert (
            "totalBalance is 99999, but its deposits and completed quotes leave 100000" in problem
        )


def losing_a_cent(original: Callable[..., list[Leg]], quote: Any, *more: Any) -> list[Leg]:
    """Let the source of a quote lose a cent with the movement that ``original`` returns."""
    source, currency = available(quote.source["accountId"]), quote.sending_currency
    lost = [Leg(source, currency, -1), Leg(system("rail", currency), currency, 1)]
    return [*original(quote, *more), *lost]
