"""Internal accounts: balances, deposits, and rule-based accounts that sweep what they receive."""

import datetime as dt
import json
import re
import secrets
from typing import Any

from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import Rule, integer, one_of, record, text
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.keys import checked_key
from conformance.proof.second.money import COINS, Json, coin, money
from conformance.proof.second.world import World, now

TYPES = ("INTERNAL_FIAT", "INTERNAL_CRYPTO", "EMBEDDED_WALLET", "RULE_BASED")
WALLET_CURRENCY = "USDB"
# What keeps an external account from being paid.
REFUSALS = frozenset({"unknown", "blocked", "limited", "returned", "screened"})
PLATFORM_CURRENCIES = ("USD", "EUR", "USDC")


def open_account(world: World, owner: Json | None, kind: str, code: str) -> Json:
    """Open an account of a customer, or of the platform for None, with nothing on it."""
    moment = now()
    waits = owner is not None and "await" in owner["_traits"]
    wallet = kind == "EMBEDDED_WALLET" and world.has("wallet-id-with-own-prefix")
    account: Json = {
        "id": world.new_id("EmbeddedWallet" if wallet else "InternalAccount"),
        "type": kind,
        "status": "PENDING" if waits else "ACTIVE",
        "customerId": owner["id"] if owner else "",
        "label!": None,
        "sweepRule!": None,
        "createdAt": moment,
        "updatedAt": moment,
        "_code": code,
        "_available": 0,
        "_held": 0,
        "_coming": 0,
        "_unsettled": 0,
        "_spent": 0,
        "_deposited": 0,
        "_used": False,
        "_number": f"{world.number():010}",
        "_key": secrets.token_hex(16),
        "_traits": set(),
    }
    if kind == "EMBEDDED_WALLET":
        account["privateEnabled"] = False
    if kind == "INTERNAL_FIAT" and code == "USD" and owner:
        account["cardFundingActions"] = ["AUTHORIZE", "REFUND"]
    world.internals[account["id"]] = account
    return account


def provision(world: World, customer: Json, *, again: bool = False) -> None:
    """Open the accounts that a customer gets by itself; where it has them only `again`."""
    if of_customer(world, customer["id"]) and not again:
        return
    fiat = ["USD", *(customer.get("currencies") or ())]
    for code in dict.fromkeys(fiat):
        kind = "INTERNAL_CRYPTO" if COINS[code].crypto else "INTERNAL_FIAT"
        open_account(world, customer, kind, code)
    if "USDC" not in fiat:
        open_account(world, customer, "INTERNAL_CRYPTO", "USDC")
    if customer["customerType"] == "BUSINESS" and world.has("no-wallet-for-business"):
        return
    if not world.has("no-wallet-on-approval"):
        open_account(world, customer, "EMBEDDED_WALLET", WALLET_CURRENCY)


def of_customer(world: World, customer_id: str) -> list[Json]:
    """Return the internal accounts of a customer, oldest first."""
    return [row for row in world.internals.values() if row["customerId"] == customer_id]


def works(world: World, account: Json) -> bool:
    """Tell whether an account can send and receive: by a planted bug one that FAILED, too."""
    failed = account["status"] == "FAILED" and world.has("failed-account-still-sends")
    return account["status"] == "ACTIVE" or failed


