"""What is told without a model, in every language: quotes, figures and calculations."""

import random
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from benchmarks.answers.calculations import cases
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Basis, Verdict

_SENTENCES = {
    "en": [
        "Economy class is standard; business class requires the approval of a vice president",
        "The tenant pays 1,450.50 dollars on the first day of each month",
        "Do not use vinegar, as it damages the seals",
        "The archive in the cellar holds 3,100 maps and 12 globes",
    ],
    "de": [
        "Die Kaution beträgt 2.070 Euro; sie kann in drei Raten gezahlt werden",
        "Das Treppenhaus reinigen die Mieter im Wechsel mit den anderen Parteien",
        "Der Betrieb unter −20 °C ist nicht zulässig",
    ],
    "fr": [
        "Le loyer s'élève à 940 euros; il est payable le premier du mois",
        "Les animaux ne sont pas admis dans l'immeuble",
    ],
    "es": [
        "El contrato termina el 31 de diciembre; se prorroga por un año",
        "La garantía no cubre los daños causados por el agua",
    ],
    "it": [
        "Il deposito è di 2.820 euro; viene restituito alla fine",
        "La sala resta chiusa in agosto",
    ],
    "pt": ["O aluguel vence no quinto dia; a multa é de 2%", "A biblioteca abre às nove horas"],
    "nl": ["De huur bedraagt 940 euro; de borg is drie maanden", "Huisdieren zijn niet toegestaan"],
    "pl": ["Czynsz wynosi 940 złotych; jest płatny z góry", "Zwierzęta nie są dozwolone w budynku"],
    "ru": ["Арендная плата составляет 940 евро; залог не взимается", "Животные в доме запрещены"],
    "tr": ["Kira bedeli 940 avrodur; depozito üç ay içindir", "Evde köpek beslemek yasak"],
    "zh": ["租金为每月940欧元；押金为三个月租金", "楼内不允许饲养宠物"],
    "ja": ["家賃は月額940ユーロです；敷金は三か月分です", "建物内でペットを飼うことはできません"],
    "ko": [
        "임대료는 월 940유로이며 보증금은 석 달치입니다",
        "건물에서는 애완동물을 기를 수 없습니다",
    ],
    "ar": [
        "الإيجار الشهري هو 940 يورو؛ ويدفع في أول الشهر",
        "لا يسمح بالحيوانات الأليفة في المبنى",
    ],
    "th": ["ค่าเช่าเดือนละ 940 ยูโร; เงินประกันสามเดือน"],
}
_COUNT = 200


def _broken(sentence: str) -> str:
    """The sentence on several lines, as a page has it."""
    words = sentence.split(" ")
    half = len(words) // 2
    return "\n  ".join([" ".join(words[:half]), " ".join(words[half:])]) if half else sentence


_FORMS = {
    "plain": lambda s: f"{s}.",
    "item": lambda s: f"- {s}",
    "numbered": lambda s: f"2. {s}",
    "broken": lambda s: f"{_broken(s)}.",
    "bold": lambda s: f"**{s}.**",
    "quoted": lambda s: f"„{s}“",
    "spaced": lambda s: f"{s.replace(' ', '  ').replace(';', ' ; ')}.",
    "row": lambda s: f"| 4 | {s} |",
}  # fmt: skip


def verbatim() -> Iterator[tuple[str, str]]:
    """So many sentences, each with a source that has it in some form among others."""
    draw = random.Random(5)
    every = [s for sentences in _SENTENCES.values() for s in sentences]
    forms = list(_FORMS.values())
    for number in range(_COUNT):
        said = every[number % len(every)]
        before, behind = draw.sample([other for other in every if other != said], 2)
        form = forms[number // len(every) % len(forms)]
        yield f"{said}.", f"{before}.\n\n{form(said)}\n\n{behind}.\n"


@cache
def checker() -> ClaimChecker:
    return ClaimChecker()


@pytest.mark.slow
def test_every_quote_is_supported_in_every_language() -> None:
    found = [(checker().check(claim, [source]), source) for claim, source in verbatim()]
    assert len(found) == _COUNT
    assert [c.claim for c, _ in found if c.verdict is not Verdict.SUPPORTED] == []


def test_a_part_of_a_sentence_is_a_quote_unless_the_rest_turns_it() -> None:
    source = "Pets are not allowed, except for one cat. Under no circumstances may you sublet it."
    assert checker().check("Under no circumstances may you sublet", [source]).support > 0.9
    for claim in ("You may sublet it.", "Pets are not allowed."):
        assert checker().check(claim, [source]).explanation.endswith("word for word.") is False


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It costs 401 EUR in all.", "It costs 40¹ EUR in all."),
        ("The mass is 3 × 106 tonnes.", "The mass is 3 × 10⁶ tonnes."),
        ("The mass is 3 × 10⁶ tonnes.", "The mass is 3 × 10⁻⁶ tonnes."),
    ],
)
def test_raised_digits_are_no_part_of_the_number_before_them(claim: str, source: str) -> None:
    assert checker().check(claim, [source]).basis is not Basis.QUOTE
    assert checker().check(source, [source]).basis is Basis.QUOTE


