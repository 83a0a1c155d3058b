"""The audit notices money that is made or lost, and has nothing against conforming targets."""

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
from conformance.platform.waiting import Patience, Waiting
from conformance.proof.patch import Patch
from conformance.reference.internal_accounts.ledger import Leg, available, system
from conformance.reference.transactions import settlement
from conformance.run import Connection
from conformance.sut.target import Target

ACCOUNT = "InternalAccount:1"


class Books:
    """What an audit reads from a platform: ledger, transactions and balances.

    Without a second one of the ``balances`` the account shows no total.
    """

    def __init__(self, deposit: int, balances: tuple[int, int | None]) -> None:
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
        """Enter a quote from or to the account, and its transaction unless that is ``None``."""
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
        """Yield the listed transactions."""
        yield from self._transactions

    def until(self, read: Callable[[], list[str]], _wanted: object) -> list[str]:
        """Read once, as nothing changes here."""
        return read()

    def read(self, _account: Json) -> Json:
        """Return the account with its balances."""
        balance, total = ({"amount": amount} for amount in self._balances)
        return {"balance": balance, "totalBalance": total if total["amount"] is not None else None}


def run_audit(books: Books) -> list[str] | None:
    """Return the problems that the audit finds; ``None`` where it looks at nothing."""
    return audit(cast(Platform, books))


def test_what_a_stablecoin_takes_from_an_account_is_open() -> None:
    """An account that an operation with a stablecoin named is not looked at."""
    books = Books(100, (60, 60))
    books.quote(1, 10, {"status": "COMPLETED"})
    assert run_audit(books)

    books.ledger.issuing.add(ACCOUNT)

    assert run_audit(books) is None


def test_a_balance_without_a_total_may_lack_what_is_held() -> None:
    """A quote that waits may hold its amount, and no more than that."""
    for balance, is_right in ((100, True), (60, True), (59, False), (101, False)):
        books = Books(100, (balance, None))
        books.quote(1, 40, {"status": "PENDING"})

        assert (run_audit(books) == []) is is_right