def shown(world: World, account: Json) -> Json:
    """Return an internal account as answers and events show it."""
    body = {name: value for name, value in account.items() if not name.startswith("_")}
    frozen = account["status"] == "FROZEN" and "cardFundingActions" in account
    if account["status"] != "ACTIVE" and not (frozen and world.has("frozen-funds-cards")):
        body.pop("cardFundingActions", None)
    code = account["_code"]
    total = account["_available"] + account["_held"] + account["_coming"]
    available = account["_available"]
    total += account["_unsettled"]
    available += account["_unsettled"]
    total += account["_spent"]
    if total != available and world.has("held-is-available"):
        available = total
    if total != available and world.has("total-without-held"):
        total = available
    total -= _left_out(world, account)
    body["balance"] = money(available, code)
    if account["type"] == "INTERNAL_CRYPTO" and world.has("no-coin-symbol"):
        body["balance"]["currency"]["symbol"] = None
    body["totalBalance"] = money(total, code)
    if world.has("total-balance-decimals-as-string"):
        body["totalBalance"]["currency"]["decimals"] = str(COINS[code].decimals)
    if account["status"] == "FROZEN" and world.has("frozen-as-suspended"):
        body["status"] = "SUSPENDED"
    _mistake(world, account, body)
    _mistake_time(world, account, body)
    funded = account
    if "_home" in account and world.has("instructions-of-holder"):
        funded = world.internals[account["_home"]]
    body["fundingPaymentInstructions"] = _instructions(world, account, funded)
    if not account["customerId"]:
        forms = {"empty": "", "null": None}
        if world.persona.no_owner in forms:
            body["customerId!"] = forms[world.persona.no_owner]
        del body["customerId"]
    return body


def _left_out(world: World, account: Json) -> int:
    """Return what a planted bug leaves out of the total balance of an account."""
    if account["_coming"] and world.has("total-without-pending"):
        return int(account["_coming"])
    if account["_deposited"] and world.has("deposit-without-total"):
        return int(account["_deposited"])
    return 0


def _mistake(world: World, account: Json, body: Json) -> None:
    """Spoil an account that is shown by a planted bug."""
    if account["status"] == "FAILED" and world.has("failed-as-pending"):
        body["status"] = "PENDING"
    routed = account.get("_first_routed")
    if routed and world.has("holder-shows-sweep-rule"):
        body["sweepRule!"] = world.internals[routed]["sweepRule!"]
    unnamed = account["type"] == "RULE_BASED" and account["label!"] is None
    if unnamed and world.has("no-label-as-empty"):
        body["label!"] = ""
    if account["label!"] is None and world.has("no-label-empty-anywhere"):
        body["label!"] = ""
    if account["type"] != "RULE_BASED" and world.has("sweep-rule-empty-object"):
        body["sweepRule!"] = {}
    if account["status"] == "CLOSED" and world.has("closed-as-inactive"):
        body["status"] = "INACTIVE"
    if account["type"] == "INTERNAL_CRYPTO" and world.has("privacy-flag-on-crypto"):
        body["privateEnabled"] = False
    if "cardFundingActions" in body:
        issued = any(row["fundingAccountId"] == account["id"] for row in world.cards.values())
        if issued and world.has("card-funding-once"):
            del body["cardFundingActions"]


def _mistake_time(world: World, account: Json, body: Json) -> None:
    """Spoil by a planted bug when an account that is shown was changed."""
    untouched = account["updatedAt"] is account["createdAt"]
    if untouched and world.has("internal-account-updated-at-null"):
        del body["updatedAt"]
        body["updatedAt!"] = None


def _instructions(world: World, account: Json, funded: Json) -> Any:
    """Return how an account is funded: a list, which a planted bug forgets."""
    one = instruction(world, funded)
    if COINS[funded["_code"]].crypto and world.has("coin-instructions-flat"):
        one |= one.pop("accountOrWalletInfo")
    bare = account["type"] == "EMBEDDED_WALLET" and world.has("wallet-instructions-no-list")
    return one if bare else [one]


def instruction(world: World, account: Json, reference: str = "") -> Json:
    """Return how an internal account is funded."""
    code = account["_code"]
    if COINS[code].crypto:
        info: Json = {
            "accountType": "SPARK_WALLET" if code == "BTC" else "SOLANA_WALLET",
            "assetType": code,
            "address": f"second{account['_number']}",
        }
        if code == "BTC":
            info["invoice"] = f"lnbc1second{account['_number']}"
    else:
        info = {
            "accountType": "US_ACCOUNT" if code == "USD" else f"{code}_ACCOUNT",
            "accountNumber": account["_number"],
            "routingNumber": "021000021",
            "accountHolderName": "Second Payments",
            "bankName": "Second Bank",
            "reference": reference or f"REF{account['_number']}",
            "accountCategory": "CHECKING",
        }
    notes = {"instructionsNotes": "Send from an account of your own."}
    return {**(notes if world.persona.with_nulls else {}), "accountOrWalletInfo": info}