@pytest.mark.parametrize("note", ["¹", "[a]", "[12]", " [1]"])
def test_a_note_may_stand_between_a_number_and_its_word(note: str) -> None:
    said, noted = "Sales were 482 million.", f"In 2023, all sales were 482{note} million euros."
    assert checker().check(said, [noted]).verdict is Verdict.SUPPORTED
    assert checker().check(noted, [noted]).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
def test_thousands_with_spaces_are_one_number(space: str) -> None:
    spaced = f"The fee is 1{space}250{space}000 euros a year."
    for other in spaced.replace(space + "250" + space, ",250,"), spaced.replace(space, " "):
        assert checker().check(other, [spaced]).verdict is Verdict.SUPPORTED
        assert checker().check(spaced, [other]).verdict is Verdict.SUPPORTED
    for less in "The fee is 250 euros a year.", "250 000 euros a year":
        assert checker().check(less, [spaced]).verdict is not Verdict.SUPPORTED


def test_figures_at_the_end_of_a_line_may_be_cells() -> None:
    rows = "Balance of the year 2024\n\nFees 125 250 300\nRent 940 120 800\n"
    assert "Not in its source" not in checker().check("Fees were 250 in all.", [rows]).explanation


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The policy says: “Economy class is standard on all flights”.", Verdict.SUPPORTED),
        ("According to the rules, “economy class is standard on all flights”.", Verdict.SUPPORTED),
        ("According to no rule, “economy class is standard on all flights”.", None),
        ("According to Ada King, “economy class is standard on all flights”.", None),
        ("The thief stole: “Economy class is standard on all flights”.", None),
        ("The policy never says: “Economy class is standard on all flights”.", None),
        ("The policy says: “Business class is standard on all flights”.", None),
    ],
)
def test_words_in_quotation_marks_are_looked_up(claim: str, verdict: Verdict | None) -> None:
    source = "Travel policy. Economy class is standard on all flights."
    found = checker().check(claim, [source]).verdict
    assert (found is Verdict.SUPPORTED) == (verdict is Verdict.SUPPORTED)


@pytest.mark.parametrize(
    ("source", "claim", "named"),
    [
        ("Die Miete beträgt 690 Euro.", "Dazu kommen 999,123 Euro für Strom.", "999,123"),
        ("Le loyer est de 690 euros.", "La caution s'élève à 4 200 euros.", "4 200"),
        ("Аренда составляет 690 евро.", "Залог равен 4200 евро в месяц.", "4200"),
        ("家賃は690ユーロです。", "敷金は4200ユーロになります。", "4200"),
        ("The rent is 690 euros.", "Die Kaution beträgt 2.070 Euro im Jahr.", "2.070"),
        ("Die Sitzung war am 3. Mai 2024.", "Die Wahl folgt am 9. August 2024.", "9. August 2024"),
    ],
)
def test_a_figure_that_no_source_has_is_named_in_any_language(
    source: str, claim: str, named: str
) -> None:
    checked = checker().check(claim, [source])
    assert checked.verdict in (Verdict.NOT_IN_SOURCES, Verdict.CONTRADICTED)
    assert named in checked.explanation


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("in millions\n\nRevenue | 4,120", "Revenue reached $4.12 billion in that year."),
        ("Der Umsatz betrug 86,4 Mio. Euro.", "The group sold goods for 86.4 million euros."),
        ("Il y a 1 234,5 tonnes.", "The stock amounts to 1,234.5 tonnes in all."),
        ("Sixty percent were paid.", "About 60% of the sum was paid by them."),
        ("The rent rises by 2 per cent.", "It is 2% more each year."),
        ("Le loyer augmente de 2,5 pour cent.", "C'est 2,5 % de plus."),
        ("Signed on 2024-05-03.", "Unterzeichnet wurde er am 3. Mai 2024 in Bonn."),
        ("Firmado el 3 de mayo de 2024.", "They signed the paper on May 3, 2024."),
    ],
)
def test_a_figure_is_found_in_another_form(source: str, claim: str) -> None:
    assert "Not in its source" not in checker().check(claim, [source]).explanation


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("The share of the tenant is 12.5 %.", "The share of the tenant is 0.125."),
        ("The share of the tenant is 35%.", "The share of the tenant is 0.35."),
        ("Der Anteil der Mieter beträgt 35 %.", "Der Anteil der Mieter beträgt 0,35."),
    ],
)
def test_a_part_of_one_may_be_written_in_percent(claim: str, other: str) -> None:
    assert checker().check(claim, [other]).verdict is Verdict.SUPPORTED
    assert checker().check(other, [claim]).verdict is Verdict.SUPPORTED
    for wrong in claim.replace("5", "6"), f"{other[:-1]} percent.":
        assert checker().check(wrong, [claim]).verdict is not Verdict.SUPPORTED


