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
    found = header_row(rows(table))
    assert (found[0] if found else None) == index


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("Name|Size|Size/Ann|10|20", "Name|Size|Size"),
        ("Mill|2031|2031/Mill|Rye|Oats/Ostby|7|9", "Mill|2031 Rye|2031 Oats"),
        (
            "|2031|2031|2032|2032/Item|Q1|Q2|Q1|Q2/Fees|1|2|3|4",
            "Item|2031 Q1|2031 Q2|2032 Q1|2032 Q2",
        ),
        ("|2031|2031|Sum/|Q1|Q2|/Fees|1|2|3", "|2031 Q1|2031 Q2|Sum"),
    ],
)
def test_a_cell_over_several_columns_names_each_of_them(table: str, names: str) -> None:
    found = header_row(rows(table))
    assert found
    assert "|".join(found[1]) == names


@pytest.mark.parametrize("table", ["Ann|10|10/Bob|20|30/Cid|5|6", "Ann|x|x/Bob|Rome|Oslo"])
def test_equal_cells_alone_make_no_header(table: str) -> None:
    assert header_row(rows(table)) is None


def test_the_header_over_long_cells_is_found() -> None:
    assert header_row([["a", "b"], ["1 " * 500_000, "- " * 500_000]]) == (0, ["a", "b"])