def changed(world: World, account: Json) -> None:
    """Tell that the balance of an account is another one."""
    account["updatedAt"] = now()
    before, account["_told"] = account.get("_told", 0), account["_available"]
    if world.persona.told_balance == "available" and before == account["_told"]:
        return
    told = _as_told(world, account)
    if account["type"] == "EMBEDDED_WALLET" and world.has("wallet-type-in-events"):
        told["type"] = "INTERNAL_CRYPTO"
    if account["type"] == "RULE_BASED" and world.has("rule-based-type-in-events"):
        told["type"] = "INTERNAL_FIAT"
    if account["_coming"] and world.has("pending-event-in-balance"):
        told["balance"] = money(account["_available"] + account["_coming"], account["_code"])
    if not account["customerId"] and world.has("platform-owner-in-events"):
        told["customerId!"] = "PLATFORM"
    if world.has("balance-event-in-major-units"):
        units = 10 ** COINS[account["_code"]].decimals
        told["balance"] = {**told["balance"], "amount": told["balance"]["amount"] / units}
    if not world.has("no-balance-event"):
        world.emit("INTERNAL_ACCOUNT.BALANCE_UPDATED", told)


def _as_told(world: World, account: Json) -> Json:
    """Return an account as an event shows it: by a planted bug with the balances from before."""
    told = shown(world, account)
    names = ("balance", "totalBalance")
    before = account.get("_balances") or dict.fromkeys(names, money(0, account["_code"]))
    account["_balances"] = {name: told[name] for name in names}
    if before != account["_balances"] and world.has("balance-events-old"):
        told |= before
    return told


def give_status(world: World, account: Json, status: str) -> None:
    """Give an account another status."""
    account["_provided"] = account["status"] == "PENDING"
    account["status"] = status
    account["updatedAt"] = now()
    if world.has("updated-in-local-time"):
        zone = dt.timezone(dt.timedelta(hours=2))
        account["updatedAt"] = now().astimezone(zone).isoformat(timespec="seconds")


def credit(world: World, account: Json, amount: int) -> None:
    """Add settled money to an account."""
    account["_used"] = True
    account["_available"] += amount
    changed(world, account)


def debit(world: World, account: Json, amount: int) -> None:
    """Take money from an account.

    Raises:
        Refusal: with `INSUFFICIENT_FUNDS` where it has less.
    """
    require_funds(world, account, amount)
    take(world, account, amount)


def take(world: World, account: Json, amount: int) -> None:
    """Take money from an account, whatever it has."""
    early = world.has("debit-event-old-balance")
    if early:
        changed(world, account)
    account["_available"] -= amount
    if not early:
        changed(world, account)


def take_later(world: World, account: Json, amount: int) -> None:
    """Take money by a planted bug, and show it in the balance until its payment has settled.

    Raises:
        Refusal: with `INSUFFICIENT_FUNDS` where the account has less.
    """
    require_funds(world, account, amount)
    account["_available"] -= amount
    account["_unsettled"] += amount


def hold_all(world: World, account: Json) -> None:
    """Hold whatever an account has, which is for a planted bug."""
    account["_held"] += account["_available"]
    account["_available"] = 0
    changed(world, account)


def require_funds(world: World, account: Json, amount: int) -> None:
    """Refuse where an account has less than an amount.

    Raises:
        Refusal: with `INSUFFICIENT_FUNDS`.
    """
    missing = amount - account["_available"]
    if missing == 1 and world.has("overdraft-of-one"):
        return
    if 0 < missing <= account["_coming"] and world.has("pending-spent"):
        return
    if missing > 0 and not world.has("overdraft"):
        raise Refusal("INSUFFICIENT_FUNDS", "The account has less than that.")