@pytest.mark.slow
def test_calculations_are_done_again() -> None:
    found = [(case, checker().check(case.claim, [case.source]).verdict) for case in cases()]
    right = [verdict is Verdict.SUPPORTED for case, verdict in found if case.is_right]
    wrong = [verdict is Verdict.CONTRADICTED for case, verdict in found if not case.is_right]
    assert min(sum(right), sum(wrong)) >= 57
    assert len(right) == len(wrong) == 60


def test_the_right_result_is_told() -> None:
    source = "Revenue was 4,000 million in 2023 and 4,120 million in 2024."
    checked = checker().check("Revenue grew by 5.0%, from 4,000 to 4,120 million.", [source])
    assert checked.explanation == "The figures give 3.0%, the answer says 5.0%."
    checked = checker().check("Revenue grew by 3.0%, from 4,000 to 4,120 million.", [source])
    assert checked.verdict is Verdict.SUPPORTED
    sales = "Sales were 4,000 million, costs were 2,500 million."
    checked = checker().check("The profit is 4,000 − 2,500 = 1,600 million.", [sales])
    assert checked.explanation == "The figures give 1,500 million, the answer says 1,600 million."


@pytest.mark.parametrize(
    ("said", "share", "wrong"),
    [
        ("Sales grew by {}.", "25%", "35%"),
        ("Der Umsatz stieg um {}.", "25 %", "20 %"),
        ("Costs fell by {}.", "37.5%", "60%"),
        ("The share of the north was {}.", "80%", "75%"),
    ],
)
def test_a_share_that_two_figures_of_the_source_give_is_not_named(
    said: str, share: str, wrong: str
) -> None:
    costs = "Costs were 400 million in 2022 and 250 million in 2023."
    sales = "Sales of the north were 400 million, and all sales 500 million."
    source = costs if "Costs" in said else sales
    assert not checker().check(said.format(share), [source]).named
    assert checker().check(said.format(wrong), [source]).named == (wrong,)


_ACCOUNTS = (
    "The club has 64 members in Hull and 11 in York. It took in 8,640 euros a year, and spent "
    "7,120 euros. The rent is 610 euros a month."
)


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("Altogether, the club has 75 members in Hull and York.", True),
        ("Altogether, the club has 85 members in Hull and York.", False),
        ("Altogether, the club has 75 dogs.", False),
        ("Altogether, the club of Leeds has 75 members.", False),
        ("Altogether, the club doesn't have 75 members.", False),
        ("The club has 75 members.", False),
        ("Of the money, 1,520 euros remained.", True),
        ("Of the money, 1,620 euros remained.", False),
        ("Over a year, the rent is 7,320 euros.", True),
        ("Over a year, the rent is 7,230 euros.", False),
    ],
)
def test_a_result_that_is_told_without_its_figures_is_computed(claim: str, is_said: bool) -> None:
    checked = checker().check(claim, [_ACCOUNTS])
    assert (checked.verdict is Verdict.SUPPORTED) is is_said
    assert (checked.basis is Basis.COMPUTED) is is_said


