"""Claims about a lighthouse, held against what its handbook says."""

from collections.abc import Sequence

import pytest

from desktop_rag.answer.checking.claims import checker as checking
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import CheckedClaim, DifferenceKind, Verdict
from desktop_rag.models.embedding.joined_embedding import BUNDLED, OnnxEmbedder, bundled_folders
from desktop_rag.models.ports import Vectors

LIGHTHOUSE = (
    "The lighthouse at Skagen was built in 1858 by the architect Niels Bindesbøll. It is 46 metres "
    "high, and its lamp is lit at dusk every day. Visitors may climb the tower from April to "
    "October. The old keeper does not sleep during winter storms. A ticket costs 30 kroner."
)
FERRY = "The ferry to Vienna leaves at noon. It carries 200 passengers and no cars."


@pytest.fixture(scope="module")
def checker() -> ClaimChecker:
    return ClaimChecker()


def differing(checked: CheckedClaim, source: str) -> list[tuple[str, str, str]]:
    return [
        (
            str(one.kind),
            checked.claim[slice(*one.in_claim)] if one.in_claim else "",
            source[slice(*one.in_source)] if one.in_source else "",
        )
        for one in checked.differences
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "The lighthouse at Skagen was built in 1858 by the architect Niels Bindesbøll.",
        "Visitors may climb the tower from April to October.",
        "The old keeper does not sleep during winter storms.",
        "Its lamp is lit at dusk every day.",
    ],
)
def test_what_the_source_says_is_supported(checker: ClaimChecker, claim: str) -> None:
    checked = checker.check(claim, [LIGHTHOUSE])
    assert checked.verdict is Verdict.SUPPORTED
    assert checked.support > checker.threshold
    assert checked.explanation.startswith("The source says this")


@pytest.mark.parametrize(
    ("claim", "kind", "said", "written"),
    [
        (
            "The lighthouse at Skagen was built in 1985 by the architect Niels Bindesbøll.",
            DifferenceKind.DATE, "1985", "1858",
        ),
        ("It is 64 metres high, and its lamp is lit at dusk.", DifferenceKind.NUMBER, "64", "46"),
        (
            "It is 46 feet high, and its lamp is lit at dusk.",
            DifferenceKind.UNIT, "feet", "metres",
        ),
        (
            "Its lamp is not lit at dusk every day.",
            DifferenceKind.NEGATION, "not", "",
        ),
        ("The old keeper does sleep during winter storms.", DifferenceKind.NEGATION, "", "not"),
        (
            "Visitors may climb the tower from March to October.",
            DifferenceKind.DATE, "March", "April",
        ),
        (
            "The lighthouse at Skagen was built in 1858 by the architect Peter Andersen.",
            DifferenceKind.NAME, "Peter Andersen", "Niels Bindesbøll",
        ),
    ],
)  # fmt: skip
def test_one_number_date_name_unit_or_negation_contradicts(
    checker: ClaimChecker, claim: str, kind: DifferenceKind, said: str, written: str
) -> None:
    checked = checker.check(claim, [LIGHTHOUSE])
    assert differing(checked, LIGHTHOUSE) == [(kind, said, written)]
    assert checked.verdict is Verdict.CONTRADICTED
    assert checked.support < checker.threshold
    for word in filter(None, (said, written)):
        assert word in checked.explanation


