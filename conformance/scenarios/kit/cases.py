"""Tables of cases: one test for many rows, each of which decides requirements of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import pytest

from conformance.scenarios.kit.marks import requirement

Case: TypeAlias = object
"""One row of ``pytest.mark.parametrize``."""


def case(requirements: str | Iterable[str], name: str, *values: object) -> Case:
    """Return one row of a table of cases.

    Args:
        requirements: the id of the requirement that the row decides, or several.
        name: the row's part of the test's id.
        values: the values of the parameters, in their order.
    """
    ids = (requirements,) if isinstance(requirements, str) else requirements
    return pytest.param(*values, marks=requirement(*ids), id=name)