def deposit(world: World, account: Json, amount: int) -> None:
    """Let a settled deposit arrive; that of a rule-based account is swept on."""
    new = world.new_id("Transaction")
    world.transactions[new] = {
        "id": new,
        "type": "INCOMING",
        "direction": "CREDIT",
        "status": "COMPLETED",
        "sentAmount": money(amount, account["_code"]),
        "receivedAmount": money(amount, account["_code"]),
        "exchangeRate": 1,
        "settledAt": now(),
        "createdAt": now(),
        "_account": account["id"],
        "_customer": account["customerId"],
        "_amount": amount,
    }
    if world.has("incoming-as-debit"):
        world.transactions[new]["direction"] = "DEBIT"
    if world.has("incoming-amounts-as-text"):
        for name in ("sentAmount", "receivedAmount"):
            world.transactions[new][name]["amount"] = str(amount)
    account["_deposited"] += amount
    if world.has("deposit-event-old-balance"):
        changed(world, account)
        account["_used"] = True
        account["_available"] += amount
    else:
        credit(world, account, amount)
    sweep(world, account, amount)


def recall(world: World, account: Json, amount: int, delivered: bool) -> str:
    """Send a settled deposit back to its sender, where it is `delivered` or not; return its id."""
    row = _settled_deposit(world, account, amount)
    if world.has("recall-balance-untold"):
        account["_available"] -= amount
    else:
        debit(world, account, amount)
    _move_refund(world, row, "PENDING")
    world.later(
        world.persona.settle_seconds, lambda: _end_recall(world, account, row, delivered=delivered)
    )
    return str(row["id"])


def _settled_deposit(world: World, account: Json, amount: int) -> Json:
    for row in reversed(world.transactions.values()):
        fits = row.get("_account") == account["id"] and row.get("_amount") == amount
        if fits and not row.get("refund"):
            return row
    deposit(world, account, amount)
    return next(reversed(world.transactions.values()))


def _move_refund(world: World, row: Json, state: str) -> None:
    row["refund"] = {"status": state, "reference": f"RI{row['id'][-8:]}"}
    if state == "FAILED" and world.has("failed-recall-told-completed"):
        state = "COMPLETED"
    told = row
    if state == "COMPLETED" and world.has("recall-event-old-refund"):
        told = row | {"refund": {**row["refund"], "status": "PENDING"}}
    if not world.has("no-recall-event"):
        world.emit(f"INCOMING_PAYMENT.REFUND_{state}", told)


def _end_recall(world: World, account: Json, row: Json, *, delivered: bool) -> None:
    if not delivered:
        credit(world, account, row["_amount"])
    _move_refund(world, row, "COMPLETED" if delivered else "FAILED")


def sweep(world: World, account: Json, amount: int) -> None:
    """Send what arrived on an account to where its rule says, if it has one."""
    if account["type"] != "RULE_BASED":
        return
    home = world.internals[account["_home"]]
    target = world.internals.get(_rule_of(world, account))
    unreachable = "unreachable" in account["_traits"]
    if world.has("sweep-stays"):
        return
    if not world.has("sweep-keeps"):
        debit(world, account, amount)
    missed = (unreachable and not world.has("sweep-anyway")) or not _receives(world, account)
    if missed:
        credit(world, home, amount)
    elif target and world.has("sweep-untold"):
        target["_available"] += amount
    elif target:
        credit(world, target, amount)
    if not missed and world.has("sweep-credits-both"):
        credit(world, home, amount)


def _rule_of(world: World, account: Json) -> str:
    """Return where an account is swept to: by a planted bug where the holder's newest one is."""
    own = of_customer(world, account["customerId"])
    newest = [row for row in own if row["type"] == "RULE_BASED"][-1]
    other = newest["_target"] != account["_target"]
    return str((newest if other and world.has("sweep-by-newest-rule") else account)["_target"])


def _receives(world: World, account: Json) -> bool:
    target = account["_target"]
    found = world.internals.get(target) or world.externals.get(target)
    if not found:
        return False
    closed = found["status"] == "CLOSED" and world.has("closed-swept-into")
    if found["status"] != "ACTIVE" and not closed:
        return False
    return not REFUSALS & found["_traits"]


