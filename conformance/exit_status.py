"""The exit status of a run, and what it means."""

from __future__ import annotations

import pytest

from conformance.verdict.plan import TargetVerdict

EXIT_STATUS = {
    TargetVerdict.CONFORMANT: int(pytest.ExitCode.OK),
    TargetVerdict.NOT_CONFORMANT: int(pytest.ExitCode.TESTS_FAILED),
    # pytest itself uses 0 to 5.
    TargetVerdict.INCONCLUSIVE: 6,
}
"""The exit status of a run by its verdict on the target."""

_MEANING = {
    pytest.ExitCode.INTERRUPTED: "The run was interrupted.",
    pytest.ExitCode.INTERNAL_ERROR: (
        "The suite or its machine failed, for example by a full disk: there is no report, and no "
        "verdict."
    ),
    pytest.ExitCode.USAGE_ERROR: (
        "The configuration is wrong, the target cannot be reached at the start, or the report "
        "folder cannot be had."
    ),
    pytest.ExitCode.NO_TESTS_COLLECTED: "The selection leaves no test.",
}
_VERDICT_MEANING = {
    TargetVerdict.CONFORMANT: (
        "The target is conformant: something was decided, nothing is broken, and nothing is "
        "inconclusive."
    ),
    TargetVerdict.NOT_CONFORMANT: (
        "The target is not conformant: at least one requirement failed."
    ),
    TargetVerdict.INCONCLUSIVE: (
        "There is no verdict on the target: nothing failed, but something is inconclusive, nothing "
        "was decided, or only safe methods could be sent."
    ),
}
EXIT_MEANING = {
    **{EXIT_STATUS[verdict]: text for verdict, text in _VERDICT_MEANING.items()},
    **{int(code): text for code, text in _MEANING.items()},
}
"""What each exit status of a run means."""