INCOME = """\
Consolidated statements of income (in millions)
Total revenue 17,606 15,785
Gross profit 15,441 13,920
Total operating expenses 9,343 8,118
"""
RENT = "The monthly rent is EUR 1,450. The service charges are EUR 210 a month."
_MARGIN = (
    "Gross profit of $15,441 million less total operating expenses of $9,343 million is {} million,"
    " a margin of {} of the revenue of $17,606 million."
)
_LEFT = (
    "Total operating expenses of $9,343 million leave {} million of a profit of $15,441 million."
)
_RENT = "The rent and the service charges are together EUR {} a month, EUR {} a year."


@pytest.mark.parametrize(
    ("claim", "right", "wrong", "source"),
    [
        (_MARGIN, ("$6,098", "34.6 %"), ("$6,098", "38.6 %"), INCOME),
        (_LEFT, ("$6,098",), ("$6,908",), INCOME),
        (_RENT, ("1,660", "19,920"), ("1,760", "19,920"), RENT),
        ("Three monthly rents are EUR {}.", ("4,350",), ("4,530",), RENT),
    ],
)
def test_one_result_of_a_calculation_gives_the_next(
    claim: str, right: Sequence[str], wrong: Sequence[str], source: str
) -> None:
    checked = checker().check(claim.format(*right), [source])
    assert (checked.verdict, checked.basis) == (Verdict.SUPPORTED, Basis.COMPUTED)
    assert checker().check(claim.format(*wrong), [source]).verdict is not Verdict.SUPPORTED


def test_a_label_with_a_word_for_a_sum_tells_of_none() -> None:
    claim = "After total operating expenses of $9,343 million, $6,098 million of $15,441 million."
    assert checker().check(claim, [INCOME]).basis is not Basis.COMPUTED


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("The water is off for six hours.", ("six", "seven")),
        ("The water is off for 375 minutes.", ("375", "357")),
        ("The flat has to be given back by 29 November 2027.", ("29 November", "12 November")),
        ("So notice is due in 2027.", ("2027", "2024")),
    ],
)
def test_a_time_that_days_and_periods_of_the_source_give_is_not_named(
    claim: str, wrong: tuple[str, str]
) -> None:
    source = (
        "The water is off from 8:15 to 14:30, the heating from 9:00 to 15:00. The flat is let "
        "until 29 February 2028. Notice is due three months before."
    )
    assert not checker().check(claim, [source]).named
    other = checker().check(claim.replace(*wrong), [source])
    assert other.named or other.verdict is Verdict.CONTRADICTED


def test_degrees_are_one_unit_in_sign_and_word() -> None:
    source = "At 7 points the temperature rises above 5 degrees Celsius for more than 20 minutes."
    claim = "At seven points, the temperature exceeds 5 °C for more than 20 minutes."
    assert checker().check(claim, [source]).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "said", "written"),
    [
        ("The notice period after the probation is four months.", "four", "three"),
        ("The monthly salary of the engineer is 5,400 euros.", "5,400", "4,500"),
        ("The contract of the engineer began on 1 September 2021.", "2021", "2022"),
    ],
)
def test_one_other_figure_in_the_same_words_contradicts(
    claim: str, said: str, written: str
) -> None:
    source = (
        "The contract of the engineer began on 1 September 2022. The monthly salary of the engineer"
        " is 4,500 euros. The notice period after the probation is three months."
    )
    checked = checker().check(claim, [source])
    assert checked.verdict is Verdict.CONTRADICTED
    assert said in checked.explanation
    assert written in checked.explanation


OPEN_INVOICES = """Result of a query over 40 rows, Invoices!A2:F41:
Invoice | Customer | Net EUR
R-06 | Halden AG | 17940.35
R-12 | Tern Ltd | 62000
R-18 | Halden AG | 11527.97
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Together they amount to EUR 91,468.32 net.", Verdict.SUPPORTED),
        ("Zusammen sind das 91.468,32 Euro.", Verdict.SUPPORTED),
        ("On average an open invoice is over EUR 30,489.44.", Verdict.SUPPORTED),
        ("Together they amount to EUR 91,648.32 net.", Verdict.NOT_IN_SOURCES),
        ("The next invoice amounts to EUR 91,468.32.", Verdict.NOT_IN_SOURCES),
    ],
)
def test_the_sum_and_the_mean_of_a_column_are_computed(claim: str, verdict: Verdict) -> None:
    assert ClaimChecker().check(claim, [OPEN_INVOICES]).verdict is verdict


def test_the_sum_of_a_piece_is_not_that_of_the_table() -> None:
    """A model that adds up the rows that it was shown is wrong about all."""
    piece = OPEN_INVOICES.partition("\n")[2]
    said = "Together all invoices amount to EUR 91,468.32 net."
    assert ClaimChecker().check(said, [piece]).verdict is not Verdict.SUPPORTED


KEY_FIGURES = """
Key figures, in millions of euros

