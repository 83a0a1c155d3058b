"""The grounds of the operations of quotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.given.transfers import Direction
from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import TRANSFER, await_listing, money_of, source_account
from conformance.platform.platform import Platform


def _create_quote(platform: Platform) -> Ground:
    source = source_account(platform)
    body = platform.quotes.body(source)
    return Ground(
        live={
            "source.accountId": source["id"],
            "source.customerId": source["customerId"],
            "source.currency": platform.profile.resources.realtime_currency,
            "destination.accountId": body["destination"]["accountId"],
        },
        body=body,
        twin=lambda: platform.api.create_quote(body),
        state=money_of(platform, source),
    )


def _execute_quote(platform: Platform) -> Ground:
    source = source_account(platform)
    quote = platform.quotes.pending(source)
    await_listing(platform, quote)
    return Ground(path={"quoteId": quote["id"]}, state=money_of(platform, source))


def _authorize_quote(platform: Platform) -> Ground:
    can_challenge = "deposit.arrive" in platform.profile.triggers and platform.profile.features.sca
    source = platform.sca.account() if can_challenge else source_account(platform)
    quote = (
        platform.sca.challenged(source=source) if can_challenge else platform.quotes.pending(source)
    )
    await_listing(platform, quote)
    return Ground(
        path={"quoteId": quote["id"]},
        body={"code": platform.profile.bindings.sca_wrong_code},
        right=platform.sca.proof_for(quote),
        state=money_of(platform, source),
        # With a quote of its own: the proofs before may have locked the other's customer out.
        twin=lambda: platform.sca.send_proof(platform.sca.challenged()),
    )


def _transfer(direction: Direction) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        account = source_account(platform)
        ends = [account, platform.external_accounts.account(account.owner)]
        source, destination = reversed(ends) if direction == "in" else ends
        amount = {"amount": TRANSFER}
        moved = {"id": "", "sentAmount": amount, "receivedAmount": amount}
        return Ground(
            body=platform.transfers.body(direction, source, destination, TRANSFER),
            state=money_of(platform, account),
            settle=lambda answer: platform.transfers.settle(answer, moved, (source, destination)),
        )

    return lay


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createQuote": _create_quote,
    "executeQuote": _execute_quote,
    "authorizeQuote": _authorize_quote,
    "transferIn": _transfer("in"),
    "transferOut": _transfer("out"),
}
