"""The running service: its database, its background work and its seed."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from sqlalchemy import select

from conformance.reference import errors, platform
from conformance.reference.internal_accounts import accounts, ledger, rule_based
from conformance.reference.store import (
    InternalAccount,
    PlatformConfig,
    Store,
    Transaction,
)
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Seed, Unit, clock, new_id
from conformance.reference.webhooks.deliveries import Deliveries
from conformance.reference.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.settings import Settings


class Service:
    """Everything that one app shares between requests."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.database_url)
        self.scheduler = Worker("scheduler")
        self.deliveries = Deliveries(settings)
        self._generation = 0
        self.store.create()
        self.seed = Seed(self._existing_account() or new_id("InternalAccount"))

    def start(self) -> None:
        """Plant the seed where it is missing, and take up what was under way."""
        self.scheduler.start()
        self.deliveries.start()
        with self.unit() as unit:
            if unit.session.get(PlatformConfig, platform.ROW) is None:
                self._plant(unit)
            under_way = select(Transaction.id).where(Transaction.status == "PROCESSING")
            for transaction_id in unit.session.scalars(under_way):
                unit.later(
                    self.settings.settlement_seconds,
                    partial(settlement.settle, transaction_id=transaction_id),
                )

    def stop(self) -> None:
        """Stop the background work and close the database."""
        self.scheduler.stop()
        self.deliveries.stop()
        self.store.close()

    def reset(self) -> None:
        """Forget everything but the platform's seed and its webhook endpoint."""
        self._generation += 1
        self.drop_work()
        self.store.empty()
        with self.unit() as unit:
            self._plant(unit)

    def drop_work(self) -> None:
        """Drop what is neither done nor delivered, and wait for what is under way."""
        self.scheduler.clear()
        self.deliveries.clear()

    @contextmanager
    def unit(self) -> Iterator[Unit]:
        """Open a unit of work; its events and jobs follow the commit."""
        generation = self._generation
        with self.store.transaction() as session:
            unit = Unit(session, self.settings, self.seed, clock())
            yield unit
        if generation != self._generation:
            return
        for event in unit.events:
            self.deliveries.put(event)
        for account_id in unit.arrivals:
            unit.later(
                self.settings.settlement_seconds, partial(rule_based.sweep, account_id=account_id)
            )
        for seconds, job in unit.jobs:
            self.scheduler.after(seconds, partial(self._work, job))

    async def serve(self, handler: Callable[[Unit, Ask], Any], ask: Ask) -> Any:
        """Serve one request: beside the others, where the database takes more than one."""
        if self.store.is_serial:
            return self.answer(handler, ask)
        return await to_thread.run_sync(partial(self.answer, handler, ask))

    def answer(self, handler: Callable[[Unit, Ask], Any], ask: Ask) -> Any:
        """Serve one request in a unit of its own."""
        with self.unit() as unit:
            try:
                return handler(unit, ask)
            except (errors.Rejection, errors.Demand) as error:
                noted = error
        raise noted

    def _work(self, job: Callable[[Unit], None]) -> None:
        with self.unit() as unit:
            job(unit)

    def _plant(self, unit: Unit) -> None:
        unit.session.add(PlatformConfig(id=platform.ROW, fee_configs=[], tokenization=None))
        ledger.open_system_accounts(unit)
        currency = self.settings.platform_currency
        accounts.provision(unit, None, currency, self.seed.account_id)

    def _existing_account(self) -> str | None:
        with self.store.transaction() as session:
            query = select(InternalAccount.id).where(InternalAccount.customer_id.is_(None))
            return session.scalar(query.order_by(InternalAccount.created_at).limit(1))
