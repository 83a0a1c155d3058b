"""The marker for requirements, the type of ``check``, and the statuses of an executed quote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

import pytest

requirement = pytest.mark.requirement
"""The marker that names the requirements of the catalogue which a test decides."""

Check: TypeAlias = Callable[..., AbstractContextManager[None]]
"""The ``check`` fixture: ``with check("QUO-001"): assert …`` decides a requirement."""

SETTLING = ("PROCESSING", "COMPLETED")
"""The statuses of an executed quote: slow rails show the first, instant ones may show both."""
