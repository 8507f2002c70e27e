from contextlib import suppress

import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import parse

STYLES = (
    r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 heading 1;}{\s15 Title;}{\*\cs10 Default;}"
    r"{\s20\outlinelevel1 \sbasedon0 Own;}}"
)


def read(body: str, head: str = "") -> ParsedDocument:
    return parse(
        "a.rtf", rf"{{\rtf1\ansi\ansicpg1252\deff0{STYLES}{head}{body}}}".encode("latin-1")
    )


def test_paragraphs_and_special_characters() -> None:
    body = r"one\par two\line three\tab four\emdash five\~six\_seven\-eight \{\}\\\par"
    assert read(body).text == "one\n\ntwo\nthree\tfour—five six-seveneight {}\\"


def test_headings_come_from_styles_and_outline_levels() -> None:
    body = (
        r"\pard\s15 Plan\par\pard\s1 Fees\par\pard\s20 Members\par"
        r"\pard\outlinelevel2 Deep\par\pard text\par"
    )
    document = read(body)
    assert [(h.level, h.title) for h in document.headings] == [
        (1, "Plan"),
        (2, "Fees"),
        (3, "Members"),
        (4, "Deep"),
    ]
    assert document.title == "Plan"


@pytest.mark.parametrize(
    ("head", "body", "text"),
    [
        ("", r"caf\'e9 \u8364?", "café €"),
        ("", r"\uc2\u26085\'93\'fa\u26412xx!", "日本!"),
        ("", r"\u-10179?\u-8704?", "😀"),
        (r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}", r"{\f1\'cf\'f0}\'e9", "Прé"),
        (r"{\fonttbl{\f0\fcharset128 A;}}", r"\'93\'fa\'83A", "日ア"),
        (r"\ansicpg1251", r"\'cf\'f0", "Пр"),
        (r"\ansicpg99999", r"\'e9", "é"),
    ],
)
def test_letters_of_all_code_pages(head: str, body: str, text: str) -> None:
    assert read(body, head).text == text


def test_rows_of_a_table_are_lines() -> None:
    row = r"\trowd\pard\intbl %s\cell %s\cell\row "
    rows = row % ("Name", "Fee") + row % ("Ann", r"1\par 2")
    body = r"before\par" + rows + r"\pard after\par"
    assert read(body).text == "before\n\nName | Fee\nAnn | 1 2\n\nafter"


def test_a_merged_cell_says_its_text_wherever_it_reaches() -> None:
    row = r"\trowd%s\cellx1%s\cellx2%s\cellx3\pard\intbl %s\cell %s\cell %s\cell\row "
    rows = row % (r"\clvmgf", r"\clmgf", r"\clmrg", "Mill", "2031", "")
    rows += row % (r"\clvmrg", "", "", "", "Rye", "Oats") + row % ("", "", "", "Vik", "8", "9")
    document = read(rows)
    assert document.text == "Mill | 2031 | 2031\nMill | Rye | Oats\nVik | 8 | 9"
    assert [header.text for header in document.table_headers] == ["Mill | 2031 Rye | 2031 Oats"]


def test_list_items_have_the_label_that_stands_with_them() -> None:
    body = (
        r"{\listtext\pard 1.\tab}\pard\ls1 one\par"
        r"{\listtext\'b7\tab}\pard\ls2\ilvl1 dot\par\pard end"
    )
    assert read(body).text == "1. one\n  - dot\n\nend"


def test_results_of_fields_are_kept_and_their_codes_dropped() -> None:
    body = r'see {\field{\*\fldinst{HYPERLINK "http://x"}}{\fldrslt{the page}}} here\par'
    assert read(body).text == "see the page (http://x) here"


def test_notes_comments_and_boxes_follow_their_paragraph() -> None:
    body = (
        r"text{\chftn{\footnote\chftn  a note}} goes on"
        r"{\*\atnauthor Ann}{\*\annotation why?}"
        r"{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt in a box\par}}{\shprslt OLD}}\par next\par"
    )
    assert read(body).text == (
        "text[1] goes on\n\n[1] a note\n[Comment by Ann: why?]\n\nin a box\n\nnext"
    )


def test_headers_come_last_under_no_heading() -> None:
    document = read(r"{\header Letterhead\par}{\footer 7}\pard\s1 A\par\pard text\par")
    assert document.text == "A\n\ntext\n\nLetterhead"
    assert document.marks[-1].anchor == Anchor()


def test_hidden_text_pictures_and_what_only_programs_read_are_left_out() -> None:
    body = (
        r"a{\v HIDDEN}{\deleted GONE}b{\pict\pngblip 89504e47}{\*\unknown X}{\xe{\v entry}}"
        r"{\object{\*\objdata 0105}{\result c}}\bin3 }}}d\par"
    )
    assert read(body).text == "abcd"


def test_the_title_of_the_properties_is_the_better_of_its_two_versions() -> None:
    head = r"{\info{\upr{\title ??}{\*\ud{\title \u26085?\u26412?}}}{\author Ann}}"
    document = read("text", head)
    assert (document.title, document.text) == ("日本", "text")


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "{" * 100_000,
        "}" * 200_000 + "text",
        r"\f0" * 100_000,
        r"{\field{\*\fldinst{HYPERLINK " * 20_000,
        r"{\fonttbl" + r"\f0" * 50_000,
        r"\bin99999999999" * 50_000,
        r"{\pict " + "0" * 3_000_000 + "}",
    ],
)
def test_hostile_files_are_read_or_refused(body: str) -> None:
    with suppress(Unreadable):
        read(body)


def test_a_file_cut_anywhere_gives_what_is_there() -> None:
    whole = rf"{{\rtf1\ansi{STYLES}\pard\s1 Fees\par one \u8364? two\par}}".encode()
    for end in range(whole.index(b"two"), len(whole)):
        assert parse("a.rtf", whole[:end]).text.startswith("Fees\n\none € t"[:9])


def test_the_description_of_a_picture_is_read() -> None:
    said = r"{\sp{\sn wzDescription}{\sv Plan of the hall}}{\sp{\sn wzName}{\sv Picture 3}}"
    picture = rf"{{\*\shppict{{\pict{{\*\picprop{said}}}\pngblip 89504e47}}}}"
    assert read(rf"before {picture}\par after\par").text == (
        "before\n\n[Picture: Plan of the hall]\n\nafter"
    )


def test_ticks_and_choices_of_forms_are_written() -> None:
    def form(*words: str) -> str:
        said = rf"{{\*\formfield{{{''.join(words)}}}}}"
        return rf"{{\field{{\*\fldinst{{ FORM {said}}}}}{{\fldrslt }}}}"

    paid, late = form(r"\fftype1\ffres1"), form(r"\fftype1\ffres25\ffdefres0")
    region = form(r"\fftype2\ffres1{\*\ffl North}{\*\ffl South}")
    document = read(rf"Paid {paid} late {late}\par Region {region}\par")
    assert document.text == "Paid ☒ late ☐\n\nRegion South"


def test_a_paragraph_in_a_cell_keeps_its_number() -> None:
    content = rb"{\rtf1\trowd\cellx1\cellx2\intbl{\listtext 2.\tab}Pump\cell 20\cell\row\pard\par}"
    assert parse("a.rtf", content).text == "2. Pump | 20"
