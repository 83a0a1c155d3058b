"""What whole runs cost: time and requests, for the suite and for its target."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.bench.conftest import Keep, Repeat
from conformance.bench.figures import Figure
from conformance.contract.catalogue import catalogue
from conformance.run import load_profile
from conformance.sut.sandbox import Sandbox

_CURATED = ("--fuzz-examples=0",)
_TRIVIAL = "import pytest\n\n@pytest.mark.parametrize('n', range({count}))\ndef test_it(n): pass\n"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process and those that it waited for took.

    ``seconds`` is the time on the clock, ``processor`` that of all cores, both in seconds.
    """

    seconds: float
    processor: float
    output: str


def cost_of(*arguments: str, folder: Path) -> Cost:
    """Run pytest in a process of its own, and return what it cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(  # noqa: S603 - words of our own
        words, cwd=folder, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in {0, 6}, done.stdout[-2000:]
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, processor, done.stdout)


def processor_of(pid: int) -> float:
    """Return the seconds of processor time that a running process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("default run", ()),
        ("default run, -n 2", ("-n", "2")),
        ("curated part", _CURATED),
    ],
    ids=["default", "two processes", "curated"],
)
def test_a_run(
    repeat: Repeat,
    keep: Keep,
    tmp_path: Path,
    name: str,
    options: tuple[str, ...],
) -> None:
    """A run is as fast as it was, and sends no more requests than it did."""
    costs: list[Cost] = []
    requests: list[float] = []
    of_target: list[float] = []

    def measure() -> None:
        sandbox = Sandbox()
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in sandbox.credentials(load_profile("reference")).items():
                patch.setenv(variable, value)
            target = (f"--base-url={sandbox.base_url}", "--profile=reference")
            idle = processor_of(sandbox.pid)
            costs.append(cost_of("--pyargs", "conformance", *target, *options, folder=tmp_path))
            of_target.append(processor_of(sandbox.pid) - idle)
        sandbox.stop()
        spent = (tmp_path / "reports/latest/budget").read_text(encoding="ascii").split()
        requests.append(int(spent[0]))

    repeat(measure)

    keep(Figure.of(name, [cost.seconds for cost in costs], "s"))
    if options:
        return
    each = [
        (cost.processor / count * 1000, target / count * 1000)
        for cost, count, target in zip(costs, requests, of_target, strict=True)
    ]
    keep(Figure.of("processor time of the suite for each request", [a for a, _ in each], "ms"))
    keep(Figure.of("processor time of the reference for each request", [b for _, b in each], "ms"))
    keep(Figure.of("requests", requests, "requests", compared=True))
    decided = sum(1 for entry in catalogue().values() if not entry.untestable)
    per = [count / decided for count in requests]
    keep(Figure.of("requests for each requirement", per, "requests", compared=True))


def test_the_start(repeat: Repeat, keep: Keep, tmp_path: Path) -> None:
    """Start and collection take little more than those of bare pytest with as many tests."""
    collect = ("--collect-only", "-q")
    suite = ("--pyargs", "conformance", *collect)
    count = int(cost_of(*suite, folder=tmp_path).output.count("::"))
    trivial = tmp_path / "test_trivial.py"
    trivial.write_text(_TRIVIAL.format(count=count), encoding="utf-8")
    ratios: list[float] = []

    def measure() -> None:
        alone = cost_of(*collect, str(trivial), "-pno:payments_conformance", folder=tmp_path)
        ratios.append(cost_of(*suite, folder=tmp_path).processor / alone.processor)

    repeat(measure)

    name = "processor time of start and collection against bare pytest"
    keep(Figure.of(name, ratios, "times", compared=True))
