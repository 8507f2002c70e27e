"""What a claim says of one or several rows of a table, in the words of its cells."""

import pytest

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Basis, Verdict

INVOICES = """
Invoice | Customer | Date | Net EUR | VAT EUR | Paid
INV-2025-030 | Solveig Robotics AS | 2025-08-10 | 5532.76 | 0 | no
INV-2025-031 | Meridian Foods AG | 2025-08-13 | 62000 | 0 | yes
INV-2025-032 | Kranich Verlag | 2025-09-16 | 4932.31 | 937.14 | yes
INV-2025-036 | Stadtwerke Lüneburg | 2025-10-01 | 3698.61 | 702.74 | no
"""
STAFF = """
| Name | Abteilung | Eintritt | Stunden | Homeoffice |
|---|---|---|---|---|
| Jana Brandt | Einkauf | 01.03.2019 | 32 | ja |
| Levent Aydin | Vertrieb | 15.09.2021 | 40 | nein |
| Karin Holst | Einkauf | 01.06.2023 | 20 | ja |
"""
DEVICES = """
| Device | Room | Serial | Bought | Price |
|---|---|---|---|---|
| Laser cutter | Workshop | LC-88-104 | 2022-03-14 | 18,400 |
| Label printer | Dispatch | LP-20-007 | 2023-11-02 | 640 |
| Projector | Room 4.07 | PJ-11-318 | 2021-06-30 | 1,150 |
"""
OPEN_INVOICES = """Result of a query over 40 rows, Invoices!A2:F41:
Invoice | Customer | Date | Net EUR
R-06 | Halden AG | 2025-02-19 | 17940.35
R-12 | Tern Ltd | 2025-04-10 | 62000
R-18 | Halden AG | 2025-05-01 | 11527.97
"""
PLAN = """
Task | Owner | Start | Due | Status | Budget (EUR) | Approved
Server move | Priya Raman | 2026-01-12 | 2026-02-27 | in progress | 12,500 | yes
New website | Tomas Lindqvist | 2026-02-02 | 2026-05-29 | planned | 28,000 | no
Phone system | Priya Raman | 2026-03-02 | 2026-04-10 | planned | 9,900 |
"""
ROUNDED = """
| Device | Room | Bought | Price |
|---|---|---|---|
| Laser cutter | Workshop | 2022-03-14 (Mar-22) | 18 € (18.4) |
| Label printer | Dispatch | 2023-11-02 (Nov-23) | 64 € (64.2) |
"""
RIGHT = [
    (ROUNDED, "The price of the laser cutter is 18 €."),
    (ROUNDED, "The price of the laser cutter is 18.40 €."),
    (ROUNDED, "The laser cutter was bought on 14 March 2022."),
    (OPEN_INVOICES, "R-06 is the oldest of them."),
    (OPEN_INVOICES, "The largest is R-12 of Tern Ltd with EUR 62,000."),
    (OPEN_INVOICES, "Die kleinste ist R-18 mit 11.527,97 Euro."),
    (PLAN, "**Server move** is owned by Priya Raman and is due on 27 February 2026."),
    (PLAN, "The new website starts on 2 February 2026 and is due on 29 May 2026."),
    (PLAN, "The budget of the phone system has not been approved."),
    (INVOICES, "INV-2025-031 of Meridian Foods AG, EUR 62,000, is dated 13 August 2025."),
    (INVOICES, "INV-2025-032 over EUR 4,932.31 is dated 2025-09-16."),
    (INVOICES, "INV-2025-030 is unpaid."),
    (INVOICES, "INV-2025-036 (Stadtwerke Lüneburg) has not been paid yet."),
    (INVOICES, "The invoice to Kranich Verlag has been paid."),
    (INVOICES, "INV-2025-030 is from 10 August 2025 and INV-2025-036 from 1 October 2025."),
    (INVOICES, "INV-2025-030 and INV-2025-036 are unpaid."),
    (INVOICES, "The customer of INV-2025-032 is Kranich Verlag."),
    (INVOICES, "INV-2025-036, Stadtwerke Lüneburg: EUR 3,698.61 net and EUR 702.74 VAT."),
    (INVOICES, "Solveig Robotics AS was invoiced EUR 5,532.76 on 10 August 2025."),
    (STAFF, "Jana Brandt arbeitet im Einkauf und hat 32 Stunden."),
    (STAFF, "Levent Aydin arbeitet seit dem 15. September 2021 im Vertrieb."),
    (STAFF, "Karin Holst: Einkauf, Eintritt am 1. Juni 2023, 20 Stunden."),
    (STAFF, "Karin Holst (Einkauf) hat Homeoffice."),
    (STAFF, "Levent Aydin hat kein Homeoffice."),
    (DEVICES, "The laser cutter in the workshop has the serial LC-88-104."),
    (DEVICES, "The projector is in room 4.07."),
    (DEVICES, "The label printer was bought on 2 November 2023 for 640."),
]
WRONG = [
    (ROUNDED, "The price of the laser cutter is 64 €.", "18.4 €"),
    (OPEN_INVOICES, "R-12 is the oldest of them.", "R-06 (2025-02-19)"),
    (OPEN_INVOICES, "The largest is R-06 with EUR 17,940.35.", "R-12 (62000)"),
    (PLAN, "The server move is due on 27 March 2026.", "2026-02-27"),
    (PLAN, "Tomas Lindqvist owns the phone system.", "Priya Raman"),
    (PLAN, "The new website is still in progress.", "planned"),
    (PLAN, "Server move and New website are both approved.", "no"),
    (INVOICES, "INV-2025-031, Meridian Foods AG, is dated 14 August 2025.", "2025-08-13"),
    (INVOICES, "INV-2025-031 has the date 13 September 2025.", "2025-08-13"),
    (INVOICES, "INV-2025-031 is unpaid as well.", "yes"),
    (INVOICES, "INV-2025-030 has been paid.", "no"),
    (INVOICES, "INV-2025-030 and INV-2025-032 are unpaid.", "yes"),
    (INVOICES, "The customer of INV-2025-032 is Meridian Foods AG.", "Kranich Verlag"),
    (INVOICES, "INV-2025-036 is from 1 November 2025.", "2025-10-01"),
    (INVOICES, "INV-2025-030 is of 10 August and INV-2025-036 of 2 October.", "2025-10-01"),
    (INVOICES, "INV-2025-036, Stadtwerke Lüneburg: EUR 3,698.61 net and EUR 720.74 VAT.", "702.74"),
    (INVOICES, "Meridian Foods AG and Kranich Verlag were invoiced on 13 August.", "2025-09-16"),
    (INVOICES, "Solveig Robotics AS and Kranich Verlag have not paid.", "yes"),
    (STAFF, "Jana Brandt arbeitet im Vertrieb und hat 32 Stunden.", "Einkauf"),
    (STAFF, "Karin Holst hat 40 Stunden.", "20"),
    (STAFF, "Levent Aydin (Vertrieb) hat Homeoffice.", "nein"),
    (DEVICES, "The laser cutter in dispatch has the serial LC-88-104.", "Workshop"),
    (DEVICES, "The label printer was bought on 3 November 2023 for 640.", "2023-11-02"),
]  # fmt: skip
# What the rows alone don't say, or not for sure.
OPEN = [
    (OPEN_INVOICES, "The largest are R-12 and R-06."),
    (OPEN_INVOICES, "R-06 is one of the largest invoices."),
    (OPEN_INVOICES, "R-18 gehört zu den größten."),
    (OPEN_INVOICES, "R-06 ist eine der größten."),
    (PLAN, "The new website starts on 29 May 2026 and is due on 2 February 2026."),
    (PLAN, "The server move is due before 27 February 2026."),
    (PLAN, "Server move (EUR 12,500) and Phone system (EUR 9,900) are planned."),
    (INVOICES, "INV-2025-031 is the largest invoice at EUR 62,000."),
    (INVOICES, "INV-2025-031 over EUR 62,000 was paid late."),
    (INVOICES, "INV-2025-030 was cancelled on 10 August 2025."),
    (INVOICES, "Except for INV-2025-031, EUR 62,000, all are unpaid."),
    (STAFF, "Jana Brandt leitet den Einkauf mit 32 Stunden."),
    (STAFF, "Karin Holst arbeitet mit Levent Aydin im Vertrieb."),
    (DEVICES, "The laser cutter cost more than the projector (1,150)."),
    (DEVICES, "The projector was repaired on 30 June 2021."),
]


@pytest.fixture(scope="module")
def checker() -> ClaimChecker:
    return ClaimChecker()


@pytest.mark.parametrize(("source", "claim"), RIGHT)
def test_what_a_row_says_is_supported(checker: ClaimChecker, source: str, claim: str) -> None:
    checked = checker.check(claim, [source])
    assert (checked.verdict, checked.basis) == (Verdict.SUPPORTED, Basis.TABLE)
    assert checked.evidence
    assert "|" in source[checked.evidence.start : checked.evidence.end]


@pytest.mark.parametrize(("source", "claim", "written"), WRONG)
def test_what_a_row_says_otherwise_is_contradicted(
    checker: ClaimChecker, source: str, claim: str, written: str
) -> None:
    checked = checker.check(claim, [source])
    assert checked.verdict is Verdict.CONTRADICTED
    assert f"The table has {written} there" in checked.explanation


@pytest.mark.parametrize(("source", "claim"), OPEN)
def test_what_rows_do_not_say_is_not_read_from_them(
    checker: ClaimChecker, source: str, claim: str
) -> None:
    assert checker.check(claim, [source]).basis is not Basis.TABLE
