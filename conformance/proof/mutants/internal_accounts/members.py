"""Mutants of what an internal account shows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Place, edited, instead
from conformance.proof.kit.edits import ABSENT, Edit, copied, put, shows, where
from conformance.proof.kit.members import (
    FORMLESS_ID,
    FORMLESS_TIME,
    UNKNOWN_WORD,
    Member,
    declare_members,
)
from conformance.proof.kit.tables import with_columns
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import EURO, crediting
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import rules
from conformance.reference.customers import onboarding
from conformance.reference.internal_accounts import accounts
from conformance.reference.store import InternalAccount
from conformance.reference.unit import Ask, Unit

# --- Members --------------------------------------------------------------------------------


_RULE = {"destination": {"accountId": "ExternalAccount:1"}}


SHOWN: tuple[tuple[str, str, Place, str, Any], ...] = (
    ("ACC-030", "name", (accounts, "_view"), "balance.currency.code", "US Dollar"),
    ("ACC-030", "lower-case", (accounts, "_view"), "balance.currency.code", "usd"),
    ("ACC-031", "euro", (accounts, "_view"), "totalBalance.currency", EURO),
    ("ACC-044", "long-ago", (accounts, "_view"), "updatedAt", "2020-01-01T00:00:00.000000Z"),
    ("ACC-047", "named", (accounts, "_view"), "label", "Main account"),
    ("ACC-047", "empty", (accounts, "_view"), "label", ""),
    ("ACC-048", "rule", (accounts, "_view"), "sweepRule", _RULE),
    ("ACC-048", "empty", (accounts, "_view"), "sweepRule", {}),
    ("ACC-049", "rule", (accounts, "_view"), "sweepRule", _RULE),
    ("ACC-049", "empty", (accounts, "_view"), "sweepRule", {}),
    ("ACC-052", "off", (accounts, "_view"), "privateEnabled", False),
    ("ACC-052", "on", (accounts, "_view"), "privateEnabled", True),
    ("ACC-053", "text", (accounts, "_view"), "cardFundingCapabilities", "AUTHORIZE"),
    ("ACC-053", "flags", (accounts, "_view"), "cardFundingCapabilities", {"AUTHORIZE": True}),
    (
        "ACC-053",
        "objects",
        (accounts, "_view"),
        "cardFundingCapabilities",
        [{"action": "AUTHORIZE"}],
    ),
    ("ACC-054", "kept", (accounts, "_view"), "cardFundingCapabilities", ["AUTHORIZE"]),
    ("ACC-066", "kept", (accounts, "_view"), "cardFundingCapabilities", ["AUTHORIZE"]),
    ("ACC-055", "kept", (accounts, "_view"), "cardFundingCapabilities", ["AUTHORIZE"]),
    ("ACC-058", "owned", (accounts, "list_for_platform"), "data.*.customerId", "Customer:1"),
    ("ACC-059", "rule-based", (accounts, "list_for_platform"), "data.*.type", "RULE_BASED"),
    ("ACC-061", "none", (accounts, "list_for_platform"), "data", []),
    ("ACC-062", "crypto", (accounts, "list_for_platform"), "data.*.type", "INTERNAL_CRYPTO"),
    ("ACC-062", "wallet", (accounts, "list_for_platform"), "data.*.type", "EMBEDDED_WALLET"),
    ("ACC-806", "unknown", (accounts, "list_for_platform"), "data.*.balance.currency.code", "XTS"),
    ("ACC-808", "wallet", (accounts, "_view"), "type", "EMBEDDED_WALLET"),
    ("ACC-090", "none", (accounts, "_view"), "fundingPaymentInstructions", []),
    ("ACC-091", "number", (accounts, "_instruction"), "accountOrWalletInfo.accountType", 17),
    ("ACC-091", "missing", (accounts, "_instruction"), "accountOrWalletInfo.accountType", ABSENT),
    (
        "ACC-092",
        "list",
        (accounts, "_instruction"),
        "instructionsNotes",
        ["Include the reference."],
    ),
    ("ACC-092", "number", (accounts, "_instruction"), "instructionsNotes", 17),
)
"""Members that are shown wrongly, or not at all."""

TEXTS = {
    "ACC-093": "reference",
    "ACC-094": "accountNumber",
    "ACC-095": "routingNumber",
    "ACC-096": "accountHolderName",
    "ACC-097": "accountCategory",
    "ACC-098": "bankName",
    "ACC-099": "assetType",
    "ACC-100": "address",
    "ACC-101": "invoice",
}
"""The members of an instruction that are texts, by requirement."""

declare(
    "ACC-044",
    "goes-back",
    "the updatedAt of an account that has no money yet is in the future",
    edited(
        accounts,
        "_view",
        where(
            lambda account: not account["balance"]["amount"],
            put("updatedAt", "2999-01-01T00:00:00.000000Z"),
        ),
    ),
)

for _id, _name, _place, _path, _value in SHOWN:
    declare(
        _id,
        f"{_path.split('.')[-1]}-{_name}",
        f"{_path}: {_name}",
        edited(*_place, put(_path, _value)),
    )

for _id, _name in TEXTS.items():
    for _form, _value in {"number": 21000021, "object": {"value": "21000021"}}.items():
        declare(
            _id,
            f"{_name}-{_form}",
            f"the {_name} of an instruction is {_value}",
            edited(accounts, "_instruction", put(f"accountOrWalletInfo.{_name}", _value)),
        )

declare(
    "ACC-043",
    "follows-changes",
    "createdAt is the time of the last change",
    edited(accounts, "_view", copied("updatedAt", "createdAt")),
)
declare(
    "ACC-043",
    "whole-seconds",
    "createdAt is the second of the last change",
    edited(accounts, "_view", lambda body: {**body, "createdAt": f"{body['updatedAt'][:19]}Z"}),
)
declare(
    "ACC-040",
    "by-currency",
    "accounts are named by their currency",
    edited(
        accounts,
        "_view",
        lambda body: {**body, "id": f"InternalAccount:{body['balance']['currency']['code']}"},
    ),
)


def _once_changed(edit: Edit) -> Edit:
    """Return an edit of the accounts that something has happened to."""
    return lambda body: edit(body) if body["updatedAt"] != body["createdAt"] else body


declare(
    "ACC-042",
    "changed",
    "an account that was paid into has another type",
    edited(accounts, "_view", _once_changed(put("type", "RULE_BASED"))),
)
declare(
    "ACC-041",
    "renamed",
    "an account gets another id with each deposit",
    edited(accounts, "_view", _once_changed(lambda body: {**body, "id": f"{body['id']}-2"})),
)


def _of_type(kind: str) -> Apply:
    return instead(accounts, "type_for", lambda _currency: kind)


for _id, _type in (("ACC-045", "INTERNAL_CRYPTO"), ("ACC-046", "INTERNAL_FIAT")):
    declare(
        _id,
        "one-for-all",
        f"every account is {_type}",
        _of_type(_type),
    )
declare(
    "ACC-030",
    "three-letters",
    "every currency of three letters is held in an INTERNAL_FIAT account",
    instead(
        accounts, "type_for", lambda code: f"INTERNAL_{'FIAT' if len(code) == 3 else 'CRYPTO'}"
    ),
)

for _id, _code, _wrong in (
    ("ACC-032", "GBP", 0),
    ("ACC-032", "GBP", 3),
    ("ACC-033", "BTC", 2),
    ("ACC-033", "BTC", 11),
):
    declare(
        _id,
        f"{_wrong}-decimals",
        f"{_code} has {_wrong} of them",
        with_columns(rules, "CURRENCIES", _code, decimals=_wrong),
    )


def _as_cents(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
    shift = rules.CURRENCIES[account.currency].decimals - 2
    credit(unit, account, amount * 10**shift if shift > 0 else amount // 10**-shift)


for _id in ("ACC-034", "ACC-035"):
    declare(_id, "cents", "amounts are counted in hundredths", crediting(_as_cents))


# --- Members of resources -------------------------------------------------------------------


MEMBERS = (
    Member("ACC-001", (accounts, "_view"), "id", FORMLESS_ID),
    Member("ACC-002", (accounts, "_view"), "type", UNKNOWN_WORD),
    Member("ACC-003", (accounts, "_view"), "status", UNKNOWN_WORD),
    Member("ACC-004", (accounts, "_view"), "balance", {"number": 0, "null": None}),
    Member("ACC-005", (accounts, "_view"), "totalBalance", {"number": 0, "text": "0.00"}, False),
    Member(
        "ACC-006",
        (accounts, "_view"),
        "fundingPaymentInstructions",
        {"bare": [{"reference": "A1"}]},
        False,
    ),
    Member("ACC-007", (accounts, "_view"), "createdAt", FORMLESS_TIME, False),
    Member("ACC-008", (accounts, "_view"), "updatedAt", FORMLESS_TIME, False),
    Member("ACC-009", (accounts, "_view"), "label", {"number": 17, "long": "x" * 256}, False),
    Member("ACC-802", (accounts, "_view"), "totalBalance", {}),
    Member("ACC-803", (accounts, "_view"), "fundingPaymentInstructions", {}),
    Member("ACC-804", (accounts, "_view"), "createdAt", {}),
    Member("ACC-805", (accounts, "_view"), "updatedAt", {}),
)

declare_members(MEMBERS)


declare(
    "ACC-031",
    "decimals-of-crypto",
    "the total balance in a crypto currency has two decimals",
    edited(
        accounts,
        "_view",
        where(shows("type", "INTERNAL_CRYPTO"), put("totalBalance.currency.decimals", 2)),
    ),
)


@mutant("ACC-808", "a business gets no accounts in crypto currencies")
def fiat_for_businesses(patch: Patch) -> None:
    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        if ask.body.get("customerType") != "BUSINESS":
            return original(unit, ask)
        answer = original(unit, ask)
        unit.session.flush()
        for account in unit.session.scalars(
            select(InternalAccount).where(InternalAccount.customer_id == answer["id"])
        ):
            if account.type == "INTERNAL_CRYPTO":
                account.type = "EMBEDDED_WALLET"
        return answer

    patch.wrap(onboarding, "create", create)


for _id, _name, _value in (
    ("ACC-090", "no-way-to-fund-crypto", []),
    ("ACC-106", "one-wallet-for-all", [{"accountOrWalletInfo": {"accountType": "SPARK_WALLET"}}]),
):
    declare(
        _id,
        _name,
        f"the fundingPaymentInstructions of accounts in crypto currencies are {_value}",
        edited(
            accounts,
            "_view",
            where(shows("type", "INTERNAL_CRYPTO"), put("fundingPaymentInstructions", _value)),
        ),
    )

declare(
    "ACC-047",
    "named-crypto",
    "accounts in crypto currencies have a label from the start",
    edited(accounts, "_view", where(shows("type", "INTERNAL_CRYPTO"), put("label", "Crypto"))),
)
