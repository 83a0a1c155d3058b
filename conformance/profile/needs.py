"""What keeps a target from deciding a requirement."""

from __future__ import annotations

from conformance.contract.catalogue import Requirement
from conformance.profile.model import Profile
from conformance.verdict.decisions import Reason


def unmet(profile: Profile, requirement: Requirement) -> tuple[Reason, str] | None:
    """Return the reason, and the feature, trigger or word that ``profile`` lacks, if any."""
    for feature in requirement.needs.features:
        if not profile.features.declares(feature):
            return Reason.FEATURE_UNDECLARED, feature
    for trigger in requirement.needs.triggers:
        if trigger not in profile.triggers:
            return Reason.TRIGGER_MISSING, trigger
    for operation in () if requirement.each else requirement.operations:
        if (word := profile.irreversible.lacks(operation)) is not None:
            return Reason.IRREVERSIBLE, word
    return None