@pytest.mark.parametrize(
    ("source", "said", "kind"),
    [
        ("The meeting of the board is in March.", ("March", "April"), DifferenceKind.DATE),
        ("The hall opens on Tuesday.", ("Tuesday", "Monday"), DifferenceKind.DATE),
        ("Die Sitzung ist am Dienstag.", ("Dienstag", "Montag"), DifferenceKind.DATE),
        ("The fee is 500 euros.", ("euros", "dollars"), DifferenceKind.UNIT),
        ("The road is 12 kilometres long.", ("kilometres", "metres"), DifferenceKind.UNIT),
        ("The plate is 12 mm thick.", ("mm", "cm"), DifferenceKind.UNIT),
    ],
)
def test_another_month_weekday_or_unit_in_the_same_words_contradicts(
    checker: ClaimChecker, source: str, said: tuple[str, str], kind: DifferenceKind
) -> None:
    written, other = said
    checked = checker.check(source.replace(written, other), [source])
    assert checked.verdict is Verdict.CONTRADICTED
    assert differing(checked, source) == [(str(kind), other, written)]
    both = f"{source} There is a second one, of 12 {other} or 12 {written}."
    assert checker.check(source.replace(written, other), [both]).verdict is not Verdict.CONTRADICTED
    assert checker.check(source, [source]).verdict is Verdict.SUPPORTED


def test_two_names_of_one_unit_contradict_nothing(checker: ClaimChecker) -> None:
    checked = checker.check("The plate weighs 12 kilos.", ["The plate weighs 12 kg."])
    assert checked.verdict is not Verdict.CONTRADICTED


def test_a_phrase_that_frames_a_claim_takes_little_of_its_support(checker: ClaimChecker) -> None:
    plain = "Its lamp is lit at dusk every day"
    framed = checker.check(f"{plain}, according to the document.", [LIGHTHOUSE])
    assert checker.check(f"{plain}.", [LIGHTHOUSE]).support > framed.support > checker.threshold


def test_a_contradiction_is_told_in_one_plain_sentence(checker: ClaimChecker) -> None:
    claim = "The lighthouse at Skagen was built in 1985 by the architect Niels Bindesbøll."
    assert (
        checker.check(claim, [LIGHTHOUSE]).explanation == "The source says 1858, the answer 1985."
    )


@pytest.mark.parametrize(
    "claim",
    [
        # Other metres and kinds of writing are no other unit, and a rounded number is no other one.
        "It is 46 m high, and its lamp is lit at dusk every day.",
        "It is 46.5 metres high, and its lamp is lit at dusk every day.",
        # Too little agrees.
        "The shop was built in 1985.",
        # A number that the source has elsewhere may be meant otherwise.
        "It is 30 metres high, and its lamp is lit at dusk every day.",
    ],
)
def test_what_is_not_sure_is_no_contradiction(checker: ClaimChecker, claim: str) -> None:
    assert checker.check(claim, [LIGHTHOUSE]).verdict is not Verdict.CONTRADICTED


def test_a_negation_of_another_sentence_turns_nothing(checker: ClaimChecker) -> None:
    source = "The lamp isn't new. The lamp is lit at dusk and burns until the morning comes."
    checked = checker.check("The lamp is lit at dusk and burns until the morning comes.", [source])
    assert (checked.verdict, checked.differences) == (Verdict.SUPPORTED, ())


def test_two_negations_may_say_the_same(checker: ClaimChecker) -> None:
    source = "A storm will not stop the ferry to Skagen if the crew is well trained."
    claim = "It is unlikely that a storm will stop the ferry to Skagen if the crew is well trained."
    assert checker.check(claim, [source]).verdict is not Verdict.CONTRADICTED


def test_what_is_nowhere_is_named(checker: ClaimChecker) -> None:
    checked = checker.check("The lighthouse belongs to a museum in Vienna.", [LIGHTHOUSE])
    assert checked.verdict is Verdict.NOT_IN_SOURCES
    assert checked.explanation == "Not in its source: Vienna."
    assert checked.named == ("Vienna",)
    # What another source has was found.
    assert "Vienna" not in checker.check(checked.claim, [LIGHTHOUSE, FERRY]).explanation


def test_names_in_each_others_place_are_shown_side_by_side(checker: ClaimChecker) -> None:
    claim = "The lighthouse at Skagen was built in 1858 by the architect Peter Andersen."
    checked = checker.check(claim, [LIGHTHOUSE])
    assert differing(checked, LIGHTHOUSE) == [("name", "Peter Andersen", "Niels Bindesbøll")]
    assert "Niels Bindesbøll" in checked.explanation


