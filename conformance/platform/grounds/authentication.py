"""The grounds of the operations of authentication."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import await_listing, money_of, source_account
from conformance.platform.platform import Platform


def _approve_transaction(platform: Platform) -> Ground:
    source = source_account(platform)
    waits = platform.profile.features.agents and all(
        map(platform.triggers.maps, ("deposit.arrive", "agent.initiate"))
    )
    payment = platform.agents.initiate(source) if waits else platform.quotes.pending(source)
    await_listing(platform, payment)
    return Ground(
        path={"transactionId": payment["transactionId"]}, state=money_of(platform, source)
    )


def _start_factor_reset(platform: Platform) -> Ground:
    customer = platform.resets.holder()
    names = platform.profile.bindings
    return Ground(
        query={"customerId": customer["id"]},
        live={"factor": names.reset_factor},
        body={"factor": names.reset_factor, "endUserIpAddress": names.end_user_ip},
        # Of a customer of its own: the other may have started too many.
        twin=lambda: platform.resets.start(platform.resets.holder()),
    )


def _of_factor_reset(platform: Platform) -> Ground:
    passes = platform.triggers.maps("factor_reset.pass")
    reset = platform.resets.passed() if passes else platform.resets.started()
    return Ground(
        path={"resetId": reset["resetId"]},
        query={"customerId": reset["customerId"]},
        body=platform.resets.completion_body(reset),
        twin=lambda: platform.resets.complete(platform.resets.passed()),
        state=lambda: platform.resets.read(reset).get("status"),
    )


def _login(platform: Platform) -> Ground:
    customer = platform.approved.sca_customer()
    return Ground(query={"customerId": customer["id"]}, right=platform.logins.body(customer))


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "startFactorReset": _start_factor_reset,
    "getFactorReset": _of_factor_reset,
    "completeFactorReset": _of_factor_reset,
    "completeScaLogin": _login,
    "approveTransaction": _approve_transaction,
}
