"""``--fuzz-examples=0`` leaves fuzzing and models out of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is here, so that the plan still knows what was left undecided."""
    if config.getoption("fuzz_examples") > 0:
        return
    left_out = [item for item in items if _HERE in item.path.parents]
    if left_out:
        items[:] = [item for item in items if _HERE not in item.path.parents]
        config.hook.pytest_deselected(items=left_out)
