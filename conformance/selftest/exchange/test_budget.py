"""The budget of a run: how many requests are sent, and how many resources created."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.exchange.budget import Budget
from conformance.profile.model import Budget as Limits
from conformance.verdict.decisions import BudgetSpent

SPEND = """
import sys
from pathlib import Path
from conformance.exchange.budget import Budget
from conformance.profile.model import Budget as Limits
from conformance.verdict.decisions import BudgetSpent

budget = Budget(Path(sys.argv[1]), Limits(requests=1000, created=150))
sys.stdin.readline()
sent = created = 0
for number in range(600):
    try:
        budget.spend(created=number % 2 == 0)
    except BudgetSpent:
        continue
    sent += 1
    created += number % 2 == 0
print(sent, created)
"""


def test_all_processes_spend_one_budget(tmp_path: Path) -> None:
    """Four processes at the same time send exactly as much as one budget allows."""
    Budget.start(tmp_path / "budget", Limits(requests=1000, created=150)).close()
    command = [sys.executable, "-c", SPEND, str(tmp_path / "budget")]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(4)]

    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [process.communicate()[0].split() for process in processes]

    assert sum(int(sent) for sent, _ in counts) == 1000
    assert sum(int(created) for _, created in counts) == 150


def test_what_is_not_sent_is_not_counted(tmp_path: Path) -> None:
    """A refused creation is not counted, so that another request can still be sent."""
    budget = Budget.start(tmp_path / "budget", Limits(requests=2, created=1))
    budget.spend(created=True)

    for _ in range(3):
        with pytest.raises(BudgetSpent, match=r"budget\.created of 1 is spent"):
            budget.spend(created=True)

    budget.spend(created=False)
    with pytest.raises(BudgetSpent, match=r"budget\.requests of 2 is spent"):
        budget.spend(created=False)
    budget.close()


def test_a_run_starts_with_nothing_spent(tmp_path: Path) -> None:
    """A budget starts anew, although an earlier run left a spent one in the same file."""
    path = tmp_path / "reports" / "budget"
    first = Budget.start(path, Limits(requests=1))
    first.spend(created=False)
    first.close()

    second = Budget.start(path, Limits(requests=1))

    second.spend(created=False)
    second.close()
