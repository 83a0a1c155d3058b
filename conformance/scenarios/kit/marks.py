"""What every scenario imports: the marker for requirements, and the type of ``check``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

import pytest

requirement = pytest.mark.requirement
"""Names the requirements of the catalogue that a test decides."""

Check: TypeAlias = Callable[..., AbstractContextManager[None]]
"""The ``check`` fixture: ``with check("QUO-001"): assert …`` decides a requirement."""

SETTLING = ("PROCESSING", "COMPLETED")
"""The statuses of an executed quote: slow rails show the first, instant ones may show both."""