def test_what_is_changed_or_missing_lowers_the_support(checker: ClaimChecker) -> None:
    first, *others = (
        checker.check(claim, [LIGHTHOUSE]).support
        for claim in (
            "Visitors may climb the tower from April to October.",
            "Visitors may climb the tower from April to November.",
            "Visitors may climb the tower and swim from April to October.",
            "Dogs may climb the tower from April to October.",
            "Dogs may swim in the harbour from April to October.",
        )
    )
    assert first > max(others)
    assert others[-1] < checker.threshold


def test_words_in_another_order_are_less_sure(checker: ClaimChecker) -> None:
    source = "Anna paid the carpenter, and the carpenter thanked the mayor of Skagen for the wood."
    told = checker.check("The carpenter thanked the mayor of Skagen for the wood.", [source])
    swapped = checker.check("The mayor of Skagen thanked Anna for the carpenter.", [source])
    assert swapped.support < told.support


def test_the_best_of_several_sources_is_the_evidence(checker: ClaimChecker) -> None:
    checked = checker.check("It carries 200 passengers and no cars.", [LIGHTHOUSE, "", FERRY])
    assert checked.verdict is Verdict.SUPPORTED
    assert checked.evidence
    assert checked.evidence.source == 2
    assert "carries 200 passengers" in FERRY[checked.evidence.start : checked.evidence.end]


@pytest.mark.slow
def test_the_evidence_is_some_sentences_of_a_long_source(checker: ClaimChecker) -> None:
    source = " ".join(f"Room {n} has a bed and a view of yard {n}." for n in range(2_000))
    source = f"{source} {LIGHTHOUSE} {source}"
    checked = checker.check("Visitors may climb the tower from April to October.", [source])
    assert checked.verdict is Verdict.SUPPORTED
    assert checked.evidence
    shown = source[checked.evidence.start : checked.evidence.end]
    assert "climb the tower" in shown
    assert len(shown) < len(LIGHTHOUSE)


@pytest.mark.parametrize("claim", ["", "…", "Yes.", "It is so."])
def test_what_says_nothing_is_not_checked(checker: ClaimChecker, claim: str) -> None:
    checked = checker.check(claim, [LIGHTHOUSE])
    assert (checked.verdict, checked.evidence) == (Verdict.NOT_CHECKED, None)


@pytest.mark.parametrize("sources", [[], ["", " … "]])
def test_without_sources_nothing_is_checked(checker: ClaimChecker, sources: list[str]) -> None:
    assert checker.check("The lamp is lit at dusk.", sources).verdict is Verdict.NOT_CHECKED


@pytest.mark.parametrize(
    ("source", "claim", "wrong"),
    [
        (
            "Der alte Leuchtturm in Skagen wurde 1858 von Niels Bindesbøll gebaut.",
            "Der alte Leuchtturm in Skagen wurde 1858 gebaut.",
            "Der alte Leuchtturm in Skagen wurde 1859 von Niels Bindesbøll gebaut.",
        ),
        (
            "斯卡恩的旧灯塔建于1858年，高46米。",
            "斯卡恩的旧灯塔建于1858年。",
            "斯卡恩的旧灯塔建于1985年。",
        ),
    ],
)
def test_other_languages(checker: ClaimChecker, source: str, claim: str, wrong: str) -> None:
    assert checker.check(claim, [source]).verdict is Verdict.SUPPORTED
    assert checker.check(wrong, [source]).verdict is Verdict.CONTRADICTED