def list_of_customer(call: Call) -> Reply:
    """GET /customers/internal-accounts."""
    world = call.world
    customer = world.find(world.customers, call.asked("customerId"), "CUSTOMER_NOT_FOUND")
    call.concerns(customer["id"])
    rows = of_customer(world, customer["id"])
    ruled = [row for row in rows if row["type"] == "RULE_BASED"]
    if ruled and "no-rule-based" in world.switches and world.has("disabled-are-hidden"):
        rows = [row for row in rows if row not in ruled]
    if ruled and world.has("rule-based-account-not-listed"):
        rows = [row for row in rows if row not in ruled]
    if world.has("accounts-of-others"):
        rows = [row for row in world.internals.values() if row["customerId"]]
    used = [row for row in rows if row["_used"]]
    if len(used) < len(rows) and world.has("unused-accounts-unlisted"):
        rows = used
    return call.page([_listed(world, row) for row in _in_currency(call, rows)])


def _listed(world: World, account: Json) -> Json:
    body = shown(world, account)
    if account["type"] == "RULE_BASED" and world.has("rule-based-as-fiat"):
        body["type"] = "INTERNAL_FIAT"
    if account["type"] == "RULE_BASED" and world.has("listed-rule-based-ownerless"):
        body["customerId"] = ""
    if account["type"] == "RULE_BASED" and account["label!"] and world.has("label-lost-in-list"):
        body["label!"] = None
    if account["_held"] and world.has("listed-with-held"):
        body["balance"] = money(account["_available"] + account["_held"], account["_code"])
    return body


def _shows_everybody(call: Call) -> bool:
    """Tell whether a planted bug lists the accounts of customers among the platform's."""
    if call.query.get("currency") and call.world.has("filter-shows-customers"):
        return True
    return call.world.has("platform-list-shows-customers-accounts")


def list_of_platform(call: Call) -> Reply:
    """GET /platform/internal-accounts."""
    if not call.agent_of or not call.world.has("agent-reads-platform"):
        call.only_platform()
    rows = of_customer(call.world, "")
    if _shows_everybody(call):
        rows = list(call.world.internals.values())
    ruled = [row for row in call.world.internals.values() if row["type"] == "RULE_BASED"]
    if ruled and call.world.has("platform-list-with-rule-based"):
        rows += [row for row in ruled if row not in rows]
    rows = _in_currency(call, rows) or _unmatched(call, rows)
    coins = [row for row in rows if COINS[row["_code"]].crypto]
    if call.query.get("currency") and coins and call.world.has("filter-without-coins"):
        rows = [row for row in rows if row not in coins]
    listed = [shown(call.world, row) for row in rows]
    if call.query.get("currency"):
        listed = [
            body | _first_listed(call.world, row, body)
            for row, body in zip(rows, listed, strict=True)
        ]
    if coins and call.world.has("platform-coins-as-fiat"):
        listed = [row | {"type": "INTERNAL_FIAT"} for row in listed]
    if coins and call.world.has("platform-coins-owned"):
        listed = [
            row | {"customerId!": "Platform:second"} if row["type"] == "INTERNAL_CRYPTO" else row
            for row in listed
        ]
    for body in listed:
        apart = body["balance"] != body["totalBalance"]
        if apart and call.world.has("platform-list-total-balance"):
            body["balance"] = body["totalBalance"]
    return call.page([_spoilt(call.world, body) for body in listed], wrapped=True)


def _spoilt(world: World, body: Json) -> Json:
    """Return an account as the platform's list shows it: without its status by a planted bug."""
    if world.has("platform-account-names-an-owner"):
        return body | {"customerId!": "Platform:second"}
    if not world.has("platform-list-without-status"):
        return body
    return {name: value for name, value in body.items() if name != "status"}


def _unmatched(call: Call, rows: list[Json]) -> list[Json]:
    """Return what a filter shows that nothing fits: by a planted bug everything."""
    return rows if rows and call.world.has("unmatched-filter-ignored") else []


def _first_listed(world: World, account: Json, body: Json) -> Json:
    """Return what a list shows, by a planted bug, of the balances of an account: the first ones."""
    balances = {name: body[name] for name in ("balance", "totalBalance")}
    first: Json = account.setdefault("_first_listed", balances)
    return first if first != balances and world.has("filtered-list-cached") else {}


