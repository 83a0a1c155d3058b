"""Logins of customers who need SCA: how long a session lasts, and what it permits."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from conformance.contract.moments import parse_moment
from conformance.exchange.clock import now
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, expect

SESSION_LENGTH = timedelta(days=180)
TOLERANCE = timedelta(hours=1)
"""How much the clocks of the suite and of the target may differ."""

ROUNDING = timedelta(days=1)
"""By how much a session may be longer or shorter that ends at the end of a day, in some zone."""


@requirement("LGN-001", "LIM-075")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_login_opens_a_session_of_180_days(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """The answer gives a ``sessionExpiresAt`` 180 days from now, or at the end of such a day."""
    customer = platform.approved.of_type(business, sca=True)

    session = platform.logins.session(customer)

    with check("LIM-075"):
        expect_length(session)


@requirement("LGN-002", "LIM-075")
def test_a_login_takes_the_place_of_a_lapsed_session(platform: Platform, check: Check) -> None:
    """After the login the customer can authorize a quote, and the session lasts 180 days."""
    source = platform.sca.account()
    customer = source.owner
    lapse_session(platform, source)

    session = platform.logins.session(customer)

    with check("LIM-075"):
        expect_length(session)
    with check("LGN-002"):
        answer = platform.sca.authorize_fully(platform.sca.challenged(source=source))
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer


@requirement("LGN-003")
def test_a_login_opens_no_session_of_another_customer(platform: Platform) -> None:
    """A customer without a session is refused with SCA_SESSION_REQUIRED after another's login."""
    source = platform.sca.account()
    quote = lapse_session(platform, source)
    other_source = platform.sca.account()
    platform.logins.session(other_source.owner)

    refusal = platform.sca.send_proof(quote)

    twin = platform.sca.send_proof(platform.sca.challenged(source=other_source))
    refusal.refused(409, "SCA_SESSION_REQUIRED", twin=twin)


def test_a_login_of_a_customer_outside_sca_regions_is_noted(platform: Platform) -> None:
    """The specification does not say whether such a login is refused, so the answer is recorded."""
    if not platform.profile.features.sca:
        return
    customer = platform.approved.customer_outside_sca()

    start = platform.logins.begin(customer)

    is_refused = start is not None and not start.accepted
    answer = start if is_refused else platform.logins.complete(customer)
    platform.observe(f"a login outside the regions of SCA is answered: {answer}")


def lapse_session(platform: Platform, source: Resource) -> Resource:
    """Let the session of an account's owner lapse; return a quote that waits for a proof.

    Raises:
        PreconditionFailed: an authorization without a session is not refused for it.
    """
    quote = platform.sca.challenged(source=source)
    platform.triggers.fire("sca.session_lapse", customerId=source["customerId"])
    refusal = platform.sca.send_proof(quote)
    if refusal.code != "SCA_SESSION_REQUIRED":
        raise PreconditionFailed(f"without a session an authorization is answered: {refusal}")
    return quote


def expect_length(session: Json) -> None:
    """Assert that a session that was just opened ends in 180 days, or at the end of such a day.

    Raises:
        PreconditionFailed: the session has no timestamp ``sessionExpiresAt``.
    """
    __tracebackhide__ = True
    try:
        ends = parse_moment(session["sessionExpiresAt"])
    except (KeyError, TypeError, ValueError) as error:
        raise PreconditionFailed(f"sessionExpiresAt is no timestamp: {session}") from error
    length = ends - now()
    tolerance = ROUNDING if is_round(ends) else TOLERANCE
    expect(abs(length - SESSION_LENGTH) <= tolerance, f"a session of {SESSION_LENGTH}", length)


def is_round(moment: datetime) -> bool:
    """Return whether a day may end at a moment, or a second after it, somewhere on earth."""
    ends = (moment, moment + timedelta(seconds=1))
    return any(end.minute % 15 == 0 and end.second == 0 for end in ends)
