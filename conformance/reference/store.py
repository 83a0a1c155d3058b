"""The database: tables, connections and transactions. Times are microseconds since 1970."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import JSON, BigInteger, String, Text, create_engine, delete, event, inspect, select
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import StaticPool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]

_MANNERS: dict[str, Any] = {"expire_on_commit": False, "autoflush": False}
_MAX_ROWS_HELD = 10_000


class Base(DeclarativeBase):
    """The metadata that all tables share."""

    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads a plain dictionary
        int: BigInteger,
        str: String(255),
        Json: JSON(none_as_null=True),
        list[str]: JSON(),
        list[Json]: JSON(),
    }


class Customer(Base):
    """A person or business that the platform moves money for."""

    __tablename__ = "customers"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_type: Mapped[str]
    status: Mapped[str]
    platform_customer_id: Mapped[str]
    uma_address: Mapped[str]
    region: Mapped[str | None]
    currencies: Mapped[list[str]]
    details: Mapped[Json]
    consent: Mapped[Json | None]
    contact: Mapped[Json]
    """By contact channel that has to be verified: its status and the code sent to it last."""
    conditions: Mapped[Json]
    created_at: Mapped[int]
    updated_at: Mapped[int]


class KycLink(Base):
    """A hosted flow that a customer was invited to."""

    __tablename__ = "kyc_links"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    url: Mapped[str] = mapped_column(Text)
    used: Mapped[bool]
    expires_at: Mapped[int]
    created_at: Mapped[int]


class BeneficialOwner(Base):
    """A person who owns or controls a business."""

    __tablename__ = "beneficial_owners"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    roles: Mapped[list[str]]
    ownership: Mapped[str]
    """Percentage as decimal text."""
    person: Mapped[Json]
    conditions: Mapped[Json]
    created_at: Mapped[int]


class Document(Base):
    """A paper that stands for a fact about its holder; its file is not kept."""

    __tablename__ = "documents"
    id: Mapped[str] = mapped_column(primary_key=True)
    holder_id: Mapped[str] = mapped_column(index=True)
    type: Mapped[str]
    side: Mapped[str | None]
    details: Mapped[Json]
    created_at: Mapped[int]


class Verification(Base):
    """One submission of a customer for review."""

    __tablename__ = "verifications"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    status: Mapped[str]
    errors: Mapped[list[Json]]
    created_at: Mapped[int]


class Paperwork(Base):
    """A platform's own id of customers whose verification paperwork the sandbox skips."""

    __tablename__ = "paperwork"
    id: Mapped[str] = mapped_column(primary_key=True)


class InternalAccount(Base):
    """An account that holds a balance; the platform's have no ``customer_id``."""

    __tablename__ = "internal_accounts"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str | None] = mapped_column(index=True)
    type: Mapped[str]
    status: Mapped[str]
    currency: Mapped[str]
    label: Mapped[str | None]
    sweep_rule: Mapped[Json | None]
    created_at: Mapped[int]
    updated_at: Mapped[int]


class MintedAccount(Base):
    """The rule-based account that was created under an idempotency key, and what was asked for."""

    __tablename__ = "minted_accounts"
    key: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str]
    asked: Mapped[Json]
    unreachable: Mapped[bool]
    """Whether the destination of its sweeps cannot be reached."""


class ExternalAccount(Base):
    """A payment destination outside the service."""

    __tablename__ = "external_accounts"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str | None] = mapped_column(index=True)
    status: Mapped[str]
    currency: Mapped[str]
    account_type: Mapped[str]
    platform_account_id: Mapped[str | None]
    info: Mapped[Json]
    condition: Mapped[str]
    counterparty: Mapped[str]
    """How the institution behind it does: REACHABLE, or what is the matter with it."""
    trust: Mapped[str]
    """NONE, TRUSTED, or UNTRUSTING while an untrusting waits for its confirmation."""
    untrusting: Mapped[Json | None]
    """The challenge that the untrusting waits for, where its customer needs SCA."""
    challenge: Mapped[Json | None]
    """The proof of ownership that was asked for last."""
    deleted: Mapped[bool]
    created_at: Mapped[int]


