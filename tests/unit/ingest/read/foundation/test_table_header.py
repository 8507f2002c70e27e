import pytest

from desktop_rag.ingest.read.foundation.blocks import header_row


def rows(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.split("/")]


@pytest.mark.parametrize(
    ("table", "index"),
    [
        ("Name|Fee/Ann|10/Bob|20", 0),
        ("Name|Joined/Ann|2024-05-06/Bob|6 May 2024", 0),
        ("|2023|2024/Fees|10|20/Rent|30|40", 0),
        ("Fees of members/Name|Fee/Ann|10", 1),
        ("|Q1|Q2/Fees|10|20", 0),
        ("Code|Item/A12|chair/B7|table", 0),
        ("Name|City/Ann|Rome/Bob|Oslo/Cid|Rome/Dan|Oslo", 0),
        ("Name|Paid/Ann|yes/Bob|no", 0),
        # Not sure, or plainly none.
        ("Ann|Rome/Bob|Oslo", None),
        ("Ann|10/Bob|20", None),
        ("2023|2024/2021|2022", None),
        ("Name|Name/Ann|10", None),
        ("Name|Fee", None),
        ("Name/Ann/Bob", None),
        ("Fee|Fee per month and person, as the meeting of members has decided in 2024/1|2", None),
        ("", None),
    ],
)
def test_a_header_is_found_only_where_it_is_sure(table: str, index: int | None) -> None:
    assert header_row(rows(table)) == index


def test_the_header_over_long_cells_is_found() -> None:
    assert header_row([["a", "b"], ["1 " * 500_000, "- " * 500_000]]) == 0
