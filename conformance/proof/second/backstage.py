"""Control calls: what happens in the world around the service, which no client can cause."""

import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

from conformance.proof.second import (
    cards,
    customer_views,
    external_views,
    externals,
    internals,
    ownership,
    paying,
    quotes,
    reviews,
    sca,
    stablecoins,
    transactions,
    uma,
    verification,
    wallets,
)
from conformance.proof.second.call import Call, Handler, Reply, Route
from conformance.proof.second.check import record
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.hooks import Hooks
from conformance.proof.second.money import Json
from conformance.proof.second.world import Table, now

OK: Reply = (200, {"done": True})

EXTERNAL_TRAITS = {
    "bank-unknown": "unknown",
    "bank-blocked": "blocked",
    "bank-limited": "limited",
    "bank-returns": "returned",
    "screened": "screened",
    "held": "held",
    "reviewed": "reviewed",
    "refund-fails": "refund-fails",
    "refund-held": "refund-held",
    **{f"counterparty-{name.replace('_', '-')}": name for name in uma.TRAITS},
}
EXTERNAL_STATUSES = {
    "approve": "ACTIVE",
    "review": "UNDER_REVIEW",
    "disable": "INACTIVE",
    "demand": "PENDING_OWNERSHIP_VERIFICATION",
}


def _on(table: str, do: Callable[[Call, Json], Json | None]) -> Handler:
    """Return the handler that does something with the record of the path's id."""

    def handler(call: Call) -> Reply:
        rows: Table = getattr(call.world, table)
        result = do(call, call.world.find(rows, call.params["id"]))
        return OK if result is None else (200, result)

    return handler


def _amount(call: Call) -> int:
    return int(call.json(record({}, ("amount",)))["amount"])


def _review(call: Call, customer: Json) -> None:
    decision = {"approve": "APPROVED", "reject": "REJECTED", "hold": "HOLD"}[call.params["what"]]
    if decision != "HOLD" or customer[customer_views.status_name(customer)] == "UNVERIFIED":
        reviews.begin_review(call.world, customer)
    reviews.decide(call.world, customer, decision)
    if customer[customer_views.status_name(customer)] != decision:
        raise conflict("The review has ended.")


def _customer_trait(name: str) -> Callable[[Call, Json], None]:
    def do(_: Call, customer: Json) -> None:
        customer["_traits"].add(name)

    return do


def _enroll(call: Call, customer: Json) -> None:
    sca.enroll(call.world, customer, call.params["factor"])


def _contact_code(call: Call, customer: Json) -> Json:
    return {"code": call.world.codes[f"{customer['id']}/{call.params['channel']}"]}


def _challenge_code(call: Call, challenge: Json) -> Json:
    return {"code": call.world.codes[challenge["id"]]}


def _log_out(_: Call, customer: Json) -> None:
    customer["_session"] = False


def _lock(_: Call, customer: Json) -> None:
    customer["_wrong"] = sca.MAX_WRONG


def _challenges(call: Call, customer: Json) -> None:
    customer["_more"] = int(call.params["count"])


def _no_rate(call: Call, customer: Json) -> None:
    body = call.json(record({}, ("from", "to")))
    customer["_traits"].add(f"no-rate:{body['from']}:{body['to']}")


def _agent(call: Call, customer: Json) -> Json:
    token = f"agent-{secrets.token_urlsafe(24)}"
    call.world.agents[token] = {"customerId": customer["id"]}
    return {"credential": token}


def _agent_payment(call: Call, customer: Json) -> Json:
    body = call.json(record({}, ("from", "to", "amount")))
    wanted = {
        "source": {"sourceType": "ACCOUNT", "accountId": body["from"]},
        "destination": {"destinationType": "ACCOUNT", "accountId": body["to"]},
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": body["amount"],
    }
    call.agent_of = customer["id"]
    quote = quotes.make(call, wanted)
    row = transactions.of(call.world, quote)
    row |= {"_agent": True, "pendingReason": "CUSTOMER_ACTION"}
    return {"transaction": row["id"]}


def _finish_hosted(call: Call) -> Reply:
    link = urlsplit(call.json(record({}, ("link",)))["link"])
    verification.finish_hosted(call.world, link.path.rpartition("/")[2])
    return OK


