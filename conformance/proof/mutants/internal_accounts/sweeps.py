"""Mutants of sweeps: where the money goes that settles into rule-based accounts."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, after, around, before, instead, skipped
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger, rule_based, sweeps
from conformance.reference.store import InternalAccount, Quote
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

_BURST = 0.2
_MAX_AMOUNT = 25_000

Send = Callable[[Unit, InternalAccount, Json, int], None]


def booked(unit: Unit, account_id: str, amount: int, source: str | None = None) -> None:
    """Book an amount to an account, from another one or from nowhere."""
    origin = ledger.system("rail", "USD") if source is None else ledger.available(source)
    ledger.post(
        unit,
        [
            ledger.Leg(origin, "USD", -amount),
            ledger.Leg(ledger.available(account_id), "USD", amount),
        ],
    )


def internal(unit: Unit, destination: Json) -> InternalAccount | None:
    """Return the internal account that is a destination, or ``None``."""
    return accounts.find(unit, destination["accountId"])


# --- Nothing, or too little -----------------------------------------------------------------


_LITTLE = 1_000


def _unswept(patch: Patch) -> None:
    patch.replace(rule_based, "sweep", lambda _unit, account_id: None)


def _is_of_quote(unit: Unit) -> bool:
    return any(event["type"].startswith("OUTGOING_PAYMENT") for event in unit.events)


def _half(patch: Patch) -> None:
    patch.wrap(
        sweeps, "swept_amount", lambda swept_amount, unit, account: swept_amount(unit, account) // 2
    )


def _home_instead(
    _send: Send, unit: Unit, account: InternalAccount, _destination: Json, _amount: int
) -> None:
    sweeps.land(unit, account)


def _home_instead_of_internal(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    if internal(unit, destination) is None:
        send(unit, account, destination, amount)
    else:
        sweeps.land(unit, account)


def _kept(
    _send: Send, unit: Unit, account: InternalAccount, _destination: Json, amount: int
) -> None:
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.available(account.id), "USD", -amount),
            ledger.Leg(ledger.system("suspense", "USD"), "USD", amount),
        ],
    )


def _too_much(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    send(unit, account, destination, amount)
    if internal(unit, destination) is not None:
        booked(unit, destination["accountId"], amount)


def _home_too(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    send(unit, account, destination, amount)
    home = sweeps.home_of(unit, account.customer_id or "", account.currency)
    if home is not None and internal(unit, destination) is not None:
        booked(unit, home.id, amount)


def _copied(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    if internal(unit, destination) is None:
        send(unit, account, destination, amount)
    else:
        booked(unit, destination["accountId"], amount)


def _not_to_the_holder(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    target = internal(unit, destination)
    if target is None or target.customer_id != account.customer_id:
        send(unit, account, destination, amount)


declare("RBA-100", "unswept", "what settles stays where it is", _unswept)
declare("RBA-100", "half", "half of what settles stays where it is", _half)
declare("RBA-101", "home", "what is swept goes home", around(rule_based, "send", _home_instead))
declare(
    "RBA-102",
    "home",
    "what has an internal account as its destination goes home",
    around(rule_based, "send", _home_instead_of_internal),
)
declare("RBA-102", "kept", "the service keeps what is swept", around(rule_based, "send", _kept))
declare(
    "RBA-103", "twice", "an internal account gets it twice", around(rule_based, "send", _too_much)
)
declare(
    "RBA-101",
    "too",
    "what is swept to an internal account goes home too",
    around(rule_based, "send", _home_too),
)


@mutant("RBA-103", "a sweep sends what was swept before it too", (rule_based, "send"))
def swept_again(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    send(unit, account, destination, amount)
    query = select(Quote.sending_amount, Quote.source).where(
        Quote.customer_id == account.customer_id
    )
    unit.session.flush()
    before = sum(
        sent for sent, source in unit.session.execute(query) if source["accountId"] == account.id
    )
    if before > amount and internal(unit, destination) is not None:
        booked(unit, destination["accountId"], before - amount)


declare(
    "RBA-957",
    "quoted",
    "what a quote pays to a rule-based account stays there",
    skipped(sweeps, "take_in", lambda unit, _account: _is_of_quote(unit)),
)

for _requirement in ("RBA-955", "RBA-956"):
    declare(
        _requirement,
        "any-state",
        "the state of a rule-based account is not looked at",
        skipped(accounts, "refuse_unable", lambda account, _ability: sweeps.is_rule_based(account)),
    )


declare("RBA-104", "copied", "an internal account gets a copy", around(rule_based, "send", _copied))
declare(
    "RBA-105",
    "idle",
    "what has the holder's own account as its destination stays",
    around(rule_based, "send", _not_to_the_holder),
)


@mutant("RBA-106", "an account is swept once")
def once(patch: Patch) -> None:
    """Note that it was, and leave it alone from then on."""
    seen: set[str] = set()

    def first(sweep: Callable[..., None], unit: Unit, account_id: str) -> None:
        if account_id not in seen:
            seen.add(account_id)
            sweep(unit, account_id=account_id)

    patch.wrap(rule_based, "sweep", first)


def _large(amount: int) -> int:
    return amount if amount >= _LITTLE else 0


declare(
    "RBA-106",
    "large-alone",
    "little is not swept",
    around(sweeps, "swept_amount", lambda swept_amount, *asked: _large(swept_amount(*asked))),
)


@mutant("RBA-107", "of payments at the same time one is swept")
def one_of_many(patch: Patch) -> None:
    """Take the sweeps that follow soon for the same one."""
    seen: dict[str, float] = {}

    def first(sweep: Callable[..., None], unit: Unit, account_id: str) -> None:
        if time.monotonic() - seen.get(account_id, 0.0) > _BURST:
            seen[account_id] = time.monotonic()
            sweep(unit, account_id=account_id)

    patch.wrap(rule_based, "sweep", first)
    patch.wrap(
        sweeps,
        "swept_amount",
        lambda swept_amount, unit, account: min(swept_amount(unit, account), _MAX_AMOUNT),
    )


def _newest_rule(
    send: Send, unit: Unit, account: InternalAccount, _destination: Json, amount: int
) -> None:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == account.customer_id, InternalAccount.type == "RULE_BASED"
    )
    newest = unit.session.scalars(query.order_by(InternalAccount.created_at.desc())).first()
    send(unit, account, rule_based.destination_of(newest or account), amount)


def _oldest_rule(
    send: Send, unit: Unit, account: InternalAccount, _destination: Json, amount: int
) -> None:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == account.customer_id, InternalAccount.type == "RULE_BASED"
    )
    oldest = unit.session.scalars(query.order_by(InternalAccount.created_at)).first()
    send(unit, account, rule_based.destination_of(oldest or account), amount)


def _everywhere(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    send(unit, account, destination, amount)
    query = select(InternalAccount).where(
        InternalAccount.customer_id == account.customer_id,
        InternalAccount.type == "RULE_BASED",
        InternalAccount.id != account.id,
    )
    for other in unit.session.scalars(query):
        target = rule_based.destination_of(other)
        if internal(unit, target) is not None:
            booked(unit, target["accountId"], amount)


declare(
    "RBA-108", "newest", "the newest rule holds for all", around(rule_based, "send", _newest_rule)
)
for _requirement in ("RBA-108", "RBA-109"):
    declare(
        _requirement,
        "oldest",
        "the oldest rule holds for all",
        around(rule_based, "send", _oldest_rule),
    )
declare(
    "RBA-109", "everywhere", "each rule gets each payment", around(rule_based, "send", _everywhere)
)


@mutant("RBA-110", "nothing tells by which number a payment came")
def unattributed(patch: Patch) -> None:
    """Announce other accounts alone, and show no source."""

    def announce_others(
        announce: Callable[[Unit, InternalAccount], None], unit: Unit, account: InternalAccount
    ) -> None:
        if not sweeps.is_rule_based(account):
            announce(unit, account)

    patch.wrap(accounts, "announce_balance", announce_others)
    patch.wrap(transactions, "view", lambda view, row: {**view(row), "source": {}})


@mutant("RBA-024", "an account that was swept has no label any more", (rule_based, "sweep"), after)
def label_swept(unit: Unit, account_id: str) -> None:
    unit.session.get_one(InternalAccount, account_id).label = None


@mutant("RBA-111", "the rule holds for the holder's account too")
def home_swept(patch: Patch) -> None:

    def sweep_home(unit: Unit, account_id: str) -> None:
        home = unit.session.get_one(InternalAccount, account_id)
        query = select(InternalAccount).where(
            InternalAccount.customer_id == home.customer_id, InternalAccount.type == "RULE_BASED"
        )
        account = unit.session.scalars(query).first()
        if account is None or sweeps.is_rule_based(home):
            return
        target = internal(unit, rule_based.destination_of(account))
        if target is not None:
            booked(unit, target.id, sweeps.swept_amount(unit, home), home.id)

    def swept(fund: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        body = fund(unit, ask)
        unit.later(0, partial(sweep_home, account_id=ask.params["accountId"]))
        return body

    patch.wrap(rule_based, "fund", swept)


@mutant(
    "RBA-112", "only rule-based accounts announce what sweeps do", (settlement, "_announce_account")
)
def destination_silent(announce: Callable[[Unit, str], None], unit: Unit, account_id: str) -> None:
    account = accounts.find(unit, account_id)
    if account is not None and sweeps.is_rule_based(account):
        announce(unit, account_id)


# --- What cannot complete -------------------------------------------------------------------


def landing(change: Callable[[Unit, InternalAccount, InternalAccount, int], None]) -> Any:
    """Return a patch after which ``change`` books what goes home: from, to, and how much."""

    def land(unit: Unit, account: InternalAccount) -> None:
        home = sweeps.home_of(unit, account.customer_id or "", account.currency)
        amount = sweeps.swept_amount(unit, account)
        if home is not None and amount:
            change(unit, account, home, amount)

    return instead(sweeps, "land", land)


def _part(unit: Unit, account: InternalAccount, home: InternalAccount, amount: int) -> None:
    booked(unit, home.id, amount - 100, account.id)


def _to_the_platform(
    unit: Unit, account: InternalAccount, _home: InternalAccount, amount: int
) -> None:
    booked(unit, unit.seed.account_id, amount, account.id)


def _copy_home(unit: Unit, _account: InternalAccount, home: InternalAccount, amount: int) -> None:
    booked(unit, home.id, amount)


def _silently(unit: Unit, account: InternalAccount, home: InternalAccount, amount: int) -> None:
    booked(unit, home.id, amount, account.id)


def _nowhere(*_: Any) -> None:
    return None


def _to_the_first(unit: Unit, account: InternalAccount, home: InternalAccount, amount: int) -> None:
    """Book it on the first account of the holder, whatever its currency is."""
    query = select(InternalAccount).where(
        InternalAccount.customer_id == home.customer_id,
        InternalAccount.type != sweeps.RULE_BASED,
    )
    first = min(unit.session.scalars(query), key=lambda one: one.currency)
    booked(unit, first.id, amount, account.id)
    accounts.announce_balance(unit, first)


declare("RBA-113", "silent", "what lands at home is not announced", landing(_silently))
declare("RBA-120", "part", "what lands at home bears a charge", landing(_part))
declare("RBA-120", "platform", "it lands in the platform's account", landing(_to_the_platform))
declare("RBA-120", "first", "it lands in the holder's first account", landing(_to_the_first))
declare("RBA-120", "nowhere", "it lands nowhere", landing(_nowhere))
declare("RBA-122", "copied", "it lands at home and stays as well", landing(_copy_home))
declare("RBA-122", "stays", "it stays where it came in", landing(_nowhere))


@mutant("RBA-122", "what cannot complete a second time stays where it came in")
def landing_once(patch: Patch) -> None:
    landed: set[str] = set()

    def land(original: Callable[[Unit, InternalAccount], None], unit: Unit, account: Any) -> None:
        if account.id not in landed:
            original(unit, account)
        landed.add(account.id)

    patch.wrap(sweeps, "land", land)


def _anyway(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    if sweeps.minted(unit, account).unreachable and internal(unit, destination) is not None:
        booked(unit, destination["accountId"], amount)
    send(unit, account, destination, amount)


declare(
    "RBA-121", "anyway", "the destination gets it all the same", around(rule_based, "send", _anyway)
)


def _refund_left(condition: str) -> Apply:
    """Leave the refunds of one kind of failure in the rule-based account."""

    def land(land_refund: Callable[[Unit, Quote], None], unit: Unit, quote: Quote) -> None:
        account = externals.find(unit, str(quote.destination.get("accountId")))
        if account is None or account.condition != condition:
            land_refund(unit, quote)

    return around(sweeps, "land_refund", land)


for _requirement, _condition in (
    ("RBA-123", "BLOCKED"),
    ("RBA-124", "UNKNOWN"),
    ("RBA-127", "RETURNS"),
    ("RBA-840", "LIMITED"),
    ("RBA-841", "SCREENED"),
):
    declare(
        _requirement,
        "left",
        f"the refund after {rules.PAYOUT_RESULTS[_condition].failure_reason} stays in the account",
        _refund_left(_condition),
    )


@mutant("RBA-128", "nothing may be left of a sweep to land", (sweeps, "land"), before)
def something_to_land(unit: Unit, account: InternalAccount) -> None:
    if not sweeps.swept_amount(unit, account):
        raise ZeroDivisionError


def _stuck(code: str) -> Apply:
    """Leave what is refused with a code where it is."""

    def stuck(
        send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
    ) -> None:
        try:
            send(unit, account, destination, amount)
        except errors.Refusal as refusal:
            if refusal.code != code:
                raise

    return around(rule_based, "send", stuck)


declare(
    "RBA-125",
    "stuck",
    "what cannot be sent to a disabled account stays",
    _stuck("INVALID_BANK_ACCOUNT"),
)
declare(
    "RBA-125",
    "sent",
    "disabled accounts receive what is swept",
    instead(externals, "can_receive", lambda _: True),
)
declare(
    "RBA-126",
    "stuck",
    "what cannot be sent to a deleted account stays",
    _stuck("ACCOUNT_NOT_FOUND"),
)
declare("RBA-129", "stuck", "what cannot be sent to a closed account stays", _stuck("CONFLICT"))
declare(
    "RBA-129",
    "sent",
    "closed accounts receive what is swept",
    with_row(accounts, "ABILITIES", "CLOSED", (accounts.RECEIVE,)),
)


def _paid_at(status: str) -> Apply:
    """Return a patch after which a sweep pays external accounts at a status too."""

    def pay(
        send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
    ) -> None:
        receiver = externals.find(unit, destination["accountId"])
        if receiver is None or receiver.status != status:
            send(unit, account, destination, amount)
            return
        receiver.status = "ACTIVE"
        send(unit, account, destination, amount)
        receiver.status = status

    return around(rule_based, "send", pay)


declare(
    "RBA-900",
    "sent",
    "an account under review receives what is swept",
    _paid_at("UNDER_REVIEW"),
)
declare(
    "RBA-950",
    "sent",
    "an account whose proof failed receives what is swept",
    _paid_at("UNVERIFIED"),
)


def _is_of_the_platform(unit: Unit, destination: Json) -> bool:
    target = internal(unit, destination)
    return target is not None and target.customer_id is None


def _home_instead_of_the_platform(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    if _is_of_the_platform(unit, destination):
        sweeps.land(unit, account)
    else:
        send(unit, account, destination, amount)


def _kept_from_the_platform(
    send: Send, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    if not _is_of_the_platform(unit, destination):
        send(unit, account, destination, amount)


declare(
    "RBA-102",
    "home-instead-of-the-platform",
    "what has an account of the platform as its destination goes home",
    around(rule_based, "send", _home_instead_of_the_platform),
)
declare(
    "RBA-104",
    "kept-from-the-platform",
    "what has an account of the platform as its destination stays",
    around(rule_based, "send", _kept_from_the_platform),
)
