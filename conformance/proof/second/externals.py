"""External accounts, proofs of their ownership, trust in them, discoveries and lookups."""

from typing import Any

from conformance.proof.second import account_types, customers, internals, sca, uma
from conformance.proof.second.account_types import BANKS, TYPES
from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import Fault, one_of, record, refuse, text
from conformance.proof.second.customers import at
from conformance.proof.second.errors import INPUT, Refusal, conflict, invalid
from conformance.proof.second.money import COINS, Json, coin, rate, unit_rate
from conformance.proof.second.money import shown as currency
from conformance.proof.second.pricing import least_received
from conformance.proof.second.world import Table, World, ahead, masked, now, public

MASKED = ("iban", "clabeNumber", "phoneNumber", "pixKey")
SIGNATURE = "b3duZXI="
RAILS = {"USD_ACCOUNT": ["ACH", "WIRE", "RTP", "FEDNOW"], "INR_ACCOUNT": ["UPI", "NEFT", "RTGS"]}
MAX_RECEIVED = 100_000_000


def is_named_by(key: Any) -> bool:
    """Tell whether an id is one of an external account, and not of an internal one."""
    return str(key).partition(":")[0].endswith("ExternalAccount")


def shown(world: World, account: Json) -> Json:
    """Return an external account as answers and events show it."""
    body = public(account)
    if not body.get("customerId"):
        body["customerId"] = None
    return _concealed(world, body)


def _concealed(world: World, body: Json) -> Json:
    """Return an account without what the persona does not show of it."""
    info = dict(body["accountInfo"])
    if world.persona.masked:
        info |= {name: masked(info[name]) for name in MASKED if isinstance(info.get(name), str)}
    if not world.persona.shows_beneficiary:
        info.pop("beneficiary", None)
    return body | {"accountInfo": info}


def move(world: World, account: Json, status: str) -> None:
    """Give an external account another status, with its event."""
    before = account["status"]
    if before == status:
        return
    account.setdefault("_first_status", before)
    account["status"] = status
    account["_updated"] = now()
    account["_reactivated"] = (before, status) == ("INACTIVE", "ACTIVE")
    untold = status == "INACTIVE" and world.has("inactive-untold")
    proven = (before, status) == ("PENDING_OWNERSHIP_VERIFICATION", "ACTIVE")
    if proven and not account["customerId"] and world.has("platform-proof-untold"):
        untold = True
    if status == "UNVERIFIED" and world.has("failed-proof-untold"):
        untold = True
    if account.get("_moved") and world.has("second-status-untold"):
        untold = True
    owner = world.customers.get(account["customerId"])
    if owner and owner["customerType"] == "BUSINESS" and world.has("business-account-untold"):
        untold = True
    account["_moved"] = True
    if not untold and not world.has("no-account-event"):
        world.emit("EXTERNAL_ACCOUNT.STATUS_UPDATED", _told(world, account, before))


def _told(world: World, account: Json, before: str) -> Json:
    """Return what the event of a new status tells; `before` is the one that the account had."""
    told = shown(world, account)
    proven = (before, account["status"]) == ("PENDING_OWNERSHIP_VERIFICATION", "ACTIVE")
    if proven and world.has("stale-account-event"):
        told["status"] = before
    failed = (before, account["status"]) == ("PENDING_OWNERSHIP_VERIFICATION", "UNVERIFIED")
    if failed and world.has("failed-proof-event-old"):
        told["status"] = before
    if world.has("status-event-carries-old-status"):
        told["status"] = before
    if world.has("bare-id-in-events"):
        told["id"] = account["id"].partition(":")[2]
    if world.has("status-event-bare"):
        told = {"id": account["id"], "status": account["status"]}
    owner = world.customers.get(account["customerId"])
    if owner and world.has("account-event-of-owner"):
        told = customers.shown(world, owner)
    return told


