"""Every operation: whatever it refuses, it refuses by an error object."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from conformance.client.ground import groundless, request
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.contract.document import Operation, document
from conformance.verdict.decisions import ResourceMissing

RULES: Mapping[str, str] = {
    "createQuote": "ERR-101",
    "executeQuote": "ERR-102",
    "authorizeQuote": "ERR-103",
    "listTransactions": "ERR-104",
    "approveTransaction": "ERR-105",
    "createCustomer": "ERR-106",
    "updateCustomer": "ERR-107",
    "getCustomer": "ERR-108",
    "getEndUserTerms": "ERR-109",
    "getConfig": "ERR-110",
    "updateConfig": "ERR-111",
    "listCustomerInternalAccounts": "ERR-112",
    "listPlatformInternalAccounts": "ERR-113",
    "fundInternalAccount": "ERR-114",
    "createExternalAccount": "ERR-115",
    "listCustomerExternalAccounts": "ERR-116",
    "listPlatformExternalAccounts": "ERR-117",
    "getExternalAccount": "ERR-118",
    "deleteExternalAccount": "ERR-119",
    "lookupExternalAccount": "ERR-120",
    "listDiscoveries": "ERR-121",
    "transferIn": "ERR-122",
    "transferOut": "ERR-123",
    "createKycLink": "ERR-124",
    "sendEmailCode": "ERR-125",
    "confirmEmail": "ERR-126",
    "sendPhoneCode": "ERR-127",
    "confirmPhone": "ERR-128",
    "createBeneficialOwner": "ERR-129",
    "createDocument": "ERR-130",
    "createVerification": "ERR-131",
    "listVerifications": "ERR-132",
    "untrustBeneficiary": "ERR-133",
    "confirmUntrust": "ERR-134",
    "confirmBeneficiary": "ERR-135",
    "challengeOwnership": "ERR-136",
    "verifyOwnership": "ERR-137",
    "createInternalAccount": "ERR-138",
    "startFactorReset": "ERR-139",
    "getFactorReset": "ERR-140",
    "completeFactorReset": "ERR-141",
    "completeScaLogin": "ERR-142",
    "listStablecoins": "ERR-143",
    "createStablecoin": "ERR-144",
    "mintStablecoin": "ERR-145",
    "burnStablecoin": "ERR-146",
    "listStablecoinOperations": "ERR-147",
    "simulateReturnReversal": "ERR-148",
}
"""For each operation the requirement that it refuses by an error object."""

SOME_TEXT = "conformance"
"""What is no client's secret."""

WRONG_KIND = b"[]"
"""What no operation takes: its body is an object, or a form."""

NO_PARTS = b"--no-part--\r\n"
"""A form without any part, which none takes either."""

EITHER = ("confirmUntrust", "confirmBeneficiary")
"""Of these two one is served, and what is answered at the other one may come from anybody."""


def refused(platform: Platform, operation: Operation) -> Answer:
    """Send a request that an operation cannot take, and return the answer.

    What its path names does not exist, or its body is of another kind. Where it has neither, the
    credentials are wrong.
    """
    lay = request if operation.id in EITHER else groundless
    found = lay(operation.id, platform)
    if operation.form_schema is not None:
        headers = {"content-type": "multipart/form-data; boundary=no-part"}
        return found.send(content=NO_PARTS, headers=headers, valid=False)
    if "requestBody" in operation.raw:
        return found.send(content=WRONG_KIND, valid=False)
    if found.path:
        return found.send()
    return found.send(auth=platform.client.credentials(client_secret=SOME_TEXT))


def _test_of(operation: Operation) -> Callable[[Platform], None]:
    """Return the test of one operation."""

    @pytest.mark.requirement(RULES[operation.id])
    def test(platform: Platform) -> None:
        answer = refused(platform, operation)

        if answer.accepted:
            raise ResourceMissing(f"it was not refused: {answer}")
        demand_error_object(answer)

    test.__name__ = test.__qualname__ = f"test_{operation.id}"
    test.__doc__ = f"A refusal by {operation.id} carries a code and a reason."
    return test


def demand_error_object(answer: Answer) -> None:
    """Assert that a refusal says by a code and in words what is wrong."""
    __tracebackhide__ = True
    assert isinstance(answer.body, dict), f"expected an error object, got {answer}"
    code, reason = answer.body.get("code"), answer.body.get("reason")
    assert isinstance(code, str), f"expected a code, got {answer}"
    assert code, f"expected a code, got {answer}"
    assert isinstance(reason, str), f"expected a reason, got {answer}"


globals().update(
    {f"test_{operation.id}": _test_of(operation) for operation in document().operations.values()}
)