class Lookup(Base):
    """A lookup of what an external account can receive, which a later quote may name."""

    __tablename__ = "lookups"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str]
    created_at: Mapped[int]


class Quote(Base):
    """The terms of one transfer."""

    __tablename__ = "quotes"
    id: Mapped[str] = mapped_column(primary_key=True)
    transaction_id: Mapped[str]
    status: Mapped[str] = mapped_column(index=True)
    customer_id: Mapped[str | None]
    source_kind: Mapped[str]
    source: Mapped[Json]
    destination_kind: Mapped[str]
    destination: Mapped[Json]
    sending_currency: Mapped[str]
    receiving_currency: Mapped[str]
    sending_amount: Mapped[int]
    receiving_amount: Mapped[int]
    rate: Mapped[str]
    variable_fee_rate: Mapped[str]
    variable_fee: Mapped[int]
    platform_fee: Mapped[int]
    description: Mapped[str | None] = mapped_column(Text)
    instructions: Mapped[list[Json]]
    challenge_id: Mapped[str | None]
    challenges_left: Mapped[int]
    agent_initiated: Mapped[bool]
    stale: Mapped[bool]
    created_at: Mapped[int]
    expires_at: Mapped[int]


class Transaction(Base):
    """The movement of money that a quote created, or a deposit that was to go back."""

    __tablename__ = "transactions"
    id: Mapped[str] = mapped_column(primary_key=True)
    quote_id: Mapped[str | None] = mapped_column(index=True)
    customer_id: Mapped[str | None] = mapped_column(index=True)
    status: Mapped[str] = mapped_column(index=True)
    type: Mapped[str]
    direction: Mapped[str]
    source: Mapped[Json]
    destination: Mapped[Json]
    source_account: Mapped[str | None]
    destination_account: Mapped[str | None]
    sending_currency: Mapped[str]
    sending_amount: Mapped[int]
    receiving_currency: Mapped[str]
    receiving_amount: Mapped[int]
    rate: Mapped[str]
    platform_fee: Mapped[int]
    description: Mapped[str | None] = mapped_column(Text)
    reference: Mapped[str]
    failure_reason: Mapped[str | None]
    pending_reason: Mapped[str | None]
    refund: Mapped[Json | None]
    expires_at: Mapped[int]
    executed_at: Mapped[int | None] = mapped_column(index=True)
    settled_at: Mapped[int | None]
    created_at: Mapped[int] = mapped_column(index=True)
    updated_at: Mapped[int]


class Challenge(Base):
    """One SCA challenge of a quote."""

    __tablename__ = "challenges"
    id: Mapped[str] = mapped_column(primary_key=True)
    quote_id: Mapped[str]
    factor: Mapped[str]
    purpose: Mapped[str]
    expires_at: Mapped[int]
    created_at: Mapped[int]


class Card(Base):
    """A debit card that spends from an internal account."""

    __tablename__ = "cards"
    id: Mapped[str] = mapped_column(primary_key=True)
    cardholder_id: Mapped[str] = mapped_column(index=True)
    account_id: Mapped[str]
    currency: Mapped[str]
    state: Mapped[str]
    form: Mapped[str]
    created_at: Mapped[int]
    updated_at: Mapped[int]