def _check(call: Call, body: Json, owner: Json | None) -> None:
    world, persona = call.world, call.world.persona
    members = {
        "currency": text(most=12),
        "platformAccountId": text(most=255),
        "customerId": text(most=100),
        "accountInfo": record({"accountType": one_of(*TYPES)}, ("accountType",)),
    }
    nested = persona.beneficiary_place == "nested"
    if not nested:
        members["beneficiary"] = record({})
    faults: list[Fault] = []
    rule = record(members, ("currency", "accountInfo"), closed=persona.refuses_unknown)
    rule(body, "", faults)
    info = body.get("accountInfo")
    kind = TYPES.get(str(info.get("accountType"))) if isinstance(info, dict) else None
    if kind and isinstance(info, dict):
        wrong = body.get("currency") is not None and body["currency"] not in kind.currencies
        dollars = wrong and body["currency"] == "USD" and world.has("any-account-in-dollars")
        if wrong and not dollars and not _is_free_asset(world, body, owner):
            faults.append(("currency", "select", "is not the currency of this account type"))
        tether = (info["accountType"], body.get("currency")) == ("ARBITRUM_WALLET", "USDT")
        if tether and world.has("arbitrum-tether-refused"):
            faults.append(("currency", "select", "is not the currency of this account type"))
        account_types.info_faults(world, info, kind, faults)
        rails = "paymentRails" in info and persona.sent_rails == "refused"
        if rails and not _keeps_rails(world, info):
            faults.append(("accountInfo.paymentRails", "text", "is never sent"))
        known = {*kind.members, "accountType", "beneficiary", "paymentRails"}
        if account_types.is_number_taken(world, info, kind):
            known.add("accountNumber")
        if persona.refuses_unknown:
            faults += [
                (f"accountInfo.{name}", "text", "is not known")
                for name in info
                if name not in known
            ]
        if faults and world.has("beneficiary-faults-later"):
            refuse(persona, faults)
        person = info.get("beneficiary") if nested else body.get("beneficiary")
        to_business = at(person, "beneficiaryType") == "BUSINESS"
        ours = owner is None and to_business
        salvadoran = info["accountType"] == "SLV_ACCOUNT" and to_business
        by_anybody = owner is not None and owner["customerType"] != "BUSINESS" and to_business
        unchecked = (ours and world.has("platform-payees-unchecked")) or (
            salvadoran and world.has("slv-business-unchecked")
        )
        if kind.beneficiary and not unchecked:
            account_types.beneficiary_faults(
                world,
                person,
                kind.currencies[0],
                "accountInfo.beneficiary" if nested else "beneficiary",
                faults,
                by_business=(
                    bool(owner)
                    and (owner or {})["customerType"] == "BUSINESS"
                    and persona.registration_noticed == "creation"
                )
                or (by_anybody and world.has("registration-asked-of-individuals")),
            )
    of_account = faults and all(fault[0].startswith("accountInfo.") for fault in faults)
    refuse(persona, faults, code=persona.account_code if of_account else INPUT)


def _keeps_rails(world: World, info: Json) -> bool:
    """Tell whether a planted bug takes over the payment rails that a client sends."""
    indian = info["accountType"] == "INR_ACCOUNT" and world.has("indian-rails-taken-over")
    return indian or world.has("rails-taken-over")


def _is_free_asset(world: World, body: Json, owner: Json | None) -> bool:
    """Tell whether a planted bug lets an account have a currency that is not one of its type."""
    given = body["currency"]
    if isinstance(given, str) and given in COINS and world.has("account-in-any-currency"):
        return True
    plasma = body["accountInfo"]["accountType"] == "PLASMA_WALLET"
    if plasma and body["currency"] == "USDC" and world.has("plasma-usdc"):
        return True
    solana = body["accountInfo"]["accountType"] == "SOLANA_WALLET"
    if solana and body["currency"] == "USDT" and world.has("solana-tether"):
        return True
    wallet = str(body["accountInfo"]["accountType"]).endswith("_WALLET")
    assets = [code for code, found in COINS.items() if found.crypto]
    ours = wallet and owner is None and body["currency"] in assets
    return ours and world.has("platform-wallet-any-asset")


def create(call: Call) -> Reply:
    """POST /customers/external-accounts."""
    world = call.world
    body = _tidied(world, call.json())
    owner = None
    if isinstance(body.get("customerId"), str):
        owner = world.named(world.customers, body["customerId"], "CUSTOMER_NOT_FOUND", "customerId")
    _check(call, body, owner)
    if owner is None and not _takes_its_own(world):
        raise invalid("customerId", "is required")
    return _registered(call, body, owner)


def create_for_platform(call: Call) -> Reply:
    """Register an account of the platform, for those who refuse one without a customer."""
    body = _tidied(call.world, call.json())
    _check(call, body, None)
    return _registered(call, body, None)


def _registered(call: Call, body: Json, owner: Json | None) -> Reply:
    world = call.world
    call.concerns(owner["id"] if owner else None)
    info = _info(world, body)
    kind = info["accountType"]
    derived = account_types.derived_code(info.get("iban", "")) if kind == "EUR_ACCOUNT" else None
    lost = derived and "swiftCode" not in info and world.has("derived-swift-not-kept")
    if derived and "swiftCode" not in info and not lost:
        info["swiftCode"] = derived
    other = kind == "EUR_ACCOUNT" and info.get("swiftCode") not in {None, derived}
    if other and world.has("given-swift-overwritten"):
        info["swiftCode"] = derived
    held = owner is not None and "hold-externals" in owner["_traits"]
    waits = held or world.persona.external_start == "PENDING"
    first = _same(world, owner, body, info)
    if first:
        return 200, shown(world, first)
    account: Json = {
        "id": world.new_id(_type_of_id(world, owner)),
        "customerId": owner["id"] if owner else "",
        "status": "PENDING" if waits else _first_status(world, owner, kind),
        "currency": body["currency"],
        "platformAccountId": body.get("platformAccountId"),
        "accountInfo": info,
        "_beneficiary": body.get("beneficiary"),
        "_traits": set(),
        "_trusted": False,
        "_challenge": None,
    }
    _mistake(world, account)
    if body.get("beneficiary"):
        account["beneficiary"] = body["beneficiary"]
    world.externals[account["id"]] = account
    if waits and not held:
        world.later(world.persona.settle_seconds, lambda: _verified(world, account))
    answer = _created(world, account)
    if lost:
        answer["accountInfo"] = answer["accountInfo"] | {"swiftCode": derived}
    return created(call, answer)


