"""Mutants of embedded wallets: their provisioning, what they show, and what is not signed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, around, edited, instead, skipped
from conformance.proof.kit.edits import put
from conformance.proof.kit.tables import with_row, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import after_refusal, shown_where
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.embedded_wallets import devices, embedded_wallets
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.internal_accounts.ledger import Leg
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import (
    Customer,
    InternalAccount,
    Quote,
    Transaction,
    WalletRequest,
)
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

_EXECUTION, _CREATION = "execution", "creation"


def is_paid_by_wallet(quote: Quote) -> bool:
    """Return whether a quote is paid from an embedded wallet, by its currency."""
    return quote.sending_currency in rules.WALLET_CURRENCIES


def way_of(action: str) -> str:
    """Return how a payment leaves a wallet."""
    return _EXECUTION if action.endswith("/execute") else _CREATION


# --- Provisioning and members ---------------------------------------------------------------


@mutant("EMW-001", "the currency of wallets is held as any other")
def no_wallets(patch: Patch) -> None:
    patch.replace(rules, "WALLET_CURRENCIES", ())


@mutant("EMW-001", "a wallet has to be asked for")
def wallets_on_demand(patch: Patch) -> None:
    patch.wrap(
        accounts,
        "currencies_to_provision",
        lambda original, unit, wanted: (
            [code for code in original(unit, wanted) if code not in rules.WALLET_CURRENCIES]
        ),
    )


@mutant("EMW-001", "individuals alone get a wallet")
def wallets_for_individuals(patch: Patch) -> None:
    def provisioned(
        provision: Function, unit: Unit, customer_id: str | None, currency: str, account_id: str
    ) -> None:
        unit.session.flush()
        owner = unit.session.get(Customer, customer_id) if customer_id else None
        is_business = owner is not None and owner.customer_type == "BUSINESS"
        if not is_business or currency not in rules.WALLET_CURRENCIES:
            provision(unit, customer_id, currency, account_id)

    patch.wrap(accounts, "provision", provisioned)


@mutant("EMW-003", "all customers share the first wallet")
def one_wallet(patch: Patch) -> None:
    first: list[Json] = []

    def shared(account: Json) -> Json:
        if account["type"] != "EMBEDDED_WALLET":
            return account
        if not first:
            first.append(account)
        return {**account, "id": first[0]["id"]}

    edited(
        accounts,
        "list_for_customers",
        lambda body: {**body, "data": [shared(row) for row in body["data"]]},
    )(patch)


_RULE = {"destination": {"accountId": "ExternalAccount:1"}}


SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("EMW-002", "other", "customerId", "Customer:1"),
    ("EMW-004", "off", "privateEnabled", False),
    ("EMW-004", "on", "privateEnabled", True),
    ("EMW-005", "rule", "sweepRule", _RULE),
    ("EMW-006", "named", "label", "Wallet"),
    ("EMW-007", "none", "fundingPaymentInstructions", []),
)
"""Members that wallets, or the accounts beside them, show wrongly."""

for _requirement, _name, _member, _value in SHOWN:
    declare(
        _requirement,
        f"{_member}-{_name}",
        f"{_member} of every internal account is {_value!r}",
        edited(accounts, "_view", put(_member, _value)),
    )


# --- What comes in --------------------------------------------------------------------------


@mutant("EMW-010", "a deposit to a wallet waits until it is claimed", (accounts, "credit"), skipped)
def unclaimed(unit: Unit, account: InternalAccount, amount: int) -> bool:
    return embedded_wallets.is_wallet(account)


def unannounced(patch: Patch) -> None:
    """Keep changes of the balance of wallets to the service."""

    def announce(original: Function, unit: Unit, account: InternalAccount) -> None:
        if not embedded_wallets.is_wallet(account):
            original(unit, account)

    patch.wrap(accounts, "announce_balance", announce)


for _requirement in ("EMW-011", "EMW-025"):
    declare(_requirement, "unannounced", "balances of wallets are not reported", unannounced)


@mutant(
    "EMW-012", "payments into a wallet are signed as well", (embedded_wallets, "source_account")
)
def signed_receipts(original: Function, quote: Quote) -> str | None:
    if quote.receiving_currency in rules.WALLET_CURRENCIES:
        return str(quote.destination["accountId"])
    found: str | None = original(quote)
    return found


@mutant("EMW-013", "payments out of every account are signed")
def all_signed(patch: Patch) -> None:
    patch.replace(embedded_wallets, "is_wallet", lambda account: True)


@mutant(
    "EMW-014", "a payment into a wallet loses a unit on its way", (settlement, "completion_legs")
)
def unit_lost(original: Function, quote: Quote) -> list[Leg]:
    *others, converted, delivered = original(quote)
    if quote.receiving_currency not in rules.WALLET_CURRENCIES:
        return [*others, converted, delivered]
    return [
        *others,
        replace(converted, amount=converted.amount + 1),
        replace(delivered, amount=delivered.amount - 1),
    ]


# --- A signed retry -------------------------------------------------------------------------


def never_started(patch: Patch) -> None:
    """Take signatures, and do nothing."""

    def start(original: Function, unit: Unit, quote: Quote, *more: Any, **named: Any) -> None:
        if not is_paid_by_wallet(quote):
            original(unit, quote, *more, **named)

    patch.wrap(quotes, "start", start)


def never_signed(patch: Patch) -> None:
    """Refuse whatever is signed."""
    patch.replace(devices, "verifies", lambda *arguments: False)


for _requirement in ("EMW-020", "EMW-030"):
    declare(_requirement, "nothing-started", "a signed payment is not executed", never_started)
    declare(_requirement, "none-verifies", "no signature is good", never_signed)

declare(
    "EMW-021",
    "another-transaction",
    "a signed execution shows another transaction",
    shown_where(
        lambda quote: is_paid_by_wallet(quote) and quote.status == "PROCESSING",
        put("transactionId", "Transaction:1"),
    ),
)


def debited_less(patch: Patch) -> None:
    """Debit a wallet by less than the quote says."""

    def total(original: Function, quote: Quote) -> int:
        return int(original(quote)) - is_paid_by_wallet(quote)

    patch.wrap(quotes, "debit_total", total)


for _requirement in ("EMW-022", "EMW-031"):
    declare(_requirement, "a-unit-less", "a wallet is debited by a unit less", debited_less)


def never_settled(patch: Patch) -> None:
    """Let payments out of wallets stay under way."""

    def complete(original: Function, unit: Unit, quote: Quote, transaction: Transaction) -> None:
        if not is_paid_by_wallet(quote):
            original(unit, quote, transaction)

    patch.wrap(settlement, "complete", complete)


for _requirement in ("EMW-023", "EMW-032"):
    declare(
        _requirement, "stays-under-way", "a payment out of a wallet never completes", never_settled
    )


@mutant("EMW-840", "what comes back to a wallet waits for a signature", (settlement, "refund"))
def refund_waits(original: Function, unit: Unit, transaction_id: str) -> None:
    quote, _ = transactions.locked(unit, transaction_id)
    if not is_paid_by_wallet(quote):
        original(unit, transaction_id)


@mutant(
    "EMW-840", "what comes back to a wallet goes elsewhere", (settlement, "refund_legs"), around
)
def refunded_elsewhere(original: Function, quote: Quote, outcome: str) -> Any:
    return original(quote, "FAILED" if is_paid_by_wallet(quote) else outcome)


@mutant(
    "EMW-024",
    "the completion of a payment out of a wallet is not reported",
    (transactions, "announce"),
    skipped,
)
def completion_unreported(unit: Unit, transaction: Transaction, name: str) -> bool:
    return name == "COMPLETED" and transaction.sending_currency in rules.WALLET_CURRENCIES


# --- A retry that is not signed rightly -----------------------------------------------------


MISSING = "WALLET_SIGNATURE_MISSING"


NAMELESS = "REQUEST_ID_MISSING"


MALFORMED = "WALLET_SIGNATURE_MALFORMED"


MISMATCH = "WALLET_SIGNATURE_BODY_MISMATCH"


INVALID = "WALLET_SIGNATURE_INVALID"


UNSIGNED = {_EXECUTION: ("EMW-040", "EMW-041"), _CREATION: ("EMW-070", "EMW-071")}


REFUSED: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]] = {
    _EXECUTION: {
        MISSING: (("EMW-042", "EMW-043"), ("EMW-049", "EMW-050")),
        NAMELESS: (("EMW-044", "EMW-045"),),
        MALFORMED: (("EMW-046", "EMW-047", "EMW-048"), ("EMW-051", "EMW-052")),
        INVALID: (
            ("EMW-053", "EMW-054", "EMW-055"),
            ("EMW-056", "EMW-057", "EMW-058"),
            ("EMW-059", "EMW-060", "EMW-061"),
        ),
        MISMATCH: (("EMW-062", "EMW-063", "EMW-064"),),
    },
    _CREATION: {
        MISSING: (("EMW-072", "EMW-073"), ("EMW-079", "EMW-080")),
        NAMELESS: (("EMW-074", "EMW-075"),),
        MALFORMED: (("EMW-076", "EMW-077", "EMW-078"), ("EMW-081", "EMW-082")),
        INVALID: (
            ("EMW-083", "EMW-084", "EMW-085"),
            ("EMW-086", "EMW-087", "EMW-088"),
            ("EMW-089", "EMW-090", "EMW-091"),
        ),
        MISMATCH: (
            ("EMW-092", "EMW-093", "EMW-094"),
            ("EMW-095", "EMW-096", "EMW-097"),
            ("EMW-098", "EMW-099", "EMW-100"),
        ),
    },
}
"""By the way of a payment and the code of the refusal: that nothing moves, that it is refused, and
by what code."""


def demanding(way: str, change: Callable[[Function, Ask], None]) -> Apply:
    """Return a patch after which ``change`` answers what leaves a wallet in a way."""

    def patch(patch: Patch) -> None:
        def demand(
            original: Function,
            unit: Unit,
            ask: Ask,
            account_id: str | None,
            action: str,
            body: Json | None = None,
        ) -> None:
            look = partial(original, unit, ask, account_id, action, body)
            if way_of(action) == way:
                change(look, ask)
            else:
                look()

        patch.wrap(embedded_wallets, "demand_signature", demand)

    return patch


def unasked(look: Function, ask: Ask) -> None:
    """Ask nobody for a signature."""
    if embedded_wallets.is_retry(ask.headers):
        look()


def overlooked(code: str, look: Function, _ask: Ask) -> None:
    """Look away where a retry would be refused with a code."""
    try:
        look()
    except errors.Refusal as refusal:
        if refusal.code != code:
            raise


def renamed(code: str, name: str, look: Function, _ask: Ask) -> None:
    """Refuse with another code."""
    try:
        look()
    except errors.Refusal as refusal:
        if refusal.code == code:
            raise errors.Refusal(name, refusal.reason) from refusal
        raise


def _unasked_of_businesses(
    original: Function, unit: Unit, ask: Ask, account_id: str | None, *more: Any
) -> None:
    wallet = embedded_wallets.wallet_of(unit, account_id)
    owner = None if wallet is None else unit.session.get(Customer, wallet.customer_id)
    if owner is None or owner.customer_type != "BUSINESS":
        original(unit, ask, account_id, *more)


def _unasked_of_who_proves(
    original: Function, unit: Unit, ask: Ask, account_id: str | None, *more: Any
) -> None:
    wallet = embedded_wallets.wallet_of(unit, account_id)
    owner = None if wallet is None else unit.session.get(Customer, wallet.customer_id)
    if owner is None or not customers.needs_sca(owner):
        original(unit, ask, account_id, *more)


def _asked_once(patch: Patch) -> None:
    signed: set[str | None] = set()

    def demand(
        original: Function, unit: Unit, ask: Ask, account_id: str | None, *more: Any
    ) -> None:
        if account_id not in signed or embedded_wallets.is_retry(ask.headers):
            original(unit, ask, account_id, *more)
            signed.add(account_id)

    patch.wrap(embedded_wallets, "demand_signature", demand)


for _id in ("EMW-040", "EMW-041", "EMW-070", "EMW-071"):
    declare(
        _id,
        "businesses",
        "the wallets of businesses need no signature",
        around(embedded_wallets, "demand_signature", _unasked_of_businesses),
    )
    declare(
        _id,
        "proof-for-signature",
        "who authorizes payments by SCA need not sign what leaves a wallet",
        around(embedded_wallets, "demand_signature", _unasked_of_who_proves),
    )
    declare(_id, "asked-once", "a wallet that has signed once need not sign again", _asked_once)


def _is_to_an_address(unit: Unit, ask: Ask, *_: Any) -> bool:
    """Return whether a request executes a quote to a UMA address."""
    name = ask.params.get("quoteId")
    return name is not None and quotes.get(unit, name).destination_kind == "UMA"


for _id in ("EMW-040", "EMW-041"):
    declare(
        _id,
        "to-an-address",
        "what goes from a wallet to a UMA address needs no signature",
        skipped(embedded_wallets, "demand_signature", _is_to_an_address),
    )


for _way, _ids in UNSIGNED.items():
    for _requirement in _ids:
        declare(
            _requirement,
            "unasked",
            f"for the {_way} nobody is asked to sign",
            demanding(_way, unasked),
        )


def _within_the_platform(own: bool) -> Callable[..., bool]:
    """Return whether an execution pays an internal account, of the same customer or another."""

    def condition(unit: Unit, ask: Ask, *_: Any, **__: Any) -> bool:
        quote = unit.session.get(Quote, ask.params.get("quoteId", ""))
        if quote is None or quote.destination_kind != "INTERNAL":
            return False
        receiver = accounts.get(unit, quote.destination["accountId"])
        return (receiver.customer_id == quote.customer_id) is own

    return condition


for _requirement in UNSIGNED[_EXECUTION]:
    for _name, _is_own in (("own", True), ("customer", False)):
        declare(
            _requirement,
            _name,
            f"nobody is asked to sign a payment to an internal account: {_name}",
            skipped(embedded_wallets, "demand_signature", _within_the_platform(_is_own)),
        )

for _way, _codes in REFUSED.items():
    for _code, _rules in _codes.items():
        for _untouched, _refused, *_fitting in _rules:
            declare(
                _untouched,
                "overlooked",
                f"what is wrong with the signature of the {_way} is overlooked",
                demanding(_way, partial(overlooked, _code)),
            )
            declare(_refused, "forbidden", f"{_code} comes with 403", with_status(_code, 403))
            declare(
                _refused,
                "unauthorized",
                f"{_code} is called UNAUTHORIZED",
                demanding(_way, partial(renamed, _code, "UNAUTHORIZED")),
            )
            for _requirement in _fitting:
                declare(
                    _requirement,
                    "unauthorized",
                    f"{_code} is called UNAUTHORIZED",
                    demanding(_way, partial(renamed, _code, "UNAUTHORIZED")),
                )


@mutant(
    "EMW-095",
    "the body of a signed creation is not compared",
    (embedded_wallets, "refuse_other"),
    instead,
)
def body_not_compared(
    request: Any, wallet: InternalAccount, action: str, body: Json | None
) -> None:
    if (request.account_id, request.action) != (wallet.id, action):
        raise errors.Refusal(MISMATCH, "The signature is for another action.")


@mutant("EMW-062", "what is executed is not compared", (embedded_wallets, "refuse_other"), instead)
def action_not_compared(
    request: Any, wallet: InternalAccount, action: str, body: Json | None
) -> None:
    if request.account_id != wallet.id:
        raise errors.Refusal(MISMATCH, "The signature is for another wallet.")


@mutant("EMW-056", "any signature of a wallet's device will do")
def any_device(patch: Patch) -> None:
    patch.replace(embedded_wallets, "refuse_unverified", lambda unit, request, signature: None)


for _requirement, _code in (
    ("EMW-112", "WALLET_SIGNATURE_MISSING"),
    ("EMW-112", "REQUEST_ID_MISSING"),
    ("EMW-112", "WALLET_SIGNATURE_MALFORMED"),
    ("EMW-113", "WALLET_SIGNATURE_INVALID"),
):
    declare(
        _requirement,
        _code.lower(),
        f"an execution that is refused with {_code} ends its quote",
        after_refusal(quotes.execute, _code, "FAILED"),
    )


# --- Once, and not more than may be ---------------------------------------------------------


def repeated(patch: Patch) -> None:
    """Execute a signed request as often as it comes."""
    for status in ("PROCESSING", "COMPLETED"):
        patch.row(rules, "QUOTE_TRANSITIONS", (status, "EXECUTE"), rules.Move("PROCESSING"))
    patch.replace(embedded_wallets, "refuse_used", lambda request, now: None)


for _requirement in ("EMW-101", "EMW-103"):
    declare(_requirement, "repeated", "a signed execution is repeated", repeated)


@mutant("EMW-102", "a signature is not used up")
def not_used_up(patch: Patch) -> None:
    patch.replace(embedded_wallets, "refuse_used", lambda request, now: None)


@mutant("EMW-104", "a signed payment may overdraw a wallet")
def overdrawn(patch: Patch) -> None:
    patch.replace(quotes, "refuse_unfunded", lambda unit, quote: None)
    patch.replace(ledger, "is_overdrawn", lambda account: False)


declare(
    "EMW-104",
    "conflict",
    "too little in a wallet is a conflict",
    with_status("INSUFFICIENT_FUNDS", 409),
)


@mutant("EMW-105", "what is signed leaves a frozen wallet too")
@mutant("EMW-955", "what is signed leaves a closed wallet too")
def stopped_pays(patch: Patch) -> None:
    patch.replace(parties, "refuse_blocked_later", lambda unit, quote: None)


for _requirement, _status in (("EMW-105", "FROZEN"), ("EMW-955", "CLOSED")):
    declare(
        _requirement,
        "able",
        f"a {_status} wallet pays",
        with_row(accounts, "ABILITIES", _status, (accounts.SEND, accounts.RECEIVE)),
    )


@mutant("EMW-106", "deprecated transfers ask for no signature")
def unsigned_transfers(patch: Patch) -> None:
    patch.replace(embedded_wallets, "refuse_unsigned", lambda unit, quote: None)


@mutant("EMW-107", "a signed quote does not expire")
def never_expires(patch: Patch) -> None:
    patch.replace(quotes, "is_expired", lambda quote, now: False)


declare(
    "EMW-107",
    "another-code",
    "an expired quote is in a wrong state",
    with_row(
        rules, "QUOTE_TRANSITIONS", ("EXPIRED", "EXECUTE"), rules.Refuse("INVALID_STATE_TRANSITION")
    ),
)


for _requirement, _way in (("EMW-108", _EXECUTION), ("EMW-109", _CREATION)):

    @mutant(
        _requirement,
        f"an unknown Request-Id is answered with what is to be signed ({_way})",
        (embedded_wallets, "demand_signature"),
        around,
    )
    def asked_again(
        original: Function,
        unit: Unit,
        ask: Ask,
        account_id: str | None,
        action: str,
        body: Json | None = None,
        way: str = _way,
    ) -> None:
        wallet = embedded_wallets.wallet_of(unit, account_id)
        name = ask.headers.get(embedded_wallets.REQUEST)
        known = None if name is None else unit.session.get(WalletRequest, name)
        if wallet is not None and name and known is None and way_of(action) == way:
            raise embedded_wallets.answer(embedded_wallets.open_request(unit, wallet, action, body))
        original(unit, ask, account_id, action, body)