| | 2022 | 2023 | 2024 |
|---|---|---|---|
| Revenue | 400 | 500 | 560 |
| Net income | 91 | 80 | 104 |
"""
SALES = "Net sales were $4,120 million, compared with $4,000 million. Staff rose from 640 to 800."


@pytest.mark.parametrize(
    ("source", "claim", "right"),
    [
        (KEY_FIGURES, "Revenue rose by 12 %.", ""),
        (KEY_FIGURES, "Revenue grew by 15% in 2024.", "12%"),
        (KEY_FIGURES, "Revenue rose by 12% compared with the previous year.", ""),
        (KEY_FIGURES, "Net income fell by 12.1% in 2023.", ""),
        (KEY_FIGURES, "Net income rose by 12.1% in 2023.", "−12.1%"),
        (KEY_FIGURES, "Revenue increased by 40% from 2022 to 2024.", ""),
        (KEY_FIGURES, "Revenue rose by 60 million euros in 2024.", ""),
        (KEY_FIGURES, "Revenue rose by 70 million euros in 2024.", "60 million"),
        (SALES, "Net sales rose by 3%.", ""),
        (SALES, "Net sales rose by 5%.", "3%"),
        (SALES, "Net sales grew by $120 million.", ""),
        (SALES, "Staff grew by 25 %.", ""),
    ],
)
def test_a_change_is_computed_from_both_figures_of_the_source(
    source: str, claim: str, right: str
) -> None:
    checked = checker().check(claim, [source])
    assert checked.basis is Basis.COMPUTED
    assert checked.verdict is (Verdict.CONTRADICTED if right else Verdict.SUPPORTED)
    assert f"give {right}," in checked.explanation or not right


@pytest.mark.parametrize(
    "claim",
    [
        "Net sales rose by 3% at constant rates.",
        "Revenue did not rise by 12%.",
        "Costs rose by 12%.",
    ],
)
def test_a_change_of_something_else_is_not_computed(claim: str) -> None:
    assert checker().check(claim, [KEY_FIGURES, SALES]).basis is not Basis.COMPUTED


def test_a_part_of_a_whole_is_computed() -> None:
    fees = "The full fee is 36 euros. Young people pay 12 euros. It rose from 30 to 36 euros."
    said = "Young people pay 12 euros, a {} of the full fee of 36 euros."
    assert checker().check(said.format("third"), [fees]).verdict is Verdict.SUPPORTED
    wrong = checker().check(said.format("quarter"), [fees])
    assert (wrong.verdict, wrong.basis) == (Verdict.CONTRADICTED, Basis.COMPUTED)
    dated = checker().check("On the third of May it rose from 30 to 36 euros.", [fees])
    assert dated.verdict is not Verdict.CONTRADICTED
    cash = "Cash in the second quarter of fiscal 2024 fell from 1,874 to 1,093 million."
    in_quarter = checker().check(cash, ["Cash | 1,093 | 1,874 |\nJuly 2023 | January 2023"])
    assert in_quarter.verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("The crate weighs 1.5 thousand kilograms.", True),
        ("The crate weighs 1,500 kg.", True),
        ("The crate weighs 1,600 kg.", False),
        ("The belt is 1.2 km long.", True),
        ("The trip takes 1.5 hours.", True),
        ("The trip takes 2 hours.", False),
    ],
)
def test_a_figure_is_found_in_another_unit_of_measure(claim: str, is_said: bool) -> None:
    source = "The crate weighs 1.5 tonnes. The belt is 1,200 m long. The trip takes 90 minutes."
    checked = checker().check(claim, [source])
    assert checked.verdict is (Verdict.SUPPORTED if is_said else Verdict.NOT_IN_SOURCES)