def _tidied(world: World, body: Json) -> Json:
    """Return a body whose account is written without spaces around, where the persona tidies."""
    info = body.get("accountInfo")
    if not world.persona.tidies or not isinstance(info, dict):
        return body
    trimmed = {n: value.strip() if isinstance(value, str) else value for n, value in info.items()}
    return body | {"accountInfo": trimmed}


def _info(world: World, body: Json) -> Json:
    """Return the `accountInfo` of a new account, with the rails that its type is paid by."""
    info = {name: value for name, value in body["accountInfo"].items() if value is not None}
    if "paymentRails" in info and not _keeps_rails(world, info):
        del info["paymentRails"]
    kind = info["accountType"]
    if kind in RAILS and "paymentRails" not in info:
        info["paymentRails"] = RAILS[kind]
    return info


def _same(world: World, owner: Json | None, body: Json, info: Json) -> Json | None:
    """Return the account that is created again, where the persona has each account once."""
    if world.persona.same_account == "new":
        return None
    wanted = (owner["id"] if owner else "", body["currency"], body.get("platformAccountId"), info)
    return next(
        (
            row
            for row in world.externals.values()
            if (row["customerId"], row["currency"], row["platformAccountId"], row["accountInfo"])
            == wanted
        ),
        None,
    )


def _first_status(world: World, owner: Json | None, kind: str) -> str:
    """Return the status of a new account that waits for nothing but a proof of its ownership."""
    proven = not (kind.endswith("_WALLET") and customers.needs_sca(world, owner))
    return "ACTIVE" if proven else world.persona.eu_wallet_start


def _takes_its_own(world: World) -> bool:
    """Tell whether the platform gets external accounts of its own."""
    return world.persona.platform_externals and not world.has("platform-account-needs-customer")


def _type_of_id(world: World, owner: Json | None) -> str:
    ours = owner is None and world.has("platform-account-other-type")
    return "PlatformExternalAccount" if ours else "ExternalAccount"


def _created(world: World, account: Json) -> Json:
    """Return a new account as the answer to its creation shows it."""
    body = _coloured(world, account)
    if body["platformAccountId"] is not None and world.has("creation-without-own-id"):
        del body["platformAccountId"]
    if body["status"] == "PENDING" and world.has("created-as-active"):
        body["status"] = "ACTIVE"
    info = dict(account["accountInfo"])
    person = dict(info.get("beneficiary") or account["_beneficiary"] or {})
    papers = person.get("documentType") and person.get("documentNumber")
    if papers and world.has("document-members-swapped"):
        person |= {
            "documentType": person["documentNumber"],
            "documentNumber": person["documentType"],
        }
        if "beneficiary" in info:
            body["accountInfo"] = info | {"beneficiary": person}
        else:
            body["beneficiary"] = person
    return body


def _coloured(world: World, account: Json) -> Json:
    body = shown(world, account)
    if account["accountInfo"]["accountType"] == "SLV_ACCOUNT" and world.has("slv-as-colon"):
        body["currency"] = "SVC"
    info = account["accountInfo"]
    if info["accountType"] == "PHP_ACCOUNT" and world.has("bank-name-as-label"):
        body["accountInfo"] = info | {"bankName": f"{info['bankName']} (PH)"}
    if account["status"] == "UNDER_REVIEW" and world.has("review-under-another-name"):
        body["status"] = "PENDING_REVIEW"
    return body


def _mistake(world: World, account: Json) -> None:
    """Spoil a new account by a planted bug."""
    own, name = account["customerId"], account["platformAccountId"]
    twins = [
        row
        for row in world.externals.values()
        if name and row["platformAccountId"] == name and row["customerId"] != own
    ]
    if twins and world.has("owner-by-platform-id"):
        account["customerId"] = twins[0]["customerId"]
    first = TYPES[account["accountInfo"]["accountType"]].currencies[0]
    if account["currency"] != first and world.has("arbitrum-usdc"):
        account["currency"] = first
    info = account["accountInfo"]
    number = str(info.get("accountNumber"))
    if info["accountType"] == "ZAR_ACCOUNT" and number[0] == "0" and world.has("rand-zeros-lost"):
        info["accountNumber"] = number.lstrip("0")
    codes = [name for name in ("bankCode", "branchCode") if str(info.get(name))[0] == "0"]
    if info["accountType"] == "CAD_ACCOUNT" and codes and world.has("canadian-zeros-lost"):
        for name in codes:
            info[name] = info[name].lstrip("0")
    _mistake_branch(world, info)
    if "bolt12" in info and world.has("bolt12-as-invoice"):
        info["invoice"] = info.pop("bolt12")
    if info.get("pixKeyType") == "RANDOM" and world.has("pix-random-as-evp"):
        info["pixKeyType"] = "EVP"
    person = info.get("beneficiary") or account["_beneficiary"]
    if at(person, "birthDate") and world.has("beneficiary-birth-with-time"):
        person["birthDate"] = f"{person['birthDate']}T00:00:00Z"
    _mistake_person(world, person)
    _mistake_own_id(world, account)
    numbers = (at(person, "taxId"), at(person, "registrationNumber"))
    if all(numbers) and numbers[0] != numbers[1] and world.has("tax-id-as-registration"):
        person["registrationNumber"] = person["taxId"]