def _in_currency(call: Call, rows: list[Json]) -> list[Json]:
    code = call.query.get("currency")
    if not code or call.world.has("currency-filter-ignored"):
        return rows
    coin(code)
    return [row for row in rows if row["_code"] == code]


SWEEP = record({"to": text(most=100)}, needs=("to",))


def _rule(call: Call) -> Rule:
    world = call.world
    longest = 2000 if world.has("long-label") else 255
    # The body is not read yet: a label of 256 characters is looked for as it stands there.
    if re.search(rb'"label": *"[^"]{256}"', call.raw) and world.has("label-256"):
        longest = 256
    if re.search(rb'"label": *"[^"]{256,}"', call.raw) and world.has("refused-account-stays"):
        longest = 2000
    if re.search(rb'"label": *"[^"]{255}"', call.raw) and world.has("longest-label-refused"):
        longest = 254
    needs = ["type", "holder", "currencyCode"]
    if b'"sweepRule"' in call.raw or not _is_rule_optional(world):
        needs.append("sweepRule")
    return record(
        {
            "type": one_of(*TYPES),
            "holder": text(most=100),
            "currencyCode": text(most=12),
            "label": text(most=longest),
            "sweepRule": SWEEP,
        },
        needs,
        closed=world.persona.refuses_unknown,
    )


def _is_rule_optional(world: World) -> bool:
    """Tell whether a planted bug makes a rule-based account without a rule."""
    return world.has("sweep-rule-optional") or world.has("sweep-rule-by-default")


def create(call: Call) -> Reply:
    """POST /internal-accounts."""
    call.only_platform()
    world = call.world
    key = checked_key(call, needed=True)
    body = call.json(_rule(call))
    if len((body.get("label") or "").encode()) > 255 and world.has("label-counted-in-bytes"):
        raise invalid("label", "must have at most 255 bytes")
    print_of = json.dumps(_compared(world, body), sort_keys=True)
    memory = world.idempotent.get(f"account:{key}")
    if memory and memory["holder"] != body["holder"] and world.has("key-per-customer"):
        memory = None
    newer = [name for name in world.idempotent if name.startswith("account:")][-1:]
    late = memory and newer != [f"account:{key}"]
    if late and world.has("key-forgotten-after-another"):
        memory = None
    if memory and not world.has("key-forgotten"):
        other = memory["print"] != print_of
        if other and world.has("key-conflict-422"):
            raise Refusal("INVALID_INPUT", "The key was used for another account.", status=422)
        if other and not world.has("key-reuse"):
            raise conflict("The key was used for another account.")
        status = 201 if world.has("retry-answered-201") else 200
        first = world.internals[memory["id"]]
        if world.has("retry-with-new-number"):
            first = first | {"_number": f"{world.number():010}"}
        return status, _owned(world, first)
    account = _rule_based(world, body)
    if len(account["label!"] or "") > 255 and world.has("refused-account-stays"):
        raise invalid("label", "must have at most 255 characters")
    world.idempotent[f"account:{key}"] = {
        "print": print_of,
        "id": account["id"],
        "holder": body["holder"],
    }
    return 201, _owned(world, account)


def _compared(world: World, body: Json) -> Json:
    """Return what two requests of one key have in common: by a planted bug not all of it."""
    ignored = set()
    if world.has("key-ignores-rule"):
        ignored.add("sweepRule")
    if world.has("key-ignores-holder"):
        ignored.add("holder")
    return {name: value for name, value in body.items() if name not in ignored}


def _owned(world: World, account: Json) -> Json:
    body = shown(world, account)
    if world.has("rule-based-ownerless"):
        body["customerId"] = ""
    return body


def _swept_to(world: World, to: str) -> Json:
    """Return the account that a rule names."""
    outside = to.partition(":")[0].endswith("ExternalAccount")
    table = world.externals if outside else world.internals
    target = world.named(table, to, "ACCOUNT_NOT_FOUND", "sweepRule.to")
    if target["currency" if outside else "_code"] != "USD":
        raise invalid("sweepRule.to", "is in another currency")
    return target


