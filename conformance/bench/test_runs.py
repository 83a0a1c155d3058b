"""What whole runs cost: time and requests, for the suite and for its target."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.bench.conftest import Keep, Repeat
from conformance.bench.figures import Figure
from conformance.contract.catalogue import catalogue
from conformance.run import load_profile
from conformance.selftest.slow_line import SlowLine
from conformance.sut.sandbox import Sandbox

_CURATED = ("--fuzz-examples=0",)
_WORKERS = 8
_ROUND_TRIP_SECONDS = 0.05
_SAMPLE_SECONDS = 0.2
_TRIVIAL = "import pytest\n\n@pytest.mark.parametrize('n', range({count}))\ndef test_it(n): pass\n"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process and those that it waited for took.

    ``seconds`` is the time on the clock, ``processor`` that of all cores, both in seconds.
    """

    seconds: float
    processor: float
    output: str


@contextmanager
def reference(patch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """Run a reference, with its credentials in the environment."""
    sandbox = Sandbox()
    try:
        for variable, value in sandbox.credentials(load_profile("reference")).items():
            patch.setenv(variable, value)
        yield sandbox
    finally:
        sandbox.stop()


def words_of(*arguments: str) -> list[str]:
    """Return a command line of pytest."""
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]


def suite_against(origin: str, *options: str) -> tuple[str, ...]:
    """Return the arguments of pytest that judge the reference behind an origin."""
    return ("--pyargs", "conformance", f"--base-url={origin}", "--profile=reference", *options)


def cost_of(*arguments: str, folder: Path) -> Cost:
    """Run pytest in a process of its own, which may keep bytecode, and return what it cost."""
    keeping = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run(  # noqa: S603 - words of our own
        words_of(*arguments),
        cwd=folder,
        env=keeping,
        capture_output=True,
        text=True,
        check=False,
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


def requests_of(folder: Path) -> int:
    """Return how many requests the run sent whose report is in a folder."""
    return int((folder / "reports/latest/budget").read_text(encoding="ascii").split()[0])


def peaks(pid: int) -> dict[int, float]:
    """Return the most memory that a process and its children have had so far, in MB, by process."""
    found = {}
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    for one in (pid, *map(int, children)):
        with suppress(OSError, IndexError):
            status = Path(f"/proc/{one}/status").read_text(encoding="utf-8")
            found[one] = int(status.partition("VmHWM:")[2].split()[0]) / 1000
    return found


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
        with pytest.MonkeyPatch.context() as patch, reference(patch) as sandbox:
            idle = processor_of(sandbox.pid)
            costs.append(cost_of(*suite_against(sandbox.base_url, *options), folder=tmp_path))
            of_target.append(processor_of(sandbox.pid) - idle)
        requests.append(requests_of(tmp_path))

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
    bare = (*collect, str(trivial), "-pno:payments_conformance")
    # What both import is compiled by now, with or without the suite.
    cost_of(*bare, folder=tmp_path)
    ratios: list[float] = []

    def measure() -> None:
        alone = cost_of(*bare, folder=tmp_path)
        ratios.append(cost_of(*suite, folder=tmp_path).processor / alone.processor)

    repeat(measure)

    name = "processor time of start and collection against bare pytest"
    keep(Figure.of(name, ratios, "times", compared=True))


def test_growth(repeat: Repeat, keep: Keep, tmp_path: Path) -> None:
    """Ten times as many tests cost ten times as much at the most: a test does not slow others."""
    parts = {"10 %": "1/10", "50 %": "1/2", "100 %": "1/1"}
    each: dict[str, list[float]] = {name: [] for name in parts}

    def measure() -> None:
        for name, shard in parts.items():
            with pytest.MonkeyPatch.context() as patch, reference(patch) as sandbox:
                options = (*_CURATED, f"--shard={shard}")
                cost = cost_of(*suite_against(sandbox.base_url, *options), folder=tmp_path)
            each[name].append(cost.processor / requests_of(tmp_path) * 1000)

    repeat(measure)

    for name, samples in each.items():
        keep(Figure.of(f"processor time for each request, {name} of the tests", samples, "ms"))


def test_a_slow_line(repeat: Repeat, keep: Keep, tmp_path: Path) -> None:
    """With many workers a run takes little more than the waiting for its answers."""
    ratios: list[float] = []

    def measure() -> None:
        with pytest.MonkeyPatch.context() as patch, reference(patch) as sandbox:
            upstream, _, version = sandbox.base_url.rpartition("/")
            with SlowLine(upstream, _ROUND_TRIP_SECONDS) as line:
                options = (*_CURATED, "-n", str(_WORKERS))
                origin = f"{line.origin}/{version}"
                cost = cost_of(*suite_against(origin, *options), folder=tmp_path)
        waiting = requests_of(tmp_path) * _ROUND_TRIP_SECONDS / _WORKERS
        ratios.append(cost.seconds / waiting)

    repeat(measure)

    name = "curated part, -n 8, 50 ms of round trip, against the waiting alone"
    keep(Figure.of(name, ratios, "times"))


def test_memory(repeat: Repeat, keep: Keep, tmp_path: Path) -> None:
    """Neither the controller of a run nor a worker takes more memory than it did."""
    controllers: list[float] = []
    workers: list[float] = []

    def measure() -> None:
        seen: dict[int, float] = {}
        with pytest.MonkeyPatch.context() as patch, reference(patch) as sandbox:
            words = words_of(*suite_against(sandbox.base_url, "-n", "2"))
            with subprocess.Popen(  # noqa: S603 - words of our own
                words, cwd=tmp_path, stdout=subprocess.DEVNULL
            ) as process:
                while process.poll() is None:
                    with suppress(OSError):
                        seen |= peaks(process.pid)
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_SAMPLE_SECONDS)
        controllers.append(seen.pop(process.pid))
        workers.append(max(seen.values()))

    repeat(measure)

    keep(Figure.of("memory of the controller, -n 2", controllers, "MB"))
    keep(Figure.of("memory of a worker, -n 2", workers, "MB"))
