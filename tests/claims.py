"""Claims as tests need them."""

from desktop_rag.core.claims import CheckedClaim, Verdict


def unchecked(sentence: str) -> CheckedClaim:
    """A claim on which the checker has no verdict."""
    return CheckedClaim(sentence, Verdict.NOT_CHECKED, 0.0, None, (), "")
