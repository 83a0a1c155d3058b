"""Ids of one kind of resource in the place of another: nothing is found, done or moved by them."""

from __future__ import annotations

from conformance.client.actor import members
from conformance.client.platform import Platform
from conformance.scenarios.faults import having
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

REFUSED = (400, 404, 422)
"""What is looked for does not exist, or is no id of its kind."""


@requirement("CUS-800", "CUS-801")
def test_a_customer_is_found_by_its_own_id_alone(platform: Platform, check: Check) -> None:
    """Not by that of an account of its own."""
    customer = platform.payer()
    account = platform.destination(customer)
    name = {"fullName": "Omar Bauer"}

    unread, unchanged = platform.get_customer(account), platform.update_customer(account, name)

    with check("CUS-800"):
        unread.refused(*REFUSED, twin=platform.get_customer(customer))
    with check("CUS-801"):
        unchanged.refused(*REFUSED, twin=platform.update_customer(customer, name))


@requirement("KYC-800")
def test_a_hosted_link_is_for_a_customer(platform: Platform) -> None:
    """An account of the customer's is none."""
    customer = platform.unsubmitted()
    account = platform.destination(platform.payer())

    refusal = platform.create_kyc_link(account)

    refusal.refused(*REFUSED, twin=platform.create_kyc_link(customer))


@requirement("VER-800")
def test_what_is_submitted_is_a_customer(platform: Platform) -> None:
    """An account of a customer's is none."""
    account = platform.destination(platform.payer())

    refusal = platform.submit(account)

    refusal.refused(*REFUSED, twin=platform.submit(platform.prepared()))


@requirement("OWN-800")
def test_what_is_owned_is_a_customer(platform: Platform) -> None:
    """An account of a business is none."""
    account = platform.destination(platform.payer("BUSINESS"))
    body = platform.owner_body(platform.applicant(business=True))

    refusal = platform.create_owner(having("customerId", account["id"])(body))

    refusal.refused(*REFUSED, twin=platform.create_owner(body))


@requirement("EXT-800")
def test_an_external_account_is_read_by_its_own_id_alone(platform: Platform) -> None:
    """Not by that of its customer."""
    customer = platform.payer()
    account = platform.destination(customer)

    refusal = platform.get_external_account(customer)

    refusal.refused(*REFUSED, twin=platform.get_external_account(account))


@requirement("EXT-801", "EXT-802")
def test_an_external_account_is_deleted_by_its_own_id_alone(
    platform: Platform, check: Check
) -> None:
    """Not by that of its customer, whose account stays."""
    customer = platform.payer()
    account, other = platform.destination(customer), platform.destination(platform.payer())

    refusal = platform.delete_external_account(customer)

    with check("EXT-802"):
        assert platform.get_external_account(account).accepted
    with check("EXT-801"):
        refusal.refused(*REFUSED, twin=platform.delete_external_account(other))


@requirement("LKP-800")
def test_an_external_account_is_looked_up_by_its_own_id_alone(platform: Platform) -> None:
    """Its customer is no receiver."""
    customer = platform.customer()
    account = platform.destination(customer)

    refusal = platform.look_up(customer, customerId=customer["id"])

    refusal.refused(*REFUSED, twin=platform.look_up(account, customerId=customer["id"]))


@requirement("ACC-800")
def test_no_deposit_is_simulated_on_an_external_account(platform: Platform) -> None:
    """It is not the service that holds its money."""
    account = platform.account(amount=0)
    outside = platform.destination({"id": account["customerId"]})

    refusal = platform.fund({**account, "id": outside["id"]}, 10_000)

    twin = platform.fund(account, 10_000)
    if not twin.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {twin}")
    refusal.refused(*REFUSED, twin=twin)


@requirement("ACC-801")
def test_internal_accounts_are_listed_for_customers(platform: Platform) -> None:
    """Under the id of an account there are none; the request may be refused as well."""
    account = platform.account(amount=0)

    answer = platform.list_internal_accounts({"id": account["id"]})

    platform.observe(f"the internal accounts of what is no customer: {answer.status}")
    assert not answer.accepted or members(answer.body) == []


@requirement("QUO-800", "QUO-801")
def test_money_moves_between_accounts(platform: Platform, check: Check) -> None:
    """A customer is at neither end of a quote."""
    body = platform.quote_body()
    source = body["source"]["accountId"]
    customer = platform.movement.accounts[source]["customerId"]

    from_customer, to_customer = (
        platform.create_quote(having(f"{end}.accountId", customer)(body))
        for end in ("source", "destination")
    )
    twin = platform.create_quote(body)

    with check("QUO-800"):
        from_customer.refused(*REFUSED, twin=twin)
    with check("QUO-801"):
        to_customer.refused(*REFUSED, twin=twin)


@requirement("QUO-802")
def test_a_quote_is_executed_by_its_own_id_alone(platform: Platform) -> None:
    """Not by that of its transaction."""
    quote = platform.quote()

    refusal = platform.execute({"id": quote["transactionId"]})

    refusal.refused(*REFUSED, twin=platform.execute(quote))


@requirement("RBA-802")
def test_a_rule_based_account_is_for_a_customer(platform: Platform) -> None:
    """An account of the customer's is none."""
    home = platform.home()
    payee = platform.payee(home)

    refusal = platform.create_internal_account(
        platform.rule_based_body(home, payee, customer=payee["id"])
    )

    right = platform.rule_based_body(home, payee)
    # Who is no customer holds no account either, which may be what it is refused for.
    refusal.refused(*REFUSED, 409, twin=platform.create_internal_account(right))
