"""The exit status of a run, and what it means."""

from __future__ import annotations

import pytest

from conformance.verdict.gate import GateResult

EXIT_STATUS = {
    GateResult.CONFORMANT: int(pytest.ExitCode.OK),
    GateResult.NO_NEW_FAILURE: int(pytest.ExitCode.OK),
    GateResult.NOT_CONFORMANT: int(pytest.ExitCode.TESTS_FAILED),
    # pytest itself uses 0 to 5.
    GateResult.INCONCLUSIVE: 6,
    GateResult.TOO_LITTLE_EXERCISED: 7,
    GateResult.BASELINE_OUTDATED: 8,
}
"""The exit status of a run by what came of it."""

_MEANING = {
    pytest.ExitCode.INTERRUPTED: (
        "The run was interrupted, by Ctrl-C or SIGTERM. The report says what was decided by then."
    ),
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
_RESULT_MEANING = {
    GateResult.CONFORMANT: (
        "The target is conformant, or each class of `--class` is: something was decided, nothing "
        "is broken but for what `--baseline` knows, and nothing is inconclusive."
    ),
    GateResult.NOT_CONFORMANT: (
        "The target is not conformant, or a class of `--class` is not: at least one requirement "
        "failed that `--baseline` does not know."
    ),
    GateResult.INCONCLUSIVE: (
        "There is no verdict on the target: nothing failed, but something is inconclusive, nothing "
        "was decided, or only safe methods could be sent."
    ),
    GateResult.TOO_LITTLE_EXERCISED: (
        "Nothing is broken or inconclusive, but less was exercised than `--require-exercised` "
        "asks for."
    ),
    GateResult.BASELINE_OUTDATED: (
        "Nothing new is broken, but an entry of `--baseline` is stale, as its requirement passes, "
        "or has expired."
    ),
}
EXIT_MEANING = {
    **{EXIT_STATUS[result]: text for result, text in _RESULT_MEANING.items()},
    **{int(code): text for code, text in _MEANING.items()},
}
"""What each exit status of a run means."""
