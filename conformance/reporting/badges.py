"""Badges: the verdict on each conformance class, and on the whole, as a small SVG image."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from conformance.reporting.report import Report
from conformance.verdict.claims import ClassVerdict

_COLOURS = {
    ClassVerdict.CONFORMANT: "#17703a",
    ClassVerdict.NOT_CONFORMANT: "#b3201a",
    ClassVerdict.INCONCLUSIVE: "#6a3ba8",
    ClassVerdict.NOT_CLAIMED: "#4f5b69",
}
_CHARACTER = 6.6
"""The width of a character in pixels; the image fits each text to its place."""

_BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label={label}>
<title>{title}</title>
<rect width="{width}" height="20" rx="3" fill="#32383f"/>
<path d="M{left} 0h{span}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{span}z" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" lengthAdjust="spacing">
<text x="6" y="14" textLength="{subject_width}">{subject}</text>
<text x="{start}" y="14" textLength="{verdict_width}">{verdict}</text>
</g>
</svg>
"""


def badges(report: Report) -> Mapping[str, str]:
    """Return the badges by the names of their files, such as ``core.svg`` and ``whole.svg``."""
    made = {
        f"{one.name}.svg": _badge(one.title, one.verdict, one.exercised.percent)
        for one in report.classes
    }
    whole = ClassVerdict(report.verdict.value)
    return {"whole.svg": _badge("Whole", whole, report.exercised.percent), **made}


def _badge(subject: str, verdict: ClassVerdict, percent: int) -> str:
    claimed = verdict is not ClassVerdict.NOT_CLAIMED
    told = f"{verdict}, {percent} % exercised" if claimed else str(verdict)
    named = f"payments: {subject}"
    subject_width, verdict_width = (round(len(text) * _CHARACTER) for text in (named, told))
    left = subject_width + 12
    return _BADGE.format(
        width=left + verdict_width + 12,
        label=quoteattr(f"{named}: {told}"),
        title=escape(f"{named}: {told}"),
        left=left,
        span=verdict_width + 9,
        colour=_COLOURS[verdict],
        subject=escape(named),
        subject_width=subject_width,
        start=left + 6,
        verdict=escape(told),
        verdict_width=verdict_width,
    )