def _mistake_branch(world: World, info: Json) -> None:
    """Spoil by a planted bug what says where an account is."""
    kind = info["accountType"]
    if kind.endswith("_WALLET") and world.has("wallet-address-lower"):
        info["address"] = info["address"].lower()
    if str(info.get("routingNumber"))[0] == "0" and world.has("routing-number-zeros-lost"):
        info["routingNumber"] = str(int(info["routingNumber"]))
    if str(info.get("sortCode"))[0] == "0" and world.has("sort-code-zeros-lost"):
        info["sortCode"] = str(int(info["sortCode"]))
    if kind == "CAD_ACCOUNT" and world.has("canadian-number-padded"):
        info["accountNumber"] = info["accountNumber"].zfill(12)
    if kind == "BDT_ACCOUNT" and "branchCode" in info and world.has("taka-branch-dropped"):
        del info["branchCode"]
    if kind == "CNY_ACCOUNT" and "phoneNumber" in info and world.has("chinese-phone-dropped"):
        del info["phoneNumber"]


def _mistake_person(world: World, person: Any) -> None:
    """Spoil a new beneficiary by a planted bug."""
    business = at(person, "beneficiaryType") == "BUSINESS"
    if business and "documentType" in person and world.has("business-papers-dropped"):
        for name in ("documentType", "documentNumber"):
            person.pop(name, None)
    place, home = at(person, "address.country"), at(person, "nationality")
    if place and home not in {None, place} and world.has("payee-nationality-of-place"):
        person["nationality"] = place
    official = str(at(person, "registrationNumber"))
    if official[0] == "0" and world.has("registration-zeros-lost"):
        person["registrationNumber"] = official.lstrip("0")
    paper = str(at(person, "documentNumber"))
    if paper[0] == "0" and world.has("document-zeros-lost"):
        person["documentNumber"] = paper.lstrip("0")


def _mistake_own_id(world: World, account: Json) -> None:
    """Spoil the platform's id of a new account by a planted bug."""
    own = account["platformAccountId"]
    if own and own.isdigit() and world.has("own-id-as-number"):
        account["platformAccountId"] = int(own)


def _verified(world: World, account: Json) -> None:
    if account["status"] == "PENDING":
        move(world, account, "ACTIVE")


