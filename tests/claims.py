"""Claims for tests."""

from desktop_rag.core.claims import CheckedClaim, Verdict


def unchecked(sentence: str) -> CheckedClaim:
    """A claim without a verdict."""
    return CheckedClaim(sentence, Verdict.NOT_CHECKED, 0.0, None, (), "")
