"""Mutants of webhooks: sent twice or in vain, shown otherwise, of deposits and failures."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    after,
    around,
    edited,
    rescued,
    skipped,
    together,
)
from conformance.proof.kit.edits import Edit, put, replaced, without
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import transaction_of
from conformance.proof.mutants.webhooks.toolkit import OUTGOING, is_of_business
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, rules
from conformance.reference.app import BasicAuth
from conformance.reference.customers import onboarding
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger, rule_based
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.transactions import (
    deposit_returns,
    settlement,
    transactions,
)
from conformance.reference.unit import Ask, Unit, new_id, timestamp

_REFUND = "INCOMING_PAYMENT.REFUND_"


_PAST = "2019-03-05T10:20:30Z"


# --- Once -----------------------------------------------------------------------------------


def _twice(kind: str) -> Apply:
    """Return the patch that reports what happens once under two ids."""

    def emitted(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        emit(unit, event_type, data)
        if event_type == kind:
            emit(unit, event_type, data)

    return around(Unit, "emit", emitted)


_SINGLE = {
    "EVT-192": f"{OUTGOING}FAILED",
    "EVT-193": f"{OUTGOING}REFUND_PENDING",
    "EVT-194": f"{OUTGOING}REFUND_COMPLETED",
    "EVT-195": f"{OUTGOING}REFUND_FAILED",
    "EVT-196": "CUSTOMER.KYC_REJECTED",
    "EVT-197": "CUSTOMER.KYB_REJECTED",
    **dict.fromkeys((f"EVT-{number}" for number in range(198, 203)), externals.STATUS_EVENT),
    "EVT-203": rules.BALANCE_EVENT,
    "EVT-204": "CARD_TRANSACTION.SETTLED",
    "EVT-205": "CARD_TRANSACTION.DECLINED",
    "EVT-206": "CARD_TRANSACTION.VOIDED",
    "EVT-207": "CARD_TRANSACTION.SETTLED",
    "EVT-287": f"{_REFUND}PENDING",
    "EVT-288": f"{_REFUND}COMPLETED",
    "EVT-289": f"{_REFUND}FAILED",
}

for _id, _kind in _SINGLE.items():
    declare(_id, "twice", f"{_kind} is reported under two ids", _twice(_kind))


@mutant("EVT-208", "that a quote waits is reported when it is made and when it is executed")
def waits_twice(patch: Patch) -> None:
    patch.row(rules, "TRANSACTION_EVENTS", "PENDING", f"{OUTGOING}PENDING")

    def reporting(perform: Function, unit: Unit, quote: Quote, action: rules.Action) -> None:
        for _ in range(2):
            transactions.announce(unit, transaction_of(unit, quote), "PENDING")
        perform(unit, quote, action)

    patch.wrap(quotes, "perform", reporting)


# --- In vain --------------------------------------------------------------------------------


def _though_refused(place: Place, report: Callable[[Unit, Ask], None]) -> Apply:
    """Return the patch that reports what was asked for and refused."""

    def handling(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
        report(unit, ask)
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

    return rescued(*place, handling)


def _payment(happening: str) -> Callable[[Unit, Ask], None]:
    def report(unit: Unit, ask: Ask) -> None:
        quote = quotes.get(unit, ask.params["quoteId"])
        unit.emit(f"{OUTGOING}{happening}", transactions.view(transaction_of(unit, quote)))

    return report


def _new_payment(unit: Unit, ask: Ask) -> None:
    source = ask.body.get("source")
    data = {"id": new_id("Transaction"), "status": "FAILED", "type": "OUTGOING", "source": source}
    unit.emit(f"{OUTGOING}FAILED", {**data, "createdAt": timestamp(unit.now)})


def _account(unit: Unit, ask: Ask) -> None:
    externals.announce(unit, externals.get(unit, ask.params["externalAccountId"]))


def _review(unit: Unit, ask: Ask) -> None:
    customer = unit.session.get_one(Customer, ask.params["customerId"])
    unit.emit("CUSTOMER.KYC_PENDING", {"id": customer.id, "kycStatus": "PENDING"})


def _balance(unit: Unit, ask: Ask) -> None:
    accounts.announce_balance(unit, accounts.get(unit, ask.params["accountId"]))


_IN_VAIN: tuple[tuple[str, str, Place, Callable[[Unit, Ask], None]], ...] = (
    ("EVT-209", "a refused quote", (quotes, "create"), _new_payment),
    ("EVT-211", "a refused execution", (quotes, "execute"), _payment("PROCESSING")),
    ("EVT-212", "a refused authorization", (quotes, "authorize"), _payment("PROCESSING")),
    ("EVT-213", "a second execution", (quotes, "execute"), _payment("COMPLETED")),
    ("EVT-214", "a refused deletion", (externals, "remove"), _account),
    ("EVT-215", "a refused update", (onboarding, "update"), _review),
    ("EVT-216", "a refused deposit", (rule_based, "fund"), _balance),
)

for _id, _what, _place, _report in _IN_VAIN:
    declare(_id, "reported", f"{_what} is reported", _though_refused(_place, _report))


@mutant("EVT-217", "a second payment executes its quote again")
def paid_again(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", ("COMPLETED", "DEPOSIT"), rules.Move("PROCESSING"))


@mutant(
    "EVT-210",
    "requests are carried out before their credentials are looked at",
    (BasicAuth, "__call__"),
)
async def carried_out_before_authentication(
    call: Function, self: app.BasicAuth, scope: Any, receive: Any, send: Any
) -> None:
    if scope["type"] == "http" and not self._is_allowed(scope):
        await self._app(scope, receive, _nowhere)
    await call(self, scope, receive, send)


async def _nowhere(_message: Any) -> None:
    """Drop a part of an answer."""


# --- Shown otherwise ------------------------------------------------------------------------


def _showing(kind: str, edit: Edit) -> Apply:
    """Return the patch that changes the data of all events whose type begins with ``kind``."""

    def emitted(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        changed = edit(deepcopy(data)) if event_type.startswith(kind) else data
        emit(unit, event_type, changed)

    return around(Unit, "emit", emitted)


_SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("EVT-220", f"{OUTGOING}COMPLETED", "type", "PAYOUT"),
    ("EVT-221", f"{OUTGOING}COMPLETED", "direction", "CREDIT"),
    ("EVT-222", f"{OUTGOING}COMPLETED", "sentAmount.amount", 1),
    ("EVT-223", f"{OUTGOING}COMPLETED", "receivedAmount.amount", 1),
    ("EVT-224", f"{OUTGOING}COMPLETED", "exchangeRate", 1.5),
    ("EVT-225", f"{OUTGOING}COMPLETED", "createdAt", _PAST),
    ("EVT-226", f"{OUTGOING}COMPLETED", "description", "A payment"),
    ("EVT-227", f"{OUTGOING}COMPLETED", "quoteId", "Quote:1"),
    ("EVT-228", f"{OUTGOING}COMPLETED", "settledAt", _PAST),
    ("EVT-229", f"{OUTGOING}COMPLETED", "platformFees", 1),
    ("EVT-230", f"{OUTGOING}FAILED", "failureReason", "FAILED"),
    ("EVT-844", f"{OUTGOING}REFUND_COMPLETED", "failureReason", "REFUNDED"),
    ("EVT-231", f"{OUTGOING}REFUND_COMPLETED", "refund.reference", "Refund:1"),
    ("EVT-238", f"{OUTGOING}PROCESSING", "status", "PENDING"),
    ("EVT-239", f"{OUTGOING}REFUND_PENDING", "status", "PROCESSING"),
    ("EVT-240", f"{OUTGOING}REFUND_COMPLETED", "status", "COMPLETED"),
    ("EVT-236", f"{OUTGOING}REFUND_COMPLETED", "refund.status", "PENDING"),
    ("EVT-986", f"{OUTGOING}PROCESSING", "receivedAmount.amount", 1),
    ("EVT-987", f"{OUTGOING}REFUND_COMPLETED", "sentAmount.amount", 1),
    ("EVT-975", f"{OUTGOING}REFUND_FAILED", "refund.status", "PENDING"),
    ("EVT-172", "CARD_TRANSACTION.SETTLED", "status", "AUTHORIZED"),
    ("EVT-177", "CARD_TRANSACTION.SETTLED", "status", "AUTHORIZED"),
    ("EVT-188", "CARD_TRANSACTION.SETTLED", "direction", "CREDIT"),
    ("EVT-173", "CARD_TRANSACTION.DECLINED", "status", "AUTHORIZED"),
    ("EVT-985", "CARD_TRANSACTION.DECLINED", "cardDeclinedReason", "OTHER"),
    ("EVT-174", "CARD_TRANSACTION.VOIDED", "status", "AUTHORIZED"),
    ("EVT-175", "CARD_TRANSACTION.VOIDED", "status", "AUTHORIZED"),
    ("EVT-241", f"{OUTGOING}REFUND_FAILED", "status", "COMPLETED"),
    ("EVT-242", rules.BALANCE_EVENT, "balance.amount", 41_337),
    ("EVT-243", rules.BALANCE_EVENT, "status", "PENDING"),
    ("EVT-244", rules.BALANCE_EVENT, "createdAt", _PAST),
    ("EVT-245", rules.BALANCE_EVENT, "label", "Savings"),
    ("EVT-306", "CUSTOMER.KYC", "platformCustomerId", "1"),
    ("EVT-307", "CUSTOMER.KYC", "region", "FR"),
    ("EVT-308", "CUSTOMER.KYC", "fullName", "Ada Other"),
    ("EVT-309", "CUSTOMER.KYC", "birthDate", "1901-01-01"),
    ("EVT-310", "CUSTOMER.KYC", "nationality", "FR"),
    ("EVT-311", "CUSTOMER.KYC", "currencies", ["XTS"]),
    ("EVT-312", "CUSTOMER.KYC", "address.city", "Elsewhere"),
    ("EVT-313", "CUSTOMER.KYB", "platformCustomerId", "1"),
    ("EVT-314", "CUSTOMER.KYB", "region", "FR"),
    ("EVT-315", "CUSTOMER.KYB", "currencies", ["XTS"]),
    ("EVT-316", "CUSTOMER.KYB", "businessInfo.legalName", "Other Ltd"),
    ("EVT-317", "CUSTOMER.KYB", "businessInfo.country", "FR"),
    ("EVT-318", "CUSTOMER.KYB", "businessInfo.incorporatedOn", "1901-01-01"),
    ("EVT-319", "CUSTOMER.KYB", "businessInfo.registrationNumber", "1"),
    ("EVT-840", "CUSTOMER.KYC", "email", "other@example.com"),
    ("EVT-841", "CUSTOMER.KYC", "phoneNumber", "+10000000000"),
    ("EVT-842", "CUSTOMER.KYB", "email", "other@example.com"),
    ("EVT-843", "CUSTOMER.KYB", "phoneNumber", "+10000000000"),
    ("EVT-284", f"{_REFUND}COMPLETED", "id", None),
    ("EVT-293", _REFUND, "id", None),
)
"""Requirement, event, and the member of its data that is shown as something else."""


def _renamed(data: Json) -> Json:
    return {**data, "id": "Transaction:1", "deposit": data["id"]}


for _id, _kind, _path, _value in _SHOWN:
    _edit = put(_path, _value) if _path != "id" else _renamed
    declare(_id, "other", f"{_kind} shows another {_path}", _showing(_kind, _edit))

for _id, _kind, _path, _value in _SHOWN:
    if _id in ("EVT-220", "EVT-221", "EVT-225", "EVT-226", "EVT-227"):
        for _status in (
            *("PROCESSING", "FAILED"),
            *("REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED"),
        ):
            declare(
                _id,
                f"other-{_status.lower()}",
                f"{OUTGOING}{_status} shows another {_path}",
                _showing(f"{OUTGOING}{_status}", put(_path, _value)),
            )


def _of_unknown_accounts(data: Json) -> Json:
    """Tell of an account that the receiving bank does not know as of one that cannot receive."""
    unknown = data.get("failureReason") == "ACCOUNT_INVALID"
    return put("failureReason", "ACCOUNT_CANNOT_RECEIVE")(data) if unknown else data


for _id, _status in (("EVT-230", "FAILED"), ("EVT-844", "REFUND_COMPLETED")):
    declare(
        _id,
        "another-cause",
        f"{OUTGOING}{_status} tells the cause of another failure for accounts that are unknown",
        _showing(f"{OUTGOING}{_status}", _of_unknown_accounts),
    )


def _is_converted(data: Json) -> bool:
    codes = {data[name]["currency"]["code"] for name in ("sentAmount", "receivedAmount")}
    return len(codes) > 1


def _inverted(data: Json) -> Json:
    """Show the rate of a conversion in the other direction."""
    return put("exchangeRate", 1 / data["exchangeRate"])(data) if _is_converted(data) else data


def _unconverted(data: Json) -> Json:
    """Show what was sent as what was received."""
    sent: int = data["sentAmount"]["amount"]
    return put("receivedAmount.amount", sent)(data) if _is_converted(data) else data


declare(
    "EVT-224",
    "inverted",
    f"{OUTGOING}COMPLETED shows the rate of a conversion the other way round",
    _showing(f"{OUTGOING}COMPLETED", _inverted),
)
declare(
    "EVT-223",
    "unconverted",
    f"{OUTGOING}COMPLETED shows what was sent as received where it was converted",
    _showing(f"{OUTGOING}COMPLETED", _unconverted),
)


def _of_another_quote_where(kind: str) -> Edit:
    """Show another quoteId in what a source of a kind has paid."""

    def edit(data: Json) -> Json:
        meant = data["source"].get("sourceType") == kind
        return put("quoteId", "Quote:1")(data) if meant else data

    return edit


declare(
    "EVT-227",
    "realtime",
    f"{OUTGOING}COMPLETED shows another quoteId where the payment was funded in real time",
    _showing(f"{OUTGOING}COMPLETED", _of_another_quote_where("REALTIME_FUNDING")),
)


for _id, _kind, _path, _value in (
    ("EVT-307", "CUSTOMER.KYC_PENDING", "region", "FR"),
    ("EVT-312", "CUSTOMER.KYC_PENDING", "address.city", "Elsewhere"),
    ("EVT-319", "CUSTOMER.KYB_PENDING", "businessInfo.registrationNumber", "1"),
    ("EVT-843", "CUSTOMER.KYB_PENDING", "phoneNumber", "+10000000000"),
):
    declare(
        _id, "other-pending", f"{_kind} shows another {_path}", _showing(_kind, put(_path, _value))
    )


def _as_created(member: str, kind: str = "CUSTOMER.KYC") -> Apply:
    """Return the patch after which events of a kind show a member from the creation."""
    first: dict[str, Any] = {}

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer: Json = original(unit, ask)
        first[customer["id"]] = customer.get(member)
        return customer

    return together(
        around(onboarding, "create", create),
        _showing(kind, lambda data: replaced(member, first.get(data["id"]))(data)),
    )


for _id, _member in (("EVT-308", "fullName"), ("EVT-309", "birthDate")):
    declare(_id, "first", f"events show the {_member} from the creation", _as_created(_member))

declare(
    "EVT-316",
    "first",
    "events show the businessInfo from the creation",
    _as_created("businessInfo", "CUSTOMER.KYB"),
)

for _status in ("PENDING", "APPROVED"):
    declare(
        "EVT-370",
        f"left-out-{_status.lower()}",
        f"CUSTOMER.KYC_{_status} leaves contactVerification out",
        _showing(f"CUSTOMER.KYC_{_status}", without("contactVerification")),
    )

    declare(
        "EVT-900",
        f"left-out-{_status.lower()}",
        f"CUSTOMER.KYB_{_status} leaves contactVerification out",
        _showing(f"CUSTOMER.KYB_{_status}", without("contactVerification")),
    )

for _id, _kind in (("EVT-372", "KYC"), ("EVT-373", "KYB")):
    for _member in ("customerType", f"{_kind.lower()}Status"):
        declare(
            _id,
            f"without-{_member}",
            f"CUSTOMER.{_kind}_APPROVED leaves {_member} out",
            _showing(f"CUSTOMER.{_kind}_APPROVED", without(_member)),
        )

declare(
    "EVT-847",
    "without",
    "the webhook about a refund leaves its reference out",
    _showing(f"{OUTGOING}REFUND_COMPLETED", without("refund.reference")),
)

for _member in ("quoteId", "description", "settledAt"):
    declare(
        "EVT-988",
        f"without-{_member}",
        f"webhooks about completed payments leave {_member} out",
        _showing(f"{OUTGOING}COMPLETED", without(_member)),
    )

for _member in ("customerId", "totalBalance", "createdAt", "updatedAt", "label", "sweepRule"):
    declare(
        "EVT-846",
        f"without-{_member}",
        f"webhooks about balances leave {_member} out",
        _showing(rules.BALANCE_EVENT, without(_member)),
    )

for _status in ("PENDING", "APPROVED", "REJECTED"):
    declare(
        "EVT-371",
        f"left-out-{_status.lower()}",
        f"CUSTOMER.KYB_{_status} leaves businessInfo out",
        _showing(f"CUSTOMER.KYB_{_status}", without("businessInfo")),
    )

for _id, _name, _change in (
    ("EVT-283", "nested", lambda data: {"transaction": data}),
    ("EVT-283", "reduced", lambda data: {"id": data["id"]}),
):
    declare(_id, _name, "a returned deposit is no transaction", _showing(_REFUND, _change))


def _stale(condition: Callable[[Json], bool], edit: Edit) -> Apply:
    """Return the patch that lists transactions otherwise than they are reported."""
    return edited(transactions, "view_of", lambda row: edit(row) if condition(row) else row)


def _is_at(status: str) -> Callable[[Json], bool]:
    return lambda row: row["status"] == status


def _is_refunded(row: Json) -> bool:
    return "refund" in row


_READINGS: tuple[tuple[str, Callable[[Json], bool], Edit], ...] = (
    ("EVT-232", _is_at("COMPLETED"), put("status", "PROCESSING")),
    ("EVT-233", _is_at("PROCESSING"), put("status", "PENDING")),
    ("EVT-234", _is_at("FAILED"), put("status", "PROCESSING")),
    ("EVT-235", _is_refunded, without("refund")),
    ("EVT-236", _is_refunded, put("refund.status", "PENDING")),
)

for _id, _condition, _edit in _READINGS:
    declare(_id, "stale", "a reading lags behind for ever", _stale(_condition, _edit))


for _id, _member, _now, _before in (
    ("EVT-300", "kycStatus", "APPROVED", "PENDING"),
    ("EVT-301", "kybStatus", "APPROVED", "PENDING"),
    ("EVT-302", "kycStatus", "REJECTED", "PENDING"),
    ("EVT-303", "kybStatus", "REJECTED", "PENDING"),
    ("EVT-304", "kycStatus", "", "UNVERIFIED"),
    ("EVT-305", "kybStatus", "", "UNVERIFIED"),
):

    def _lag(member: str, now: str, before: str, row: Json) -> Json:
        late = member in row and now in ("", row[member])
        return {**row, member: before} if late else row

    _reading = edited(onboarding, "read", partial(_lag, _member, _now, _before))
    declare(_id, "stale", "a reading of a customer lags behind for ever", _reading)


# --- Returned deposits ----------------------------------------------------------------------


def _silent(status: str) -> Apply:
    def silent(unit: Unit, row: Transaction, happening: str) -> bool:
        return happening == status

    return skipped(deposit_returns, "announce", silent)


def _also(status: str, other: str) -> Apply:
    """Return the patch that reports another status too when a refund comes to one."""

    def talkative(unit: Unit, row: Transaction, happening: str) -> None:
        if happening == status:
            unit.emit(other, transactions.view(row))

    return after(deposit_returns, "announce", talkative)


def _as_of_a_payout(status: str) -> Apply:
    kind = f"{OUTGOING}REFUND_{status}"
    return with_row(deposit_returns, "EVENTS", status, kind)


for _id, _status in {"EVT-280": "PENDING", "EVT-281": "COMPLETED", "EVT-282": "FAILED"}.items():
    declare(_id, "silent", f"a refund that is {_status} is not reported", _silent(_status))
    declare(
        _id,
        "outgoing",
        f"a refund that is {_status} is reported as that of a payout",
        _as_of_a_payout(_status),
    )


def _silent_to_the_platform(status: str) -> Apply:
    def silent(_unit: Unit, row: Transaction, happening: str) -> bool:
        return happening == status and row.customer_id is None

    return skipped(deposit_returns, "announce", silent)


def _silent_to_businesses(status: str) -> Apply:
    def silent(unit: Unit, row: Transaction, happening: str) -> bool:
        return happening == status and is_of_business(unit, row)

    return skipped(deposit_returns, "announce", silent)


declare(
    "EVT-282",
    "of-a-business",
    "a refund of a business that fails is not reported",
    _silent_to_businesses("FAILED"),
)
for _id, _status in {"EVT-280": "PENDING", "EVT-281": "COMPLETED"}.items():
    declare(
        _id,
        "of-the-platform",
        f"a refund of the platform that is {_status} is not reported",
        _silent_to_the_platform(_status),
    )
    declare(
        _id,
        "of-a-business",
        f"a refund of a business that is {_status} is not reported",
        _silent_to_businesses(_status),
    )

for _id, _status, _other in (
    ("EVT-285", "COMPLETED", f"{_REFUND}FAILED"),
    ("EVT-286", "FAILED", f"{_REFUND}COMPLETED"),
    ("EVT-291", "COMPLETED", f"{OUTGOING}REFUND_COMPLETED"),
):
    declare(_id, "also", f"it is reported as {_other} too", _also(_status, _other))


@mutant("EVT-290", "every deposit is reported as if it went back", (rule_based, "fund"), after)
def all_go_back(unit: Unit, ask: Ask) -> None:
    account = accounts.get(unit, ask.params["accountId"])
    row = deposit_returns.record(unit, account, int(ask.body["amount"]))
    settlement.set_refund(row, "PENDING", new_id("Refund"))
    unit.emit(f"{_REFUND}PENDING", transactions.view(row))


@mutant(
    "EVT-292",
    "the balance after a returned deposit is not reported",
    (deposit_returns, "move"),
    after,
)
def silent_balance(unit: Unit, account: Any, amount: int) -> None:
    unit.events[:] = [e for e in unit.events if e["type"] != rules.BALANCE_EVENT]


@mutant("EVT-294", "a deposit that arrives at its sender comes back", (deposit_returns, "finish"))
def returned_twice(_: Function, unit: Unit, transaction_id: str, outcome: str) -> None:
    row = transactions.get(unit, transaction_id, lock=True)
    account = accounts.get(unit, row.destination_account or "")
    deposit_returns.move(unit, account, row.receiving_amount)
    deposit_returns.reach(unit, row, outcome)


@mutant("EVT-960", "a deposit that went back is held for ever", (deposit_returns, "finish"))
def held_for_ever(_: Function, unit: Unit, transaction_id: str, outcome: str) -> None:
    row = transactions.get(unit, transaction_id, lock=True)
    account = accounts.get(unit, row.destination_account or "")
    amount, currency = row.receiving_amount, account.currency
    transit = ledger.Leg(ledger.system("transit", currency), currency, -amount)
    ledger.post(unit, [transit, ledger.Leg(ledger.held(account.id), currency, amount)])
    deposit_returns.reach(unit, row, outcome)


# --- Failures -------------------------------------------------------------------------------


def _unreported_for(reason: str) -> Apply:
    """Return the patch that does not report what fails for a reason."""

    def silent(unit: Unit, row: Transaction, happening: str) -> bool:
        return happening == "FAILED" and row.failure_reason == reason

    return skipped(transactions, "announce", silent)


for _id, _reason in {
    "EVT-330": "PAYOUT_RETURNED",
    "EVT-331": "LIMIT_EXCEEDED",
    "EVT-332": "ACCOUNT_CANNOT_RECEIVE",
    "EVT-333": "ACCOUNT_INVALID",
    "EVT-334": rules.SCA_FAILURE_REASON,
}.items():
    declare(_id, "silent", f"{_reason} is not reported", _unreported_for(_reason))
