"""Mutants of the webhooks about reviews of customers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, after, around, skipped
from conformance.proof.kit.edits import Edit, put
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.verification.toolkit import announced, silent, submissions, then
from conformance.proof.patch import Apply
from conformance.reference import rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import kyc_links, verifications

declare(
    "EVT-102",
    "link-reported",
    "a link is reported as a submission",
    announced((kyc_links, "create"), "INDIVIDUAL"),
)


declare(
    "EVT-102",
    "link-of-business",
    "a link of a business is reported as a submission",
    announced((kyc_links, "create"), "BUSINESS"),
)


def _decided_again(unit: Unit, ask: Ask, _answer: Any) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    kind = rules.REVIEW_EVENTS.get((customer.customer_type, customer.status))
    if kind is not None:
        unit.emit(kind, customers.view(customer))


for _requirement in ("EVT-103", "EVT-104"):
    declare(
        _requirement,
        "reported-again",
        "each change of a decided customer reports the decision again",
        then(onboarding, "update", _decided_again),
    )


def _business_decided_again(unit: Unit, ask: Ask, answer: Any) -> None:
    if customers.get(unit, ask.params["customerId"]).customer_type == "BUSINESS":
        _decided_again(unit, ask, answer)


for _requirement in ("EVT-901", "EVT-902"):
    declare(
        _requirement,
        "reported-again",
        "each change of a decided business reports the decision again",
        then(onboarding, "update", _business_decided_again),
    )


def _begun_again(kind: str) -> Apply:
    """Return a patch after which another submission begins a review that is under way."""

    def is_under_way(customer: Customer) -> bool:
        return (customer.customer_type, customer.status) == (kind, "PENDING")

    return skipped(verifications, "refuse_reviewed", is_under_way)


for _requirement, _kind in (("EVT-320", "INDIVIDUAL"), ("EVT-321", "BUSINESS")):
    declare(
        _requirement,
        "begun-again",
        "each submission during a review is reported as its beginning",
        _begun_again(_kind),
    )


@mutant("EVT-105", "only the first submission of a customer is reported", (verifications, "create"))
def repaired_unreported(create: Handler, unit: Unit, ask: Ask) -> Any:
    before = submissions(unit, str(ask.body.get("customerId")))
    answer = create(unit, ask)
    if before:
        unit.events.clear()
    return answer


@mutant("EVT-105", "only the first submission of a business is reported", (verifications, "create"))
def repaired_business_unreported(create: Handler, unit: Unit, ask: Ask) -> Any:
    before = submissions(unit, str(ask.body.get("customerId")))
    answer = create(unit, ask)
    if before and customers.get(unit, ask.body["customerId"]).customer_type == "BUSINESS":
        unit.events.clear()
    return answer


Change = Callable[[str, Json], Iterable[tuple[str, Json]]]


KINDS = ("INDIVIDUAL", "BUSINESS")


def emitting(change: Change) -> Apply:
    """Return a patch after which other events are sent: ``change`` yields type and data."""

    def sending(emit: Callable[..., None], unit: Unit, event_type: str, data: Json) -> None:
        for kind, sent in change(event_type, data):
            emit(unit, kind, sent)

    return around(Unit, "emit", sending)


def event(kind: str, *changed: tuple[str, Edit]) -> Apply:
    """Return a patch after which other events are sent in the place of one type."""

    def change(event_type: str, data: Json) -> Iterable[tuple[str, Json]]:
        if event_type != kind:
            return [(event_type, data)]
        return [(other, edit(dict(data))) for other, edit in changed]

    return emitting(change)


def same(data: Json) -> Json:
    """Return data as they are."""
    return data


for _family, _base in (("KYC", 60), ("KYB", 66)):
    _pending = f"CUSTOMER.{_family}_PENDING"
    for _offset, _place, _path in (
        (0, (verifications, "create"), "submission"),
        (3, (verifications, "complete_hosted"), "hosted flow"),
    ):
        declare(
            f"EVT-{_base + _offset:03d}",
            "unreported",
            f"that a review began by {_path} is not reported as {_pending}",
            silent(_place, _pending),
        )
        for _status, _more in (("APPROVED", 1), ("REJECTED", 2)):
            declare(
                f"EVT-{_base + _offset + _more:03d}",
                "unreported",
                f"CUSTOMER.{_family}_{_status} is never sent",
                event(f"CUSTOMER.{_family}_{_status}"),
            )


def _told(number: int, kind: str) -> str:
    """Return the requirement of a type of customer; that of individuals has the number."""
    return f"EVT-{number + KINDS.index(kind):03d}"


def _of_first(emit: Callable[..., None], unit: Unit, event_type: str, data: Json) -> None:
    """Report a review of the first customer with the same platformCustomerId."""
    if event_type.startswith("CUSTOMER."):
        query = select(Customer).where(Customer.platform_customer_id == data["platformCustomerId"])
        data = customers.view(unit.session.scalars(query.order_by(Customer.created_at)).all()[0])
    emit(unit, event_type, data)


for _requirement, _kind in (("EVT-074", "individual"), ("EVT-075", "business")):
    declare(
        _requirement,
        "first-of-name",
        f"reviews of each {_kind} are reported of the first one with its platformCustomerId",
        around(Unit, "emit", _of_first),
    )


def _reduced(data: Json) -> Json:
    return {"id": data["id"]}


def _nested(data: Json) -> Json:
    return {"customer": data}


def _of_submission(data: Json) -> Json:
    return {**data, "id": f"Verification:{data['platformCustomerId']}", "customerId": data["id"]}


for _index, _kind in enumerate(KINDS):
    _family = f"CUSTOMER.{('KYC', 'KYB')[_index]}_"
    _other = f"CUSTOMER.{('KYB', 'KYC')[_index]}_"
    _field = rules.STATUS_FIELD[_kind]
    _pending, _approved, _rejected = (
        f"{_family}{status}" for status in ("PENDING", "APPROVED", "REJECTED")
    )
    for _name, _edit in {"reduced": _reduced, "nested": _nested}.items():
        declare(
            _told(72, _kind),
            _name,
            f"the data of {_approved} are no customer: {_name}",
            event(_approved, (_approved, _edit)),
        )
    declare(
        _told(74, _kind),
        "of-submission",
        f"the data of {_approved} carry the id of the submission",
        event(_approved, (_approved, _of_submission)),
    )
    for _number, _type, _wrong in (
        (76, _pending, "UNVERIFIED"),
        (78, _approved, "PENDING"),
        (80, _rejected, "PENDING"),
    ):
        declare(
            _told(_number, _kind),
            "before",
            f"the customer in {_type} is shown as it was before",
            event(_type, (_type, put(_field, _wrong))),
        )
    declare(
        _told(82, _kind),
        "other-type",
        f"the customer in {_approved} is of the other type",
        event(_approved, (_approved, put("customerType", KINDS[1 - _index]))),
    )
    for _number, _type, _also, _what in (
        (84, _pending, _pending, "twice"),
        (86, _approved, _approved, "twice"),
        (88, _pending, _approved, "with a decision"),
        (90, _approved, _rejected, "with a rejection"),
        (92, _rejected, _approved, "with an approval"),
        (94, _pending, f"{_other}PENDING", "in both families"),
        (94, _approved, f"{_other}APPROVED", "in both families"),
    ):
        declare(
            _told(_number, _kind),
            f"{_type.rpartition('_')[2].lower()}-{_what.replace(' ', '-')}",
            f"{_type} is sent {_what}: {_also}",
            event(_type, (_type, same), (_also, same)),
        )
    for _status in ("APPROVED", "REJECTED"):
        declare(
            _told(100, _kind),
            f"hold-is-{_status.lower()}",
            f"a hold is reported as {_family}{_status}",
            with_row(rules, "REVIEW_EVENTS", (_kind, "HOLD"), f"{_family}{_status}"),
        )

for _index, _kind in enumerate(KINDS):
    declare(
        f"EVT-{96 + _index:03d}",
        "errors-reported",
        f"a submission of {_kind} with errors is reported",
        announced((verifications, "create"), _kind, of_errors=True),
    )
    declare(
        f"EVT-{98 + _index:03d}",
        "creation-reported",
        f"the creation of {_kind} is reported as a submission",
        announced((onboarding, "create"), _kind),
    )


def _told_twice(kind: str) -> Apply:
    """Return a patch after which the end of the hosted flow reports the beginning twice."""

    def act(unit: Unit, customer: Customer) -> None:
        if customer.customer_type == kind:
            unit.emit(rules.REVIEW_EVENTS[kind, "PENDING"], customers.view(customer))

    return after(verifications, "complete_hosted", act)


for _kind in KINDS:
    declare(
        _told(84, _kind),
        "twice-when-hosted",
        f"the end of the hosted flow of each {_kind} reports its review twice",
        _told_twice(_kind),
    )