@pytest.mark.slow
def test_a_check_says_the_same_whatever_was_checked_before(
    checker: ClaimChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_CACHED_CHARACTERS", 20_000)
    claim = "The lighthouse at Skagen was built in 1858."
    first = checker.check(claim, [LIGHTHOUSE, FERRY])
    # More than is remembered of sources.
    for n in range(3):
        checker.check(claim, [f"Page {n}. " * 1_200])
    assert checker.check(claim, [LIGHTHOUSE, FERRY]) == first
    assert ClaimChecker().check(claim, [LIGHTHOUSE, FERRY]) == first


@pytest.mark.parametrize(
    "claim",
    [
        "Der Leuchtturm in Skagen wurde von dem Architekten Niels Bindesbøll gebaut.",
        "斯卡恩的旧灯塔建于1858年。",
    ],
)
def test_what_is_in_another_language_than_its_sources_is_not_checked(
    checker: ClaimChecker, claim: str
) -> None:
    checked = checker.check(claim, [LIGHTHOUSE, FERRY])
    assert checked.verdict is Verdict.NOT_CHECKED
    assert "another language" in checked.explanation
    # A source in its own language is enough.
    assert checker.check(claim, [LIGHTHOUSE, claim]).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "Pelabuhan ini dibuka pada tahun itu oleh raja.",
            "Kapal nelayan dijual di kota lain oleh pedagang ikan.",
        ),
        ("漁師は港で魚を売っている。", "子供たちは学校で本を読む。"),
        ("Der Leuchtturm wurde von einem Architekten gebaut.", "Die Fähre fährt nicht am Abend."),
        # "Die" is an article in two other languages, and a rare verb in English.
        ("The deposit is 2,820 euros.", "Die Kaution beträgt 2.820 Euro."),
    ],
)
def test_what_words_cannot_tell_in_another_language_is_not_checked(
    checker: ClaimChecker, source: str, claim: str
) -> None:
    checked = checker.check(claim, [source])
    assert checked.verdict is Verdict.NOT_CHECKED
    assert checked.support < checker.threshold
    assert "in this language" in checked.explanation


@pytest.mark.parametrize(
    ("source", "claim", "name"),
    [
        (
            "Vermieter ist Hans Müller, Mieterin ist Erika Weber.",
            "Der Vermieter ist Peter Schmitt.", "Peter Schmitt",
        ),
        (
            "Le bailleur est Jean Martin, le locataire est Paul Durand.",
            "Le bailleur est Pierre Dupont.", "Pierre Dupont",
        ),
    ],
)  # fmt: skip
def test_a_full_name_that_no_source_has_is_named_in_its_language(
    checker: ClaimChecker, source: str, claim: str, name: str
) -> None:
    assert checker.check(claim, [source]).named == (name,)
    assert not checker.check(claim, [source, f"{name}."]).named
    # In another language a name may be translated.
    english = "The lessor of the house is the Red Cross, and the lessee is a friend of the family."
    assert not checker.check(claim, [english]).named


BUREAU = (
    "New figures are out. In July, 8.4 million people were without a job, the Bureau of Labor "
    "Statistics said on Friday. Economists had expected fewer."
)


def test_the_same_in_other_words_is_surer_than_a_wrong_number(checker: ClaimChecker) -> None:
    right, wrong = (
        checker.check(f"According to the Bureau, there were {n} million unemployed.", [BUREAU])
        for n in ("8.4", "6.9")
    )
    assert right.support > wrong.support + 0.2
    assert (right.named, wrong.named) == ((), ("6.9 million",))