def _defect(call: Call) -> Reply:
    world, holder = call.world, call.params["id"]
    table = world.owners if holder in world.owners else world.customers
    world.find(table, holder)["_defect"] = call.params["defect"]
    return OK


def _paperwork(call: Call) -> Reply:
    switch = f"skip:{call.params['id']}"
    if call.params["what"] == "skip":
        call.world.switches.add(switch)
    else:
        call.world.switches.discard(switch)
    return OK


def _rule_based(call: Call) -> Reply:
    if call.params["what"] == "off":
        call.world.switches.add("no-rule-based")
    else:
        call.world.switches.discard("no-rule-based")
    return OK


def _announce(call: Call, account: Json) -> None:
    account["_coming"] += _amount(call)
    internals.changed(call.world, account)


def _arrive(call: Call, account: Json) -> None:
    internals.deposit(call.world, account, _amount(call))


def _recall(delivered: bool) -> Callable[[Call, Json], Json]:
    def do(call: Call, account: Json) -> Json:
        return {"transaction": internals.recall(call.world, account, _amount(call), delivered)}

    return do


def _account_status(call: Call, account: Json) -> None:
    if account["status"] == "CLOSED":
        raise conflict("The account is closed.")
    statuses = {"provide": "ACTIVE", "fail": "FAILED", "close": "CLOSED", "freeze": "FROZEN"}
    internals.give_status(call.world, account, statuses[call.params["what"]])


def _cut_off(_: Call, account: Json) -> None:
    account["_traits"].add("unreachable")


def _external_status(call: Call, account: Json) -> None:
    external_views.move(call.world, account, EXTERNAL_STATUSES[call.params["what"]])


def _ownership(call: Call, account: Json) -> None:
    if account["_challenge"] != "LIVENESS":
        raise conflict("No liveness check was started.")
    ownership.prove(call.world, account, owner=call.params["what"] == "owner")


def _trust(_: Call, account: Json) -> None:
    account["_trusted"] = True


def _external_trait(call: Call, account: Json) -> None:
    account["_traits"].add(EXTERNAL_TRAITS[call.params["what"]])


def _fund_quote(reference: str) -> Callable[[Call, Json], None]:
    def do(call: Call, quote: Json) -> None:
        paying.fund_realtime(call.world, quote, reference or quote.get("_number", "-"))

    return do


def _expire_quote(call: Call, quote: Json) -> None:
    quote["expiresAt"] = now()
    transactions.refresh_quote(call.world, quote)


def _stale(_: Call, quote: Json) -> None:
    quote["_stale"] = True


def _expire_challenge(call: Call, quote: Json) -> None:
    if not quote["_challenge"]:
        raise conflict("There is no challenge.")
    quote["_challenge"]["expiresAt"] = now()
    transactions.refresh_quote(call.world, quote)


def _release(call: Call, row: Json) -> None:
    if row["status"] != "PROCESSING":
        raise conflict("The transaction is not in processing.")
    transactions.settle(call.world, row, released=True)


def _release_refund(call: Call, row: Json) -> None:
    transactions.end_refund(call.world, row)


def _liveness(call: Call, reset: Json) -> None:
    sca.liveness(call.world, reset, call.params["what"])


def _sign(call: Call, account: Json) -> Json:
    payload = call.json(record({}, ("payload",)))["payload"]
    key = account["_key"] if call.params["whose"] == "device" else "another key"
    return {"signed": wallets.sign(key, payload)}


def _desynchronize(_: Call, account: Json) -> None:
    account["_traits"].add("desynchronized")


def _purchase(call: Call, card: Json) -> Json:
    row = cards.purchase(call.world, card, _amount(call), call.params["cause"])
    return {"transaction": row["id"]}


def _clear(call: Call, row: Json) -> None:
    world, what = call.world, call.params["what"]
    if what in {"void", "misclear"}:
        (cards.void if what == "void" else cards.misclear)(world, row)
    elif what in {"return", "refund"}:
        cards.give_back(world, row, _amount(call), own_payment=what == "refund")
    else:
        cards.settle(world, row, _amount(call), last=what == "settle")


