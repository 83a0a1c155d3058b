"""The Markdown of the repository: its links, paths, modules and commands exist."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer.main
from markdown_it import MarkdownIt
from markdown_it.token import Token

from conformance.cli.main import app
from conformance.selftest.collection import ROOT

ROOMS = ("conformance", "fixtures", "reports", "spec")
PAGES = sorted([*ROOT.glob("*.md"), *(p for room in ROOMS for p in (ROOT / room).rglob("*.md"))])
PACKAGE = ROOT / "conformance"
MAX_README_LINES = 150

_MARKDOWN = MarkdownIt("commonmark").enable("table")
_CODE = ("code_inline", "fence", "code_block")
_PATH = re.compile(r"(?<![\w./-])(?:conformance|fixtures|spec)/[\w./*<>…-]*")
_PLACEHOLDER = re.compile(r"<[^>]*>|…")
_MODULE = re.compile(r"(?<![\w./-])conformance(?:\.\w+)+")
_COMMAND = re.compile(r"payments-conformance ([a-z]\S*)")


@dataclass(frozen=True, slots=True)
class Page:
    """The links, headings and code of a Markdown file.

    ``links`` are the targets of links and pictures as they are written, ``anchors`` the names by
    which GitHub leads to the headings, and ``code`` the texts of code spans and code blocks.
    """

    path: Path
    links: tuple[str, ...]
    anchors: frozenset[str]
    code: tuple[str, ...]

    @classmethod
    @cache
    def read(cls, path: Path) -> Page:
        """Read a file."""
        blocks = _MARKDOWN.parse(path.read_text(encoding="utf-8"))
        tokens = [token for block in blocks for token in (block, *(block.children or ()))]
        targets = (token.attrGet("href") or token.attrGet("src") for token in tokens)
        headings = [
            following for block, following in pairwise(blocks) if block.type == "heading_open"
        ]
        return cls(
            path,
            tuple(str(target) for target in targets if target),
            frozenset(_anchors(headings)),
            tuple(token.content for token in tokens if token.type in _CODE),
        )


def _anchors(headings: list[Token]) -> Iterator[str]:
    """Yield GitHub's names of the headings; a name that comes again gets a number."""
    counts: Counter[str] = Counter()
    for heading in headings:
        text = "".join(token.content for token in heading.children or ())
        name = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        yield f"{name}-{counts[name]}" if counts[name] else name
        counts[name] += 1


def dead_links(page: Page) -> list[str]:
    """Return the links that lead outside of the repository's files or to nothing."""
    return [link for link in page.links if not _leads_somewhere(link, page)]


def _leads_somewhere(link: str, page: Page) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
    inside = target.is_relative_to(ROOT) or target.is_relative_to(page.path.parent)
    if not inside or not target.exists():
        return False
    if not parts.fragment:
        return True
    return target.suffix == ".md" and unquote(parts.fragment) in Page.read(target).anchors


def missing_paths(page: Page) -> list[str]:
    """Return the paths of the repository that stand in code and do not exist.

    A part of a path may be a pattern: ``*``, ``<name>`` or ``…``.
    """
    paths = (path.rstrip("./") for text in page.code for path in _PATH.findall(text))
    return [path for path in paths if not any(ROOT.glob(_PLACEHOLDER.sub("*", path)))]


def missing_modules(page: Page) -> list[str]:
    """Return the modules of the package that stand in code and do not exist."""
    return [name for text in page.code for name in _MODULE.findall(text) if not _is_module(name)]


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def unknown_commands(page: Page) -> list[str]:
    """Return the console commands that stand in code and do not exist."""
    group = typer.main.get_group(app)
    known = group.list_commands(group.make_context("", [], resilient_parsing=True))
    names = (name for text in page.code for name in _COMMAND.findall(text))
    return [name for name in names if name not in known]


Faults = Callable[[Page], list[str]]


@pytest.mark.parametrize("faults", [dead_links, missing_paths, missing_modules, unknown_commands])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_names_exists(path: Path, faults: Faults) -> None:
    """No page of the repository has a dead link, path, module or command."""
    assert faults(Page.read(path)) == []


def test_the_code_that_contributors_are_shown_stands_in_the_package() -> None:
    """CONTRIBUTING.md quotes code as it is; ``# …`` and two empty lines leave something out."""
    package = [_stripped(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    blocks = _MARKDOWN.parse((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    quoted = [block.content for block in blocks if block.info == "python"]
    pieces = [_stripped(part) for text in quoted for part in re.split(r"\n\n\n|# …", text)]

    assert [piece for piece in pieces if not any(piece in text for text in package)] == []


def _stripped(text: str) -> str:
    """Return a text without the indentation of its lines and without empty ones."""
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


def test_the_readme_is_read_in_one_go() -> None:
    """The README has at most 150 lines; longer texts have guides of their own."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(readme.splitlines()) <= MAX_README_LINES


@pytest.mark.parametrize(
    ("faults", "text", "expected"),
    [
        (dead_links, "[a file](no-such-file.md)", ["no-such-file.md"]),
        (dead_links, "[a folder](no-such-folder/)", ["no-such-folder/"]),
        (dead_links, "![a picture](no-such.png)", ["no-such.png"]),
        (dead_links, "[a name][it]\n\n[it]: no-such-file.md", ["no-such-file.md"]),
        (dead_links, "[outside](/etc)", ["/etc"]),
        (dead_links, "| a | b |\n| --- | --- |\n| [a file](gone.md) | |", ["gone.md"]),
        (dead_links, "# Here\n\n[a heading](#there)", ["#there"]),
        (dead_links, "[a heading](page.md#there)", ["page.md#there"]),
        (missing_paths, "`spec/no-such.yaml`", ["spec/no-such.yaml"]),
        (missing_paths, "`fixtures/no-such-*.yaml`", ["fixtures/no-such-*.yaml"]),
        (missing_paths, "```sh\npytest conformance/gone.py::test\n```", ["conformance/gone.py"]),
        (missing_modules, "`from conformance.gone import A`", ["conformance.gone"]),
        (
            missing_modules,
            "`--pyargs conformance.contract.data.gone`",
            ["conformance.contract.data.gone"],
        ),
        (unknown_commands, "`payments-conformance prove`", ["prove"]),
        (unknown_commands, "```sh\n.venv/bin/payments-conformance runs --help\n```", ["runs"]),
    ],
)
def test_a_fault_is_found(tmp_path: Path, faults: Faults, text: str, expected: list[str]) -> None:
    """Each check returns exactly the fault that the page has."""
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")

    assert faults(Page.read(page)) == expected


@pytest.mark.parametrize("faults", [dead_links, missing_paths, missing_modules, unknown_commands])
def test_what_exists_is_no_fault(tmp_path: Path, faults: Faults) -> None:
    """Headings have the names that GitHub gives them, and links within code do not count."""
    page = tmp_path / "page.md"
    page.write_text(
        "# The `x-judge`, and *more*: a_b\n\n## Again\n\n## Again\n\n"
        "[one](#the-x-judge-and-more-a_b) [two](#again-1) [this](page.md) [web](https://a.example)\n"
        "\n`[no link](no-such-file.md)`\n\n```md\n[none](either.md)\n```\n\n"
        "`spec/states/*.yaml` `spec/<folder>/quote.yaml` `conformance/selftest/`\n"
        "`conformance.cli.main:app` `payments-conformance run --base-url=https://a.example/spec/gone`\n",
        encoding="utf-8",
    )

    assert faults(Page.read(page)) == []