def of(call: Call) -> Json:
    """Return the external account of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    account = call.world.find(
        call.world.externals, call.params["externalAccountId"], "ACCOUNT_NOT_FOUND"
    )
    call.concerns(account["customerId"])
    return account


def index(call: Call) -> Reply:
    """GET /customers/external-accounts."""
    world = call.world
    customer = world.find(world.customers, call.asked("customerId"), "CUSTOMER_NOT_FOUND")
    call.concerns(customer["id"])
    rows = [row for row in world.externals.values() if row["customerId"] == customer["id"]]
    gone = [row for row in world.deleted.values() if row["customerId"] == customer["id"]]
    if gone and world.has("deleted-still-listed"):
        rows += gone
    platform = [row for row in world.externals.values() if not row["customerId"]]
    if platform and world.has("list-with-platform-accounts"):
        rows += platform
    active = [row for row in rows if row["status"] == "ACTIVE"]
    if len(active) < len(rows) and world.has("only-active-listed"):
        rows = active
    personal = [row for row in rows if TYPES[row["accountInfo"]["accountType"]].beneficiary]
    if len(personal) < len(rows) and world.has("list-joins-beneficiaries"):
        rows = personal
    declared = [row for row in rows if row["currency"] in (customer.get("currencies") or ())]
    if len(declared) < len(rows) and world.has("list-declared-currencies"):
        rows = declared
    known = customer.setdefault("_externals_listed", {row["id"] for row in rows})
    fresh = [row for row in rows if row["id"] not in known]
    if fresh and world.has("first-list-kept"):
        rows = [row for row in rows if row["id"] in known]
    newest = {row["currency"]: row for row in rows}
    if len(newest) < len(rows) and world.has("list-one-per-currency"):
        rows = list(newest.values())
    return call.page([_listed(world, row) for row in _in_currency(call, rows)])


def _listed(world: World, account: Json) -> Json:
    body = _without_own_id(world, _coloured(world, account))
    info = account["accountInfo"]
    if info["accountType"].endswith("_WALLET") and world.has("wallet-type-left-out"):
        body["accountInfo"] = {name: value for name, value in info.items() if name != "accountType"}
    if body["platformAccountId"] is not None and world.has("list-without-own-id"):
        del body["platformAccountId"]
    waits = account["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    if waits and world.has("listed-as-pending"):
        body["status"] = "PENDING"
    _mistake_listed_person(world, body)
    return body


def _without_own_id(world: World, body: Json) -> Json:
    """Return an account that is read or listed: by a planted bug without its platformAccountId."""
    own = body["platformAccountId"] is not None
    if own and world.has("platform-account-id-only-at-creation"):
        return body | {"platformAccountId": None}
    return body


def _mistake_listed_person(world: World, body: Json) -> None:
    """Spoil the beneficiary of an account that is listed by a planted bug."""
    for holder, name in ((body, "beneficiary"), (body.get("accountInfo"), "beneficiary")):
        person = at(holder, name)
        business = at(person, "beneficiaryType") == "BUSINESS"
        if business and world.has("listed-beneficiary-individual"):
            changed = {name: person | {"beneficiaryType": "INDIVIDUAL"}}
            if holder is body:
                body |= changed
            else:
                body["accountInfo"] = body["accountInfo"] | changed


def index_of_platform(call: Call) -> Reply:
    """GET /platform/external-accounts."""
    call.only_platform()
    accounts = call.world.externals.values()
    rows = [row for row in accounts if not row["customerId"]]
    if call.world.has("platform-list-of-customers"):
        rows = [row for row in accounts if not row["customerId"] or not row["platformAccountId"]]
    if len(rows) < len(accounts) and call.world.has("platform-list-of-everybody"):
        rows = list(accounts)
    gone = [row for row in call.world.deleted.values() if not row["customerId"]]
    if gone and call.world.has("platform-list-deleted"):
        rows += gone
    named = [row for row in rows if row["platformAccountId"]]
    if len(named) < len(rows) and call.world.has("platform-list-named-only"):
        rows = named
    newest = {row["currency"]: row for row in rows}
    if len(newest) < len(rows) and call.world.has("platform-list-one-per-currency"):
        rows = list(newest.values())
    rows = _joined(call.world, rows)
    shown_so = [
        _without_own_id(call.world, shown(call.world, row)) for row in _in_currency(call, rows)
    ]
    moved = [row for row in rows if row.get("_first_status", row["status"]) != row["status"]]
    if moved and call.world.has("platform-list-old-status"):
        first = {row["id"]: row["_first_status"] for row in moved}
        shown_so = [row | {"status": first.get(row["id"], row["status"])} for row in shown_so]
    if any(row["currency"] != "USD" for row in shown_so) and call.world.has(
        "platform-list-in-dollars"
    ):
        shown_so = [row | {"currency": "USD"} for row in shown_so]
    off = any(row["status"] == "INACTIVE" for row in shown_so)
    if off and call.world.has("platform-disabled-as-active"):
        states = {"INACTIVE": "ACTIVE"}
        shown_so = [row | {"status": states.get(row["status"], row["status"])} for row in shown_so]
    if shown_so and call.world.has("platform-list-bare-ids"):
        shown_so = [row | {"id": row["id"].partition(":")[2]} for row in shown_so]
    return call.page(shown_so)


def _joined(world: World, rows: list[Json]) -> list[Json]:
    """Leave out, by a planted bug, accounts in currencies of which the platform has no account."""
    codes = {row["_code"] for row in world.internals.values() if not row["customerId"]}
    known = [row for row in rows if row["currency"] in codes]
    return known if len(known) < len(rows) and world.has("platform-list-own-currencies") else rows


def _in_currency(call: Call, rows: list[Json]) -> list[Json]:
    code = call.query.get("currency")
    return [row for row in rows if code in {None, row["currency"]}]


def read(call: Call) -> Reply:
    """GET /customers/external-accounts/{externalAccountId}."""
    world, key = call.world, call.params["externalAccountId"]
    if key in world.deleted and world.has("deleted-readable"):
        call.concerns(world.deleted[key]["customerId"])
        return 200, shown(world, world.deleted[key]) | {"status": "INACTIVE"}
    inside = world.internals.get(key)
    if inside and world.has("internal-account-read"):
        return 200, internals.shown(world, inside)
    account = of(call)
    body = _without_own_id(world, _coloured(world, account))
    if "_owned" in account and world.has("proven-without-own-id"):
        body["platformAccountId"] = None
    first = account.setdefault("_read", account["status"])
    if first != account["status"] and world.has("status-of-first-read"):
        body["status"] = first
    info = account["accountInfo"]
    if "sortCode" in info and world.has("sort-code-hyphenated"):
        code = info["sortCode"]
        body["accountInfo"] = info | {"sortCode": f"{code[:2]}-{code[2:4]}-{code[4:]}"}
    if info["accountType"] == "USD_ACCOUNT" and world.has("read-without-rails"):
        body["accountInfo"] = {
            name: value for name, value in info.items() if name != "paymentRails"
        }
    return 200, body


def delete(call: Call) -> Reply:
    """DELETE /customers/external-accounts/{externalAccountId}."""
    account = of(call)
    asked = "_untrust" in account and call.world.has("deleted-before-confirm")
    if account["_trusted"] and not asked and not call.world.has("trusted-deleted"):
        if call.world.has("refused-deletion-disables"):
            move(call.world, account, "INACTIVE")
        if call.world.has("refused-deletion-untrusts"):
            account["_trusted"] = False
        raise Refusal("BENEFICIARY_TRUSTED", "Take the trust away first.")
    for row in _namesakes(call.world, account) + _twins(call.world, account):
        call.world.deleted[row["id"]] = call.world.externals.pop(row["id"])
    if not call.world.has("delete-keeps"):
        call.world.deleted[account["id"]] = call.world.externals.pop(account["id"])
    if call.world.has("delete-account-returns-200"):
        return 200, shown(call.world, account)
    return 204, None


def _namesakes(world: World, account: Json) -> list[Json]:
    """Return what a deletion takes with it: by a planted bug all that has the same own id."""
    own = (account["customerId"], account["platformAccountId"])
    others = [
        row
        for row in world.externals.values()
        if row is not account and (row["customerId"], row["platformAccountId"]) == own
    ]
    named = own[1] is not None and others
    return others if named and world.has("delete-takes-namesakes") else []


def _twins(world: World, account: Json) -> list[Json]:
    """Return what a deletion takes with it: by a planted bug the same account of others."""
    others = [
        row
        for row in world.externals.values()
        if row["customerId"] not in {"", account["customerId"]}
        and row["accountInfo"] == account["accountInfo"]
    ]
    return others if others and world.has("delete-takes-same-account") else []


def untrust(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/untrust."""
    world, account = call.world, of(call)
    call.optional_json()
    if not account["_trusted"]:
        raise conflict("The beneficiary is not trusted.")
    owner = world.customers[account["customerId"]]
    if owner["customerType"] == "BUSINESS" and world.has("business-untrust-refused"):
        raise conflict("The beneficiary is not trusted.")
    challenge = sca.challenge(world, owner, "UNTRUST_BENEFICIARY")
    account["_untrust"] = challenge["id"]
    if world.has("untrust-without-confirm"):
        account |= {"_trusted": False, "_untrusted": True}
    return 200, {"externalAccountId": account["id"], "scaChallenge": public(challenge)}