def _coin_trait(call: Call, row: Json) -> Json | None:
    trait = call.params["what"]
    if trait in {"provision", "hold"}:
        row["status"] = "ACTIVE" if trait == "provision" else "PENDING"
    elif trait in stablecoins.TRAITS:
        row["_traits"].add(trait)
    else:
        raise Refusal("NOT_FOUND", "There is no such cause.")
    return {"link": row["_provider"]}


def _coin_account(call: Call, row: Json) -> None:
    account = call.world.find(call.world.externals, call.params["account"])
    account["_traits"].add(f"{call.params['what']}:{row['id']}")


def _endpoint(hooks: Hooks) -> Handler:
    def handler(call: Call) -> Reply:
        hooks.url = call.json(record({}, ("url",)))["url"]
        return OK

    return handler


def routes(hooks: Hooks) -> list[Route]:
    """Return the control calls; those of webhooks go to `hooks`."""
    post: list[tuple[str, Handler]] = [
        ("/endpoint", _endpoint(hooks)),
        ("/customers/{id}/review/{what}", _on("customers", _review)),
        ("/customers/{id}/factors/{factor}", _on("customers", _enroll)),
        ("/customers/{id}/codes/{channel}", _on("customers", _contact_code)),
        ("/challenges/{id}/code", _on("challenges", _challenge_code)),
        ("/customers/{id}/log-out", _on("customers", _log_out)),
        ("/customers/{id}/lock", _on("customers", _lock)),
        ("/customers/{id}/challenges/{count}", _on("customers", _challenges)),
        ("/customers/{id}/slow-accounts", _on("customers", _customer_trait("await"))),
        ("/customers/{id}/slow-externals", _on("customers", _customer_trait("hold-externals"))),
        ("/customers/{id}/volume-reached", _on("customers", _customer_trait("volume-reached"))),
        ("/customers/{id}/quoting-down", _on("customers", _customer_trait("quoting-down"))),
        ("/customers/{id}/no-rate", _on("customers", _no_rate)),
        ("/customers/{id}/agent", _on("customers", _agent)),
        ("/customers/{id}/agent-payment", _on("customers", _agent_payment)),
        ("/hosted-flow", _finish_hosted),
        ("/platform-externals", externals.create_for_platform),
        ("/papers/{id}/{defect}", _defect),
        ("/paperwork/{id}/{what}", _paperwork),
        ("/rule-based/{what}", _rule_based),
        ("/accounts/{id}/announce", _on("internals", _announce)),
        ("/accounts/{id}/arrive", _on("internals", _arrive)),
        ("/accounts/{id}/recall", _on("internals", _recall(delivered=True))),
        ("/accounts/{id}/recall-in-vain", _on("internals", _recall(delivered=False))),
        ("/accounts/{id}/cut-off", _on("internals", _cut_off)),
        ("/accounts/{id}/status/{what}", _on("internals", _account_status)),
        ("/externals/{id}/status/{what}", _on("externals", _external_status)),
        ("/externals/{id}/ownership/{what}", _on("externals", _ownership)),
        ("/externals/{id}/trust", _on("externals", _trust)),
        ("/externals/{id}/behaviour/{what}", _on("externals", _external_trait)),
        ("/quotes/{id}/pay", _on("quotes", _fund_quote(""))),
        ("/quotes/{id}/pay-wrongly", _on("quotes", _fund_quote("-"))),
        ("/quotes/{id}/expire", _on("quotes", _expire_quote)),
        ("/quotes/{id}/market-moves", _on("quotes", _stale)),
        ("/quotes/{id}/expire-challenge", _on("quotes", _expire_challenge)),
        ("/transactions/{id}/release", _on("transactions", _release)),
        ("/transactions/{id}/release-refund", _on("transactions", _release_refund)),
        ("/resets/{id}/{what}", _on("resets", _liveness)),
        ("/wallets/{id}/sign/{whose}", _on("internals", _sign)),
        ("/wallets/{id}/desynchronize", _on("internals", _desynchronize)),
        ("/cards/{id}/purchase/{cause}", _on("cards", _purchase)),
        ("/purchases/{id}/{what}", _on("transactions", _clear)),
        ("/coins/{id}/{what}", _on("stablecoins", _coin_trait)),
        ("/coins/{id}/{what}/{account}", _on("stablecoins", _coin_account)),
    ]
    return [("POST", path, handler) for path, handler in post]