class CardTransaction(Base):
    """A purchase with a card, or a merchant's payment back to it."""

    __tablename__ = "card_transactions"
    id: Mapped[str] = mapped_column(primary_key=True)
    card_id: Mapped[str] = mapped_column(index=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    account_id: Mapped[str]
    status: Mapped[str]
    direction: Mapped[str]
    currency: Mapped[str]
    authorized: Mapped[int]
    held: Mapped[int]
    """What of the authorization is neither cleared nor given back."""
    settled: Mapped[int]
    refunded: Mapped[int]
    original_id: Mapped[str | None]
    """The purchase that a merchant's payment back is for."""
    decline_reason: Mapped[str | None]
    merchant: Mapped[Json]
    created_at: Mapped[int] = mapped_column(index=True)
    updated_at: Mapped[int]


class WalletDevice(Base):
    """The device behind an embedded wallet (the same id), with its key."""

    __tablename__ = "wallet_devices"
    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(Text)
    in_sync: Mapped[bool]
    """Whether the keeper of the wallet's credentials takes new ones over."""


class WalletRequest(Base):
    """An action of an embedded wallet that waits for a signature."""

    __tablename__ = "wallet_requests"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str]
    action: Mapped[str]
    asked: Mapped[Json]
    payload: Mapped[str] = mapped_column(Text)
    used: Mapped[bool]
    expires_at: Mapped[int]
    created_at: Mapped[int]


class Credential(Base):
    """By what the owner of an embedded wallet makes itself known."""

    __tablename__ = "credentials"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(index=True)
    type: Mapped[str]
    passkey_id: Mapped[str | None] = mapped_column(Text)
    """The WebAuthn credential id of a passkey."""
    address: Mapped[str | None] = mapped_column(Text)
    """Where one-time codes are sent, if not to the customer's own address."""
    created_at: Mapped[int]


class Agent(Base):
    """The credentials of software that acts for a customer; of a token its digest is kept."""

    __tablename__ = "agents"
    digest: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str]
    created_at: Mapped[int]


class FactorReset(Base):
    """The reset of an authentication factor that a customer lost."""

    __tablename__ = "factor_resets"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    factor: Mapped[str]
    status: Mapped[str]
    enrollment: Mapped[str | None]
    """How far the replacement is enrolled; a phone is replaced at once."""
    mobile: Mapped[Json | None]
    expires_at: Mapped[int]
    completed_at: Mapped[int | None]
    created_at: Mapped[int]


class LedgerAccount(Base):
    """A side of the books; ``guarded`` ones may not be overdrawn."""

    __tablename__ = "ledger_accounts"
    id: Mapped[str] = mapped_column(primary_key=True)
    currency: Mapped[str]
    guarded: Mapped[bool]
    balance: Mapped[int]


class LedgerEntry(Base):
    """One leg of a movement."""

    __tablename__ = "ledger_entries"
    id: Mapped[str] = mapped_column(primary_key=True)
    movement_id: Mapped[str] = mapped_column(index=True)
    ledger_account_id: Mapped[str]
    currency: Mapped[str]
    amount: Mapped[int]
    created_at: Mapped[int]


class PlatformConfig(Base):
    """The platform's own configuration: a single row."""

    __tablename__ = "platform_config"
    id: Mapped[str] = mapped_column(primary_key=True)
    fee_configs: Mapped[list[Json]]
    tokenization: Mapped[Json | None]
    rule_based: Mapped[bool] = mapped_column(default=True)
    """Whether the platform may create rule-based accounts."""


class Stablecoin(Base):
    """A stablecoin of the platform."""

    __tablename__ = "stablecoins"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    symbol: Mapped[str]
    base_currency: Mapped[str]
    network: Mapped[str]
    decimals: Mapped[int]
    status: Mapped[str]
    provider_accounts: Mapped[list[str]]
    """The linked accounts at its provider."""
    conditions: Mapped[list[str]]
    links: Mapped[Json]
    """By external account, what is wrong with its link to the stablecoin."""
    created_at: Mapped[int]


class StablecoinOperation(Base):
    """An amount of a stablecoin that was minted or burnt."""

    __tablename__ = "stablecoin_operations"
    id: Mapped[str] = mapped_column(primary_key=True)
    stablecoin_id: Mapped[str] = mapped_column(index=True)
    type: Mapped[str]
    status: Mapped[str]
    amount: Mapped[str]
    """A whole number in the smallest unit, which may be too large for a column of numbers."""
    end: Mapped[Json]
    """The account that it goes to or comes from."""
    provider_account: Mapped[str]
    created_at: Mapped[int]


