"""External accounts as the interface makes, lists, shows and deletes them."""

from typing import Any

from conformance.proof.second import account_types, customer_views, external_views, internals
from conformance.proof.second.account_types import TYPES
from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import Fault, one_of, record, refuse, text
from conformance.proof.second.customer_form import at
from conformance.proof.second.errors import INPUT, Refusal, invalid
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.world import World

RAILS = {"USD_ACCOUNT": ["ACH", "WIRE", "RTP", "FEDNOW"], "INR_ACCOUNT": ["UPI", "NEFT", "RTGS"]}


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
        return 200, external_views.shown(world, first)
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
    proven = not (kind.endswith("_WALLET") and customer_views.needs_sca(world, owner))
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
    body = external_views.shown(world, account)
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
        external_views.move(world, account, "ACTIVE")


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
        _without_own_id(call.world, external_views.shown(call.world, row))
        for row in _in_currency(call, rows)
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
        return 200, external_views.shown(world, world.deleted[key]) | {"status": "INACTIVE"}
    inside = world.internals.get(key)
    if inside and world.has("internal-account-read"):
        return 200, internals.shown(world, inside)
    account = external_views.of(call)
    body = _without_own_id(world, _coloured(world, account))
    if "_owned" in account and world.has("proven-without-own-id"):
        body["platformAccountId"] = None
    first = account.setdefault("_read", account["status"])
    if first != account["status"] and world.has("status-of-first-read"):
        body["status"] = first
    info = account["accountInfo"]
    if info["accountType"] == "USD_ACCOUNT" and world.has("read-without-rails"):
        body["accountInfo"] = {
            name: value for name, value in info.items() if name != "paymentRails"
        }
    return 200, body


def delete(call: Call) -> Reply:
    """DELETE /customers/external-accounts/{externalAccountId}."""
    account = external_views.of(call)
    asked = "_untrust" in account and call.world.has("deleted-before-confirm")
    if account["_trusted"] and not asked and not call.world.has("trusted-deleted"):
        if call.world.has("refused-deletion-disables"):
            external_views.move(call.world, account, "INACTIVE")
        if call.world.has("refused-deletion-untrusts"):
            account["_trusted"] = False
        raise Refusal("BENEFICIARY_TRUSTED", "Take the trust away first.")
    for row in _namesakes(call.world, account) + _twins(call.world, account):
        call.world.deleted[row["id"]] = call.world.externals.pop(row["id"])
    if not call.world.has("delete-keeps"):
        call.world.deleted[account["id"]] = call.world.externals.pop(account["id"])
    if call.world.has("delete-account-returns-200"):
        return 200, external_views.shown(call.world, account)
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


ROUTES: list[Route] = [
    ("POST", "/customers/external-accounts", create),
    ("GET", "/customers/external-accounts", index),
    ("GET", "/platform/external-accounts", index_of_platform),
    ("GET", external_views.ACCOUNT, read),
    ("DELETE", external_views.ACCOUNT, delete),
]
