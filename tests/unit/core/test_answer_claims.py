"""Signs after the claims of an answer, for texts that are read without the window."""

from dataclasses import replace

from desktop_rag.core.claims import (
    CheckedClaim,
    Claim,
    Difference,
    DifferenceKind,
    Verdict,
    with_signs,
)

TEXT = "Lit at dusk [1]. Lit at noon [1]."


def claim(start: int, end: int, verdict: Verdict) -> Claim:
    named = (Difference(DifferenceKind.NUMBER, (0, 3), None),)
    return Claim(start, end, CheckedClaim(TEXT[start:end], verdict, 0.5, None, named, ""))


def test_words_of_a_sign_may_be_in_another_language() -> None:
    claims = [claim(0, 16, Verdict.PARTLY), claim(17, 33, Verdict.NOT_IN_SOURCES)]
    assert with_signs(TEXT, claims) == (
        "Lit at dusk [1] (≈ Partly supported). Lit at noon [1] (? Not found in the sources)."
    )
    said = {Verdict.PARTLY: "Teilweise belegt"}
    assert with_signs(TEXT, claims, said=said) == (
        "Lit at dusk [1] (≈ Teilweise belegt). Lit at noon [1] (? Not found in the sources)."
    )


def test_claims_of_a_verdict_are_left_out() -> None:
    claims = [claim(0, 16, Verdict.SUPPORTED), claim(17, 33, Verdict.CONTRADICTED)]
    assert with_signs(TEXT, claims, without={Verdict.CONTRADICTED}) == "Lit at dusk [1]. "


def test_what_is_near_or_said_has_no_sign() -> None:
    near, said = claim(0, 16, Verdict.PARTLY), claim(17, 33, Verdict.SUPPORTED)
    near = replace(near, checked=replace(near.checked, differences=()))
    assert with_signs(TEXT, [near, said]) == TEXT
    assert Claim.from_json({**said.to_json(), "is_mended": True}) == said