def test_only_the_sources_with_most_of_the_words_are_compared_in_meaning() -> None:
    opened, compared = list[str](), list[str]()

    class Counted(OnnxEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            compared.extend(texts[1:])
            return super().embed_passages(texts)

    def open_model(spec: str) -> OnnxEmbedder:
        opened.append(spec)
        return Counted(bundled_folders()[spec], threads=1)

    sources = [*(f"Page {n} is about boats and gulls." for n in range(20)), LIGHTHOUSE]
    checked = ClaimChecker(open_model).check("Visitors may climb the tower in October.", sources)
    assert checked.evidence
    assert checked.evidence.source == 20
    assert len(compared) == 3
    # The other bundled model takes as long and tells no more (decision 082).
    assert opened == [BUNDLED]


def test_numbers_in_words_and_figures_are_the_same(checker: ClaimChecker) -> None:
    written, figures = (
        checker.check(f"It carries {number} passengers and no cars.", [FERRY])
        for number in ("two hundred", "200")
    )
    assert written.differences == figures.differences == ()
    assert written.verdict is figures.verdict is Verdict.SUPPORTED


def test_a_word_that_another_language_has_too_is_no_other_language(checker: ClaimChecker) -> None:
    source = "Skagen's lamp boasts a 90 per cent share in light, said the keepers of the house."
    claim = "Skagen lamp boasts a 90 per cent share in light."
    assert checker.check(claim, [source]).verdict is not Verdict.NOT_CHECKED


@pytest.mark.parametrize("day", ["7.12.2025", "2025-12-07", "Dec 7, 2025", "7. Dezember 2025"])
def test_days_are_the_same_in_any_form(checker: ClaimChecker, day: str) -> None:
    source = "The ferry to Vienna leaves the old harbour on 7 December 2025."
    checked = checker.check(f"The ferry to Vienna leaves the old harbour on {day}.", [source])
    assert not [d for d in checked.differences if d.kind is not DifferenceKind.WORD]


def test_a_word_is_a_unit_only_where_both_sides_have_one(checker: ClaimChecker) -> None:
    source = "The repair cost 4,860 pounds, of which the insurer will pay back 3,360 in 2026."
    checked = checker.check("The insurer will pay back 3,360 pounds of the repair.", [source])
    assert not [d for d in checked.differences if d.kind is DifferenceKind.UNIT]


@pytest.mark.parametrize(
    ("claim", "source", "verdict"),
    [
        (
            "The monthly rent of the flat is 780 euros.",
            "The monthly rent of the flat is 780 €, payable in advance.",
            Verdict.SUPPORTED,
        ),
        (
            "The monthly rent of the flat is EUR 780.",
            "The monthly rent of the flat is 780 euros, payable in advance.",
            Verdict.SUPPORTED,
        ),
        (
            "The monthly rent of the flat is 780 euros.",
            "The monthly rent of the flat is 780 dollars, payable in advance.",
            Verdict.CONTRADICTED,
        ),
    ],
)
def test_money_is_one_unit_in_sign_code_and_word(
    checker: ClaimChecker, claim: str, source: str, verdict: Verdict
) -> None:
    assert checker.check(claim, [source]).verdict is verdict


def test_a_sign_for_a_unit_contradicts_no_word_for_it(checker: ClaimChecker) -> None:
    source = "Die Miete der Wohnung beträgt 780 €, zahlbar im Voraus."
    checked = checker.check("Die Miete der Wohnung beträgt 780 Euro.", [source])
    assert checked.verdict is not Verdict.CONTRADICTED


LEASE = (
    "3 Rent\n\nThe monthly rent is EUR 4,250, payable by the third working day of each month."
    " Service charges are EUR 780 a month on account.\n\n4 Deposit\n\nThe Tenant pays a deposit of"
    " EUR 12,750 before moving in.\n\n5 Notice\n\nThe Tenant may terminate early against a payment"
    " of two monthly rents.\n"
)


@pytest.mark.parametrize(
    "claim",
    ["At the current rent of EUR 4,250 that is EUR 8,500.", "Two monthly rents are EUR 8,500.",
     "At the current rent that is EUR 8,500."],
)  # fmt: skip
def test_what_figures_of_the_source_give_is_not_contradicted(claim: str) -> None:
    assert ClaimChecker().check(claim, [LEASE]).verdict is not Verdict.CONTRADICTED


def test_a_figure_that_two_others_happen_to_give_is_named_all_the_same() -> None:
    found = ClaimChecker().check("The rent is EUR 8,500 a month.", [LEASE])
    assert found.named == ("8,500",)
