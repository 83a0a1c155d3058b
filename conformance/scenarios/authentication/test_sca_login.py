"""Logins of customers who authenticate strongly: how long a session lasts, and what it opens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, expect

ANONYMOUS = httpx.Auth()
SESSION = timedelta(days=180)
TOLERANCE = timedelta(days=1)


@requirement("LGN-001", "LIM-075")
def test_a_login_opens_a_session_of_180_days(platform: Platform, check: Check) -> None:
    """Its end is told, so that the platform can ask for another login in time."""
    customer = platform.approved.sca_customer()

    session = platform.logins.session(customer)

    with check("LIM-075"):
        expect_length(session)


@requirement("LGN-002", "LIM-075")
def test_a_login_takes_the_place_of_a_lapsed_session(platform: Platform, check: Check) -> None:
    """From then on the customer authorizes again."""
    source = platform.sca.account()
    customer = source.owner
    lapse(platform, source)

    session = platform.logins.session(customer)

    with check("LIM-075"):
        expect_length(session)
    with check("LGN-002"):
        answer = platform.sca.authorize_fully(platform.sca.challenged(source=source))
        assert answer.accepted, answer
        assert answer.body["status"] in SETTLING, answer


@requirement("LGN-003")
def test_a_login_opens_no_session_of_another_customer(platform: Platform) -> None:
    """Everybody proves to be the one."""
    source = platform.sca.account()
    quote = lapse(platform, source)
    other = platform.sca.account()
    platform.logins.session(other.owner)

    refusal = platform.sca.send_proof(quote)

    twin = platform.sca.send_proof(platform.sca.challenged(source=other))
    refusal.refused(409, "SCA_SESSION_REQUIRED", twin=twin)


@requirement("LGN-004")
def test_a_login_needs_credentials(platform: Platform) -> None:
    """The platform brings them beside the proof of its customer."""
    customer, twin = (
        platform.approved.sca_customer(),
        platform.logins.complete(platform.approved.sca_customer()),
    )

    refusal = platform.logins.complete(customer, auth=ANONYMOUS)

    refusal.denied(twin=twin)


def test_a_login_of_a_customer_outside_sca_regions_is_noted(platform: Platform) -> None:
    """Which operations of SCA refuse such customers is left open, but for the resets of factors."""
    if not platform.profile.features.sca:
        return
    customer = platform.approved.customer_outside_sca()

    begun = platform.logins.begin(customer)

    refused = begun is not None and not begun.accepted
    answer = begun if refused else platform.logins.complete(customer)
    platform.observe(f"a login outside the regions of SCA is answered: {answer}")


def lapse(platform: Platform, source: Resource) -> Resource:
    """Let the session of the owner of an account lapse; return a quote that waits for its proof."""
    quote = platform.sca.challenged(source=source)
    platform.triggers.fire("sca.session_lapse", customerId=source["customerId"])
    refused = platform.sca.send_proof(quote)
    if refused.code != "SCA_SESSION_REQUIRED":
        raise PreconditionFailed(f"without a session an authorization is answered: {refused}")
    return quote


def expect_length(session: Json) -> None:
    """Assert that a session that was just opened ends in 180 days, give or take one."""
    __tracebackhide__ = True
    try:
        ends = datetime.fromisoformat(session["sessionExpiresAt"])
    except (KeyError, TypeError, ValueError) as error:
        raise PreconditionFailed(f"sessionExpiresAt is no timestamp: {session}") from error
    length = ends - datetime.now(UTC)
    expect(abs(length - SESSION) <= TOLERANCE, f"a session of {SESSION}", length)