class _SoleSession(Session):
    """The session of a SQLite database that nothing else reads or writes.

    What it holds is up to date, so that it is kept from one transaction to the next, and so is
    its connection.
    """

    def __init__(self, engine: Engine) -> None:
        connection = engine.connect()
        super().__init__(connection, **_MANNERS)
        self._driver = _driver_of(connection)
        # A session alone would forget a row as soon as nobody looks at it.
        recent: deque[object] = deque(maxlen=_MAX_ROWS_HELD)
        for arrival in ("loaded_as_persistent", "pending_to_persistent"):
            event.listen(self, arrival, lambda _session, row: recent.append(row))

    def get(self, entity: Any, ident: Any, **options: Any) -> Any:
        """Return a row, without a query where the session holds it; there is nobody to lock out."""
        return super().get(entity, ident, **{**options, "with_for_update": None})

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end; roll back on an exception, if there is anything to roll back.

        After a rollback every row is read anew: a request that is refused should not cause one.
        """
        written = self._driver.total_changes
        try:
            yield
            self.commit()
        except BaseException:
            if self._is_unchanged and self._driver.total_changes == written:
                self.commit()
            else:
                self.rollback()
            raise

    @property
    def _is_unchanged(self) -> bool:
        return self.is_active and not (self.new or self.dirty or self.deleted)


class Store:
    """Connections to one database; a transaction at a time on SQLite."""

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.is_serial = parsed.get_backend_name() == "sqlite"
        """Whether transactions follow each other in any case."""
        self._lock = threading.RLock() if self.is_serial else nullcontext()
        if self.is_serial:
            self.engine = create_engine(
                parsed, poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
            event.listen(self.engine, "connect", _configure_sqlite)
            event.listen(self.engine, "begin", _begin_immediate)
        else:
            self.engine = create_engine(parsed, pool_pre_ping=True)
        self._sole = (
            _SoleSession(self.engine) if parsed.database in (None, "", ":memory:") else None
        )

    def create(self) -> None:
        """Create the tables that are missing."""
        Base.metadata.create_all(self.engine)

    def empty(self) -> None:
        """Delete every row."""
        with self.transaction() as session:
            for table in Base.metadata.sorted_tables:
                session.execute(delete(table))
            session.expunge_all()

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Open a database transaction: committed at the end, rolled back on an exception."""
        with self._lock:
            if self._sole is not None:
                with self._sole.transaction():
                    yield self._sole
                return
            with Session(self.engine, **_MANNERS) as session, session.begin():
                yield session

    def close(self) -> None:
        """Close every connection."""
        if self._sole is not None:
            self._sole.close()
        self.engine.dispose()


def ledger_accounts(
    session: Session, ids: Sequence[str], *, lock: bool = False
) -> dict[str, LedgerAccount]:
    """Return ledger accounts by their ids, which are all there.

    What the session holds is not read again, unless others are to be locked out; rows are
    locked in one order, so that two transactions never wait for each other. What is to be
    written is written before anything is read.
    """
    lock = lock and not isinstance(session, _SoleSession)
    key = inspect(LedgerAccount).identity_key_from_primary_key
    held = {} if lock else {id_: session.identity_map.get(key((id_,))) for id_ in ids}
    found = {id_: row for id_, row in held.items() if row is not None}
    missing = [id_ for id_ in ids if id_ not in found]
    if missing:
        session.flush()
        query = select(LedgerAccount).where(LedgerAccount.id.in_(missing))
        query = query.order_by(LedgerAccount.id)
        if lock:
            query = query.with_for_update().execution_options(populate_existing=True)
        found.update((row.id, row) for row in session.scalars(query))
    return found


def _configure_sqlite(connection: Any, _record: Any) -> None:
    # The driver would otherwise begin a deferred transaction at the first write.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # The driver is asked itself: a result of SQLAlchemy's would take longer than the statement.
    _driver_of(connection).execute("BEGIN IMMEDIATE")


def _driver_of(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.driver_connection)
