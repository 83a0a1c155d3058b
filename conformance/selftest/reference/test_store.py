"""The database of the reference: what a transaction leaves, and what is read anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import IntegrityError

from conformance.reference.store import (
    KycLink,
    LedgerAccount,
    Paperwork,
    Store,
    ledger_accounts,
)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty database in memory, and one in a file."""
    url = "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path}/reference.db"
    opened = Store(url)
    opened.create()
    yield opened
    opened.close()


def ids(store: Store) -> set[str]:
    """Return the ids of all rows of a table."""
    with store.transaction() as session:
        return set(session.scalars(select(Paperwork.id)))


def insert(store: Store, identifier: str) -> None:
    """Insert a row."""
    with store.transaction() as session:
        session.add(Paperwork(id=identifier))


def insert_without_owner(store: Store) -> None:
    """Insert a row whose commit fails, as nothing in it may be missing."""
    with store.transaction() as session:
        session.add(KycLink(id="b", url="https://a", used=False, expires_at=0, created_at=0))


def fail_after_reading(store: Store, identifier: str) -> None:
    """Read a row in a transaction that an exception ends."""
    with store.transaction() as session:
        assert session.get(Paperwork, identifier) is not None
        raise LookupError


def fail_after_inserting(store: Store, identifier: str, *, flushed: bool) -> None:
    """Insert a row in a transaction that an exception ends."""
    with store.transaction() as session:
        session.add(Paperwork(id=identifier))
        if flushed:
            session.flush()
        raise LookupError


def test_what_is_committed_stays(store: Store) -> None:
    """A row is there in the next transaction."""
    insert(store, "a")

    assert ids(store) == {"a"}


@pytest.mark.parametrize("flushed", [False, True])
def test_an_exception_takes_back_what_was_written(store: Store, flushed: bool) -> None:
    """Nothing of the transaction is left, sent to the database or not."""
    insert(store, "a")

    with pytest.raises(LookupError):
        fail_after_inserting(store, "b", flushed=flushed)

    assert ids(store) == {"a"}


def test_a_commit_that_fails_leaves_a_store_that_works(store: Store) -> None:
    """After a row that lacks what it has to have, others can be inserted."""
    with pytest.raises(IntegrityError):
        insert_without_owner(store)
    insert(store, "a")

    assert ids(store) == {"a"}


@pytest.mark.parametrize("lock", [False, True])
def test_a_ledger_account_of_the_same_transaction_is_found(store: Store, lock: bool) -> None:
    """What was added and changed before is written before it is read, whether locked or not."""
    with store.transaction() as session:
        opened = LedgerAccount(id="a", currency="USD", guarded=True, balance=0)
        session.add(opened)
        assert ledger_accounts(session, ["a"], lock=lock) == {"a": opened}
        opened.balance = 5

        assert ledger_accounts(session, ["a"], lock=lock)["a"].balance == 5


def test_nothing_is_left_of_an_emptied_store(store: Store) -> None:
    """A row is neither listed nor found by its id any more."""
    insert(store, "a")

    store.empty()

    assert ids(store) == set()
    with store.transaction() as session:
        assert session.get(Paperwork, "a") is None


def test_a_row_in_memory_is_found_without_a_query() -> None:
    """Neither a commit nor an exception in a transaction that wrote nothing makes it forgotten."""
    store = Store("sqlite://")
    store.create()
    insert(store, "a")
    queries: list[str] = []
    event.listen(
        store.engine, "before_cursor_execute", lambda *arguments: queries.append(arguments[2])
    )

    with pytest.raises(LookupError):
        fail_after_reading(store, "a")
    with store.transaction() as session:
        assert session.get(Paperwork, "a", with_for_update=True) is not None

    assert queries == []
    store.close()
