"""One test for each operation: no generated request breaks it, and faulty bodies are refused.

The ids stand with the operation in the document: ``server-error`` that no request makes it answer
with one, and ``faulty-body``, where it has one, that a body outside the stated types, presence and
values is refused. Every answer is judged on the way as that of any other test is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.verdict.decisions import HarnessError, ResourceMissing, TwinRefused

if TYPE_CHECKING:
    from conformance.fuzz.requests import Prepared

_SHOWN = 3

Check = Callable[..., AbstractContextManager[None]]
Noted = tuple["Prepared", Answer]
"""What was sent, and what was answered."""


def _test_of(operation: Operation) -> Callable[..., None]:
    """Return the test of one operation."""
    unbroken = operation.requirement("server-error")
    refusing = operation.requirements.get("faulty-body")

    @pytest.mark.requirement(*filter(None, (unbroken, refusing)))
    def test(
        platform: Platform, check: Check, pytestconfig: pytest.Config, seeds: list[int]
    ) -> None:
        # They are dear to import, and a run that leaves fuzzing out need not pay for it.
        from conformance.fuzz.drawn import BOUNDARY_SHARE, draw  # noqa: PLC0415 - as above
        from conformance.fuzz.faults import faults  # noqa: PLC0415 - as above
        from conformance.fuzz.requests import faulty, prepared, send  # noqa: PLC0415 - as above
        from conformance.fuzz.share import share  # noqa: PLC0415 - as above
        from conformance.platform.grounds.request import ground  # noqa: PLC0415 - as above

        count = pytestconfig.getoption("fuzz_examples")
        here = ground(operation.id, platform)
        wrong, others = [], []
        for seed in seeds:
            drawn = draw(operation.id, seed, count)
            if refusing:
                wrong += faults(operation, here.body, drawn, BOUNDARY_SHARE * count)
            others += prepared(operation, drawn, here, f"{seed}/{operation.id}", count)

        def answered_to(requests: Iterable[Prepared]) -> list[Noted]:
            return [(request, send(platform, operation, request)) for request in requests]

        refused = answered_to(faulty(operation, fault, here) for fault in wrong)
        if refusing is not None:
            with check(refusing):
                _expect_refused(refused, here.twin)
        answered = [*refused, *answered_to(others)]
        platform.observe(f"{operation.id}: {share(answered)}")
        with check(unbroken):
            _expect_unbroken(operation, answered)

    test.__name__ = test.__qualname__ = f"test_{operation.id}"
    test.__doc__ = f"{operation.id} answers whatever comes, and never with a server error."
    return test


def _expect_refused(refused: list[Noted], twin: Callable[[], Answer] | None) -> None:
    __tracebackhide__ = True
    if not refused or twin is None:
        raise HarnessError("no faulty body was generated; give --fuzz-examples a larger number")
    accepted = [noted for noted in refused if noted[1].accepted]
    # Accepting one may have used up what the twin needs, so the twin does not matter then.
    assert not accepted, (
        f"expected a client error for each of {len(refused)} bodies with one fault; "
        f"{len(accepted)} were accepted:\n{_shown(accepted)}"
    )
    if not (answer := twin()).accepted:
        raise TwinRefused(f"the same request without the fault was refused as well: {answer}")


def _expect_unbroken(operation: Operation, answered: list[Noted]) -> None:
    __tracebackhide__ = True
    if not any(answer.offered for _, answer in answered):
        raise ResourceMissing(f"{operation.id} is not offered: {answered[0][1]}")
    broken = [noted for noted in answered if noted[1].broken]
    assert not broken, (
        f"expected no server error from {operation.id}; {len(broken)} of {len(answered)} "
        f"generated requests brought one about:\n{_shown(broken)}"
    )


def _shown(found: list[Noted]) -> str:
    lines = [
        f"  [{answer.exchange.id}] {request.note}: {answer}" for request, answer in found[:_SHOWN]
    ]
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more")
    return "\n".join(lines)


globals().update(
    {f"test_{operation.id}": _test_of(operation) for operation in document().operations.values()}
)