class TestSums:
    """What may be left after a quote of 40 from a deposit of 100."""

    @pytest.mark.parametrize(
        ("transaction", "conforming", "wrong"),
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
    def test_of(self, transaction: Json | None, conforming: list[int], wrong: list[int]) -> None:
        """A total that some reading of the specification allows passes, and no other."""
        for total in conforming + wrong:
            books = Books(100, (total, total))
            books.quote(1, 40, transaction)

            assert bool(run_audit(books)) is (total in wrong), total

    @pytest.mark.parametrize(("total", "conforms"), [(100, True), (97, True), (96, False)])
    def test_a_refund_may_keep_the_fees(self, total: int, conforms: bool) -> None:
        """Of a refunded quote with a fee of 3 no more than 3 may be missing."""
        books = Books(100, (total, total))
        books.quote(1, 40, {"status": "REFUNDED"})
        books.ledger.quotes["Quote:1"] = {**books.ledger.quotes["Quote:1"], "feesIncluded": 3}

        assert (run_audit(books) == []) is conforms

    @pytest.mark.parametrize(("total", "conforms"), [(60, True), (35, True), (34, False)])
    def test_what_went_back_may_be_missing(self, total: int, conforms: bool) -> None:
        """A deposit of 25 that was to be returned may be missing, and no more than that."""
        books = Books(100, (total, total))
        books.quote(1, 40, {"status": "COMPLETED"})
        books.ledger.returned[ACCOUNT] = 25

        assert (run_audit(books) == []) is conforms

    def test_what_comes_in_is_added(self) -> None:
        """A completed quote to an internal account adds its receiving amount."""
        books = Books(100, (130, 130))
        books.quote(1, 30, {"status": "COMPLETED"}, into=True)

        assert run_audit(books) == []

    def test_a_transfer_to_itself_changes_nothing(self) -> None:
        """A quote from and to the same account leaves its total."""
        books = Books(100, (100, 100))
        books.quote(1, 30, {"status": "COMPLETED"})
        quote = {**books.ledger.quotes["Quote:1"], "destination": {"accountId": ACCOUNT}}
        books.ledger.quotes["Quote:1"] = quote

        assert run_audit(books) == []

    def test_quotes_add_up(self) -> None:
        """Each quote in flight widens the range of allowed totals."""
        books = Books(100, (50, 50))
        books.quote(1, 10, {"status": "COMPLETED"})
        books.quote(2, 20, {"status": "PROCESSING"})
        books.quote(3, 20, {"status": "PROCESSING"})

        assert run_audit(books) == []

    def test_the_message_says_what_is_left_and_what_should_be(self) -> None:
        """The message names the account, its total and the expected total."""
        books = Books(100, (100, 100))
        books.quote(1, 40, {"status": "COMPLETED"})

        assert run_audit(books) == [
            f"{ACCOUNT}: totalBalance is 100, but its deposits and completed quotes leave 60"
        ]

    @pytest.mark.parametrize("balance", [-1, 101])
    def test_a_balance_lies_between_nothing_and_the_total(self, balance: int) -> None:
        """A balance below 0 or above the total is a problem."""
        books = Books(100, (balance, 100))
        books.quote(1, 40, {"status": "PENDING"})

        assert run_audit(books) == [
            f"{ACCOUNT}: balance {balance} is not between 0 and totalBalance 100"
        ]

    def test_held_funds_are_no_loss(self) -> None:
        """The balance may be lower than the total by the amount of a pending quote."""
        books = Books(100, (60, 100))
        books.quote(1, 40, {"status": "PENDING"})

        assert run_audit(books) == []

    def test_nothing_is_asked_where_nothing_moved(self) -> None:
        """A test without quotes is not audited."""
        assert run_audit(Books(100, (7, 7))) is None


class TestReference:
    """The audit of tests against the reference."""

    @pytest.fixture
    def platform(self, reference_target: Target, tmp_path: Path) -> Generator[Platform]:
        """Return a platform on the reference."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        platform = connection.platform("test_x")
        # The audit looks again for as long as something is wrong.
        timing = platform.profile.timing.model_copy(update={"state": 0.3})
        platform.until = Waiting(timing, Patience()).until
        yield platform
        connection.close()

    @pytest.fixture
    def patch(self) -> Generator[Patch]:
        """Return what changes the reference until the test ends."""
        patching = Patch()
        yield patching
        patching.revert()

    def test_an_honest_target_passes(self, platform: Platform) -> None:
        """After a deposit and an execution, settled or not, the audit finds nothing."""
        platform.quotes.execute()

        assert audit(platform) == []

    def test_money_that_came_before_the_first_deposit_is_not_counted_twice(
        self, platform: Platform
    ) -> None:
        """Money that a quote brought before the first deposit keeps an account from the audit."""
        owner = platform.approved.customer()
        account = platform.internal_accounts.account(amount=0, customer=owner)
        bank = {**platform.external_accounts.pullable(owner), "customerId": owner["id"]}
        platform.quotes.complete(platform.quotes.pending(bank, account))

        platform.internal_accounts.deposit(account, 1_000)

        assert audit(platform) is None

    def test_a_dishonest_one_does_not(self, platform: Platform, patch: Patch) -> None:
        """A reference that loses a cent with every completed payment is noticed."""
        patch.wrap(settlement, "completion_legs", lose_a_cent)

        platform.quotes.complete(platform.quotes.pending(amount=10_000))

        (problem,) = audit(platform) or [""]
        assert "totalBalance is 89999, but its deposits and completed quotes leave 90000" in problem

    def test_a_refund_that_is_short_is_seen(self, platform: Platform, patch: Patch) -> None:
        """A refund that lacks more than the fees is noticed."""
        patch.wrap(settlement, "refund_legs", lose_more_than_the_fees)

        quote = platform.quotes.payout(trigger="payout.return")
        platform.webhooks.wait_for("OUTGOING_PAYMENT.REFUND_COMPLETED", quote["transactionId"])

        (problem,) = audit(platform) or [""]
        least = 100_000 - quote["feesIncluded"]
        assert (
            f"totalBalance is {least - 1}, but its deposits and completed quotes leave" in problem
        )


def lose_a_cent(original: Callable[..., list[Leg]], quote: Any, *more: Any) -> list[Leg]:
    """Return the legs of ``original`` and two by which the source loses a cent."""
    source, currency = available(quote.source["accountId"]), quote.sending_currency
    loss = [Leg(source, currency, -1), Leg(system("rail", currency), currency, 1)]
    return [*original(quote, *more), *loss]


def lose_more_than_the_fees(
    original: Callable[..., list[Leg]], quote: Any, *more: Any
) -> list[Leg]:
    """Return the legs of ``original`` and two by which the source loses the fees and a cent."""
    source, currency = available(quote.source["accountId"]), quote.sending_currency
    lost = quote.variable_fee + quote.platform_fee + 1
    loss = [Leg(source, currency, -lost), Leg(system("rail", currency), currency, lost)]
    return [*original(quote, *more), *loss]