def _passes_for_dollars(world: World, code: str) -> bool:
    """Tell whether a planted bug takes a crypto currency for the dollar that it stands for."""
    return code in {"USDC", "USDT", "USDB"} and world.has("rule-based-in-usdc")


def _rule_based(world: World, body: Json) -> Json:
    status = world.persona.eligibility_status
    if body["type"] != "RULE_BASED":
        raise invalid("type", "only RULE_BASED can be created", kind="select")
    holder = world.named(world.customers, body["holder"], "CUSTOMER_NOT_FOUND", "holder")
    if body["currencyCode"] != "USD" and not _passes_for_dollars(world, body["currencyCode"]):
        coin(body["currencyCode"])
        raise Refusal("INVALID_CURRENCY", "Rule-based accounts are in USD.", status=400)
    if holder["customerType"] != "INDIVIDUAL" and not world.has("rules-for-business"):
        raise invalid("holder", "has to be an individual", status=status)
    served = any(row["type"] == "RULE_BASED" for row in of_customer(world, holder["id"]))
    off = "no-rule-based" in world.switches
    if off and not (served and world.has("enabled-for-holders")):
        raise invalid("type", "is not enabled for the platform", status=status)
    homes = [
        row
        for row in of_customer(world, holder["id"])
        if row["_code"] == "USD" and row["type"] == "INTERNAL_FIAT" and row["status"] == "ACTIVE"
    ]
    approved = "APPROVED" in {holder.get("kycStatus"), holder.get("kybStatus")}
    if not homes or not approved:
        raise invalid("holder", "has no verified account in this currency", status=status)
    # Without a rule, which only a planted bug takes, there is no target.
    nowhere = homes[0] if world.has("sweep-rule-by-default") else {"id": ""}
    target = _swept_to(world, body["sweepRule"]["to"]) if "sweepRule" in body else nowhere
    label = body.get("label")
    if label and len(label) > 128 and world.has("label-cut"):
        label = label[:128]
    earlier = [row for row in of_customer(world, holder["id"]) if row["type"] == "RULE_BASED"]
    account = open_account(world, holder, "RULE_BASED", "USD")
    if earlier and world.has("second-number-shared"):
        account["_number"] = earlier[0]["_number"]
    account |= {
        "label!": label,
        "sweepRule!": {"to": target["id"]} if target["id"] else None,
        "_home": homes[0]["id"],
        "_target": target["id"],
    }
    homes[0].setdefault("_first_routed", account["id"])
    return account


def fund(call: Call) -> Reply:
    """POST /sandbox/internal-accounts/{accountId}/fund."""
    world = call.world
    account = world.find(world.internals, call.params["accountId"], "ACCOUNT_NOT_FOUND")
    call.concerns(account["customerId"])
    body = call.json(
        record({"amount": integer(1, 10**15)}, ("amount",), closed=world.persona.refuses_unknown)
    )
    closed = account["status"] == "CLOSED" and world.has("closed-account-still-receives")
    if not works(world, account) and not closed and not world.has("frozen-receives"):
        raise conflict("The account cannot receive.")
    if _blocked(world, account):
        raise conflict("Funding is blocked until the customer is approved.")
    deposit(world, account, body["amount"])
    return created(call, shown(world, account))


def _blocked(world: World, account: Json) -> bool:
    owner: Any = world.customers.get(account["customerId"])
    reviewed = owner is not None and "PENDING" in {owner.get("kycStatus"), owner.get("kybStatus")}
    if reviewed and world.has("pending-account-pays"):
        # What stays empty pays nothing: the same question is asked for what comes in.
        return False
    return owner is not None and "APPROVED" not in {owner.get("kycStatus"), owner.get("kybStatus")}


ROUTES: list[Route] = [
    ("GET", "/customers/internal-accounts", list_of_customer),
    ("GET", "/platform/internal-accounts", list_of_platform),
    ("POST", "/internal-accounts", create),
    ("POST", "/sandbox/internal-accounts/{accountId}/fund", fund),
]
