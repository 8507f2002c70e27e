"""Claims with the right words in a wrong role, and what is certain enough to contradict one."""

import pytest

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Verdict

LEASE = """Tenancy agreement

Landlord: Mrs Harriet Okonkwo, 14 Mill Lane, Bath
Tenant: Daniel Frey

The monthly rent is 1,180 pounds. The deposit of 1,360 pounds is held by a government scheme.
The tenant may keep one cat. Dogs are not allowed."""
CLUB = """# Book club

We meet on the last Wednesday at 19:30.

- Stoner by John Williams (chosen by Daniel)
- Kitchen by Banana Yoshimoto (chosen by Yuki)"""


@pytest.fixture(scope="module")
def checker() -> ClaimChecker:
    return ClaimChecker()


@pytest.mark.parametrize(
    ("source", "claim", "wrong"),
    [
        (
            LEASE,
            "Harriet Okonkwo is the landlord and Daniel Frey is the tenant.",
            "Daniel Frey is the landlord and Harriet Okonkwo is the tenant.",
        ),
        (LEASE, "The tenant may keep one cat.", "The tenant may keep one dog."),
        (LEASE, "The deposit is held by a scheme.", "The deposit is held by the landlord."),
        (CLUB, "Stoner was chosen by Daniel.", "Stoner was chosen by Yuki."),
        (
            CLUB,
            "The book club meets on the last Wednesday at 19:30.",
            "The book club meets on the first Wednesday at 19:30.",
        ),
        (
            "The go-live was moved from 3 June to 17 September 2025.",
            "Go-live was moved from 3 June to 17 September 2025.",
            "Go-live was moved from 17 September to 3 June 2025.",
        ),
        (
            "The UPS was tested in May. The air conditioning is serviced by Polar Klima.",
            "The air conditioning is serviced by Polar Klima.",
            "The UPS is serviced by Polar Klima.",
        ),
        (
            "UPS and cooling\n\nThe air conditioning is serviced by Polar Klima in May.",
            "The air conditioning is serviced by Polar Klima.",
            "The UPS is serviced by Polar Klima.",
        ),
        (
            "The deposit is held by a scheme for the landlord.",
            "The deposit is held by a scheme.",
            "The deposit is held by the landlord.",
        ),
        (
            "The lease of the barn ends on 4 May.",
            "The lease ends on 4 May.",
            "The lease ends on 4 June.",
        ),
        (
            "The lease of the barn ends on 4 June.",
            "The lease ends on 4 June.",
            "The lease ends on 4 May.",
        ),
        (
            "Rehearsals begin at 17:45 and last until nine.",
            "Rehearsals begin at 17:45.",
            "Rehearsals begin at 17:54.",
        ),
        (
            "The shop in Hull sells 75 handles a day.",
            "The shop sells 75 handles a day.",
            "The shop sells 100 handles a day.",
        ),
        (
            "| Product | 2018 | 2017 |\n|---|---|---|\n| Tools | 310 | 287 |",
            "Tools had 310 in 2018.",
            "Tools had 287 in 2018.",
        ),
    ],
)
def test_the_words_of_a_claim_are_in_their_roles_in_one_place(
    checker: ClaimChecker, source: str, claim: str, wrong: str
) -> None:
    assert checker.check(claim, [source]).verdict is Verdict.SUPPORTED
    assert checker.check(wrong, [source]).verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The monthly rent is 1,250 pounds.", "The source says 1,180, the answer 1,250."),
        ("Dogs are allowed with consent.", "The source says “not”, the answer doesn't."),
    ],
)
def test_a_short_claim_is_contradicted_too(checker: ClaimChecker, claim: str, said: str) -> None:
    checked = checker.check(claim, [LEASE])
    assert (checked.verdict, checked.explanation) == (Verdict.CONTRADICTED, said)
    assert checked.support < checker.threshold


@pytest.mark.parametrize("scale", ["in millions", "in millions of U.S. dollars", "in Mio. EUR"])
@pytest.mark.parametrize("figure", ["17,606 million", "17.6 billion", "17,606"])
def test_figures_are_read_in_the_scale_of_their_table(
    checker: ClaimChecker, scale: str, figure: str
) -> None:
    source = f"Statement of income ({scale})\n\nRevenue $ 17,606\nCost of revenue $ 9,101"
    assert checker.check(f"The revenue was {figure}.", [source]).verdict is Verdict.SUPPORTED
    wrong = checker.check("The revenue was 18,611 million.", [source])
    assert wrong.verdict is not Verdict.SUPPORTED


def test_a_list_in_another_language_is_not_checked(checker: ClaimChecker) -> None:
    source = "Handyvertrag Telenord, Nord M, 19,99 Euro monatlich, 24 Monate Laufzeit"
    claim = "The phone contract costs 19.99 euros with Telenord."
    assert checker.check(claim, [source]).verdict is Verdict.NOT_CHECKED
    # A list in English has no sentences either, and is read.
    english = "Phone contract Telenord, Nord M, 19.99 euros monthly, 24 months minimum"
    assert checker.check(claim, [english]).verdict is not Verdict.NOT_CHECKED


def test_what_an_unread_source_may_say_is_not_called_absent(checker: ClaimChecker) -> None:
    source = "Der Leuchtturm wurde von einem Architekten aus Wien gebaut, und er ist noch offen."
    claim = "A museum in Vienna owns the ship and sells it to the king."
    assert checker.check(claim, [LEASE]).verdict is Verdict.NOT_IN_SOURCES
    assert checker.check(claim, [LEASE, source]).verdict is Verdict.NOT_CHECKED