def confirm_untrust(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/untrust/confirm, or without untrust."""
    world, account = call.world, of(call)
    short = not call.path.endswith("/untrust/confirm")
    if short != (world.persona.untrust_path == "short"):
        raise Refusal("NOT_FOUND", "There is no such operation.")
    body = call.json()
    known = account["_trusted"] or "_untrusted" in account
    if not known or "_untrust" not in account:
        raise conflict("There is nothing to confirm.")
    if not world.has("untrust-unproven"):
        sca.prove(world, world.customers[account["customerId"]], body)
    begun = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"] and "_untrust" in row
    ]
    if begun[-1] is not account and world.has("untrust-of-newest"):
        begun[-1]["_trusted"] = False
        return 200, shown(world, account)
    account["_trusted"] = world.has("confirmed-untrust-forgotten")
    del account["_untrust"]
    return 200, shown(world, account)


def challenge(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/challenge."""
    world, account = call.world, of(call)
    body = call.json(record({"method": one_of("WALLET_SIGNATURE", "LIVENESS")}, needs=("method",)))
    if account["status"] != "PENDING_OWNERSHIP_VERIFICATION":
        raise conflict("The ownership of this account is not asked for.")
    account["_challenge"] = body["method"]
    if world.has("challenged-is-active"):
        move(world, account, "ACTIVE")
    if world.has("challenged-is-reviewed"):
        move(world, account, "UNDER_REVIEW")
    token = world.new_id("Link").partition(":")[2]
    answer: Json = {"method": body["method"], "expiresAt": ahead(900)}
    if body["method"] == "LIVENESS":
        answer["verificationLink"] = f"{world.origin}/hosted/{token}"
    else:
        answer["message"] = f"I own this account. {token}"
    return 200, answer


def verify(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/verify."""
    world, account = call.world, of(call)
    body = call.json(record({"signature": text(most=2000)}, needs=("signature",)))
    late = account["status"] == "ACTIVE" and "_owned" in account
    if late and body["signature"] != SIGNATURE and world.has("late-wrong-proof"):
        move(world, account, "UNVERIFIED")
        return 200, shown(world, account)
    open_still = account["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    if account["status"] == "UNDER_REVIEW" and world.has("challenged-is-reviewed"):
        open_still = True
    if account["_challenge"] != "WALLET_SIGNATURE" or not open_still:
        raise conflict("No signature is waited for.")
    owner = body["signature"] == SIGNATURE or world.has("any-owner")
    if not owner and world.has("failed-signature-open"):
        return 200, shown(world, account)
    waiting = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"]
        and row["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    ]
    if waiting[0] is not account and world.has("proof-of-oldest"):
        account = waiting[0]
    if owner and world.has("proof-not-kept"):
        told = shown(world, account) | {"status": "ACTIVE"}
        world.emit("EXTERNAL_ACCOUNT.STATUS_UPDATED", told)
        return 200, told
    if world.has("verify-later"):
        world.later(world.persona.settle_seconds, lambda: prove(world, account, owner=owner))
    else:
        prove(world, account, owner=owner)
    return 200, shown(world, account)


def prove(world: World, account: Json, *, owner: bool) -> None:
    """End a proof of ownership, which shows the owner or somebody else."""
    alive = owner and account["_challenge"] == "LIVENESS"
    dead = not owner and account["_challenge"] == "LIVENESS"
    account["_challenge"] = None
    if not owner and world.has("failed-ownership-stays-pending"):
        return
    if dead and world.has("failed-liveness-open"):
        return
    if owner:
        account["_owned"] = True
    if alive and world.has("liveness-untold"):
        account["status"] = "ACTIVE"
    failed = "INACTIVE" if world.has("disproved-inactive") else "UNVERIFIED"
    good = "UNDER_REVIEW" if alive and world.has("liveness-is-reviewed") else "ACTIVE"
    move(world, account, good if owner else failed)
    others = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"]
        and row["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    ]
    if owner and others and world.has("proof-for-all"):
        for row in others:
            move(world, row, "ACTIVE")


def discoveries(call: Call) -> Reply:
    """GET /discoveries."""
    country, code = call.query.get("country"), call.query.get("currency")
    value, label = "bankName", "displayName"
    if call.world.has("names-swapped"):
        value, label = label, value
    rows = [
        {
            value: name,
            label: f"{name} ({bank_country})",
            "country": bank_country,
            "currency": bank_code,
        }
        for (bank_code, bank_country), names in BANKS.items()
        for name in names
        if (code in {None, bank_code} or call.world.has("discoveries-any-currency"))
        and (country in {None, bank_country} or call.world.has("discoveries-any-country"))
    ]
    if call.world.has("bank-name-is-label"):
        rows = [row | {"bankName": row["displayName"]} for row in rows]
    for row in rows:
        first = next(place for bank_code, place in BANKS if bank_code == row["currency"])
        if first != row["country"] and call.world.has("discovery-first-country"):
            row["country"] = first
    return 200, {"data": rows}


def _require_sender(call: Call) -> None:
    world = call.world
    sender = call.query.get("senderUmaAddress")
    customer_id = call.query.get("customerId")
    if not sender and not customer_id:
        raise invalid("customerId", "is required without senderUmaAddress")
    if not customer_id and world.has("lookup-needs-customer"):
        raise invalid("customerId", "is required")
    if customer_id:
        world.find(world.customers, customer_id, "CUSTOMER_NOT_FOUND")
    if sender:
        uma.require_address(sender)
        known = {row.get("umaAddress") for row in world.customers.values()}
        if sender not in known and not customer_id:
            raise Refusal("USER_NOT_FOUND", "No customer has this UMA address.")


def lookup(call: Call) -> Reply:
    """GET /receiver/external-account/{accountId}."""
    world = call.world
    key = call.params["accountId"]
    late = key in world.deleted and world.has("deleted-looked-up")
    account = _looked_up(world, world.deleted if late else world.externals, key)
    call.concerns(account["customerId"])
    _require_sender(call)
    foreign = not account["customerId"] and call.query.get("customerId")
    if foreign and world.has("platform-account-not-looked-up"):
        raise Refusal("NOT_FOUND", "There is no such resource.")
    if not account["customerId"] and world.has("platform-accounts-not-looked-up"):
        raise Refusal("NOT_FOUND", "There is no such resource.")
    sending = coin(call.query.get("sendingCurrency", "USD")).code
    if sending != "USD" and _is_in_dollars(call):
        sending = "USD"
    _shake_hands(world, account)
    receiving = account["currency"]
    again = any(one["accountId"] == account["id"] for one in world.lookups.values())
    row = world.new_id("Lookup")
    payer = call.query.get("customerId")
    world.lookups[row] = {"id": row, "accountId": account["id"]}
    estimate = rate(receiving, sending) if world.has("lookup-inverse") else rate(sending, receiving)
    if sending != "USD" and _is_converted_from_dollars(world):
        estimate = rate("USD", receiving)
    preference: Json = {
        "currency": currency(receiving),
        "estimatedExchangeRate": float(estimate),
        "min": least_received(world, receiving),
        "max": MAX_RECEIVED,
    }
    if account["accountInfo"]["accountType"] == "LIGHTNING" and world.has("millisatoshis"):
        preference["currency"]["decimals"] = 11
    if account["accountInfo"]["accountType"].endswith("_WALLET"):
        _name_network(world, account, preference)
    if not COINS[receiving].decimals and world.has("lookup-min-zero"):
        preference["min"] = 0
    if receiving != sending and world.has("lookup-symbol-of-sender"):
        preference["currency"]["symbol"] = currency(sending)["symbol"]
    answer: Json = {
        "lookupId": row,
        "accountId": account["id"],
        "sendingCurrency": currency(sending),
        "supportedCurrencies": [preference],
    }
    _bound(world, answer, (sending, receiving))
    _mistake_lookup(world, answer, account, again=again)
    return 200, _cached(world, answer, (str(payer), sending, receiving))


def _looked_up(world: World, table: Table, key: str) -> Json:
    """Return the account of a lookup; one that is not there is invalid by a planted bug."""
    if key in world.internals and world.has("internal-account-looked-up"):
        inside = world.internals[key]
        return {
            **{name: inside[name] for name in ("id", "customerId", "_traits")},
            "currency": inside["_code"],
            "platformAccountId": None,
            "accountInfo": {"accountType": inside["type"]},
        }
    try:
        return world.find(table, key, "ACCOUNT_NOT_FOUND")
    except Refusal:
        if world.has("unknown-looked-up-400"):
            raise invalid("accountId", "is not known") from None
        raise


def _cached(world: World, answer: Json, asked: tuple[str, str, str]) -> Json:
    """Return the answer to a lookup, or by a planted bug an earlier one to the same payer."""
    before = world.answered.setdefault(asked, answer)
    other = before["accountId"] != answer["accountId"]
    return before if other and world.has("lookup-cached-per-currency") else answer


def _is_in_dollars(call: Call) -> bool:
    """Tell whether a planted bug prices a lookup against dollars, whatever is asked."""
    world, query = call.world, call.query
    if not query.get("customerId"):
        return world.has("address-lookup-dollars") or world.has("lookup-always-dollars")
    if query.get("senderUmaAddress") and world.has("both-named-dollars"):
        return True
    sender = world.customers.get(query["customerId"], {})
    business = sender.get("customerType") == "BUSINESS" and world.has("business-lookup-dollars")
    return business or world.has("lookup-always-dollars")


def _is_converted_from_dollars(world: World) -> bool:
    """Tell whether a planted bug converts from dollars, whatever a lookup names."""
    return world.has("lookup-rate-from-dollars") or world.has("lookup-priced-in-dollars")


def _name_network(world: World, account: Json, preference: Json) -> None:
    if world.has("lookup-network-in-code"):
        network = account["accountInfo"]["accountType"].removesuffix("_WALLET")
        preference["currency"]["code"] += f".{network}"


def _bound(world: World, answer: Json, codes: tuple[str, str]) -> None:
    """Say between which amounts of its currency somebody may send."""
    if not world.persona.with_nulls:
        return
    sending, receiving = codes
    back = unit_rate(receiving, sending)
    if receiving != sending and world.has("bounds-not-converted"):
        back = unit_rate(sending, sending)
    in_dollars = world.has("lookup-bounds-in-dollars") or world.has("lookup-priced-in-dollars")
    if sending != "USD" and in_dollars:
        back = unit_rate(receiving, "USD")
    uneven = COINS[sending].decimals != COINS[receiving].decimals
    if uneven and world.has("lookup-bounds-unscaled"):
        back = rate(receiving, sending)
    preference = answer["supportedCurrencies"][0]
    preference["minSendingAmount"] = int(preference["min"] * back)
    preference["maxSendingAmount"] = int(MAX_RECEIVED * back)
    mandatory: Any = "true" if world.has("mandatory-as-text") else True
    answer["requiredPayerDataFields"] = [{"name": "FULL_NAME", "mandatory": mandatory}]


def _mistake_lookup(world: World, answer: Json, account: Json, *, again: bool) -> None:
    """Plant the bugs of what a lookup says of its account."""
    if world.has("lookup-bare-account-id"):
        answer["accountId"] = account["id"].partition(":")[2]
    if "phoneNumber" in account["accountInfo"] and world.has("lookup-empty-mobile"):
        answer["supportedCurrencies"] = []
    at_home = answer["sendingCurrency"]["code"] == account["currency"]
    first = account.setdefault("_first_lookup", dict(answer["supportedCurrencies"][0]))
    told = first["estimatedExchangeRate"]
    other = told != answer["supportedCurrencies"][0]["estimatedExchangeRate"]
    if other and world.has("lookup-rate-cached-per-account"):
        answer["supportedCurrencies"][0]["estimatedExchangeRate"] = told
    if at_home and world.has("lookup-at-home-empty"):
        answer["supportedCurrencies"] = []
    if world.has("lookup-of-all-currencies"):
        _receive_everything(answer)
    if again and world.has("second-lookup-without-id"):
        del answer["lookupId"]
    if account["platformAccountId"] and world.has("lookup-names-own-id"):
        answer["accountId"] = account["platformAccountId"]


def _receive_everything(answer: Json) -> None:
    """Say, by a planted bug, that an account receives what the service pays out anywhere."""
    sending, own = answer["sendingCurrency"]["code"], answer["supportedCurrencies"][0]
    answer["supportedCurrencies"] += [
        own | {"currency": currency(code), "estimatedExchangeRate": float(rate(sending, code))}
        for code in COINS
        if code != own["currency"]["code"]
    ]


def _shake_hands(world: World, account: Json) -> None:
    try:
        uma.shake_hands(world, account)
    except Refusal as refusal:
        if refusal.status == 412 and world.has("version-codes-crossed"):
            raise Refusal("NO_COMPATIBLE_UMA_VERSION", refusal.reason, status=412) from None
        if refusal.status == 424 and world.has("counterparty-as-bad-gateway"):
            raise Refusal(refusal.code, refusal.reason, status=502) from None
        silent = refusal.code == "LNURLP_REQUEST_FAILED"
        if silent and world.has("silent-counterparty-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        raise


def in_ownership_limit(world: World, amount: int, code: str) -> bool:
    """Tell whether an amount is below the threshold of accounts whose owner is not proven."""
    return amount * unit_rate(code, "USD") < world.persona.max_unproven_cents


_ACCOUNT = "/customers/external-accounts/{externalAccountId}"

ROUTES: list[Route] = [
    ("POST", "/customers/external-accounts", create),
    ("GET", "/customers/external-accounts", index),
    ("GET", "/platform/external-accounts", index_of_platform),
    ("GET", _ACCOUNT, read),
    ("DELETE", _ACCOUNT, delete),
    ("POST", f"{_ACCOUNT}/untrust", untrust),
    ("POST", f"{_ACCOUNT}/untrust/confirm", confirm_untrust),
    ("POST", f"{_ACCOUNT}/confirm", confirm_untrust),
    ("POST", f"{_ACCOUNT}/challenge", challenge),
    ("POST", f"{_ACCOUNT}/verify", verify),
    ("GET", "/discoveries", discoveries),
    ("GET", "/receiver/external-account/{accountId}", lookup),
]
