import base64
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.parsed import EncodingHints
from desktop_rag.ingest.read.foundation.encoding import (
    NotTextError,
    certain_encoding,
    decode,
    looks_like_text,
)

FRENCH = "Le café est déjà fermé, où êtes-vous allés ? Élève, garçon, maïs.\n"
GREEK = "Αυτό είναι ένα ελληνικό κείμενο με λέξεις.\n"
RUSSIAN = "Привет, мир. Это проверка кодировки текста на русском языке.\n"
JAPANESE = "これは日本語の文章です。文字コードを確認します。\n"
CHINESE = "这是一个中文文本，用于测试编码。\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "utf-8-sig"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        ("Nhà máy ở Hải Phòng xay được bốn nghìn tấn lúa mỗi năm, đều đặn.\n", "utf-16-le"),
        ("ओस्तबी की चक्की हर साल चार हज़ार टन राई पीसती है।\n", "utf-16-le"),
        ("ოსტბის წისქვილი ყოველწლიურად ოთხი ათას ტონას ფქვავს.\n", "utf-16-be"),
        ("የኦስትቢ ወፍጮ በየዓመቱ አራት ሺህ ቶን ይፈጫል።\n", "utf-16-be"),
        (FRENCH, "utf-32"),
        (FRENCH, "cp1252"),
        ("Größe und Übermut: Die Straße ist naß.\n", "cp1252"),
        ("El niño comió piñas y después se durmió.\n", "cp1252"),
        ("Zażółć gęślą jaźń, proszę bardzo. Wszystkiego najlepszego!\n", "cp1250"),
        (GREEK, "cp1253"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"),
        ("這是一個繁體中文的測試文件。\n", "big5"),
        ("이것은 한국어 텍스트입니다. 인코딩 테스트.\n", "cp949"),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    assert decode((text * 3).encode(encoding)) == (text * 3, "")


@pytest.mark.parametrize("line", ["札幌倉庫の賃貸借契約", "熊本支店の検収手続"])
def test_a_line_of_characters_that_are_not_frequent_is_found_among_english(line: str) -> None:
    text = f"Order sheet, see below\nowner: Nora Field\n{line}\nstatus: closed\n"
    assert decode(text.encode("cp932")) == (text, "")


def test_a_declared_encoding_is_used_if_it_fits() -> None:
    content = "Zwykły tekst: łóżko".encode("iso8859_2")
    assert decode(content, "iso-8859-2")[0] == "Zwykły tekst: łóżko"
    assert decode("déjà vu".encode(), "iso-8859-2")[0] == "déjà vu"
    assert decode("déjà vu".encode("cp1252"), "no-such-charset")[0] == "déjà vu"


def test_some_damage_in_utf8_is_shown_and_said() -> None:
    text, warning = decode("héllo wörld, ünd sö wéiter ".encode() + b"\xff end")
    assert text == "héllo wörld, ünd sö wéiter � end"
    assert "1 characters are damaged" in warning


def test_western_lines_in_a_utf8_file_are_read_as_what_they_are() -> None:
    text, warning = decode("größer\n".encode() * 3 + "größer\n".encode("cp1252"))
    assert text == "größer\n" * 4
    assert "mixes encodings" in warning


def test_line_ends_are_unified() -> None:
    assert decode(b"one\r\ntwo\rthree\n\r\nfour")[0] == "one\ntwo\nthree\n\nfour"


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)) * 8,
        b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff" * 50,
        # EBCDIC: no control characters, but no spaces either where others have them.
        "SOME RECORDS OF A MAINFRAME, 12345 ".encode("cp500").replace(b"\x15", b"") * 20,
    ],
)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(NotTextError):
        decode(content)


def test_a_few_stray_zeros_make_no_binary() -> None:
    assert looks_like_text(b"# Title\n\nbefore\0\0after\n")
    assert not looks_like_text(b"\0\1\2\3\4\5\6\7" * 9)


# Before Unicode 3 a cedilla stood for the comma below.
CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")


def old_files(*, left_out: bool) -> Iterator[tuple[str, str]]:
    """Texts of a line to 2 KB, each with the encoding of its file; those of languages that the
    app knows, or of those that it has no alphabet for.
    """
    path = Path(__file__).with_name("old_texts.toml")
    for written in tomllib.loads(path.read_text(encoding="utf-8")).values():
        if written.get("left_out", False) is not left_out:
            continue
        lines = written["lines"]
        shapes = (lines[0], lines[len(lines) // 2], lines[-1], "\n".join(lines[1:3]))
        for encoding in written["encodings"].split():
            yield from ((text, encoding) for text in (*shapes, "\n".join(lines * 3)[:2_000]))


def read_back(left_out: bool) -> tuple[int, list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """How many files there are, those read wrong, and those of them of which it isn't said."""
    wrong: list[tuple[str, str, str]] = []
    silent: list[tuple[str, str, str]] = []
    count = 0
    for written, encoding in old_files(left_out=left_out):
        text = written
        if encoding != "iso8859_16":
            text = text.translate(CEDILLAS)
        content = text.encode(encoding, "ignore")
        if content.isascii() and encoding != "iso2022_jp":
            continue
        count += 1
        found, warning = decode(content)
        if found.translate(CEDILLAS) != content.decode(encoding).translate(CEDILLAS):
            wrong.append((encoding, text, found))
            silent += [] if warning else [(encoding, text, found)]
    return count, wrong, silent


@pytest.mark.slow
def test_old_encodings_are_found_and_what_is_uncertain_is_said() -> None:
    count, wrong, silent = read_back(left_out=False)
    assert count >= 500
    assert len(wrong) <= 0.02 * count, wrong
    assert silent == []


@pytest.mark.slow
def test_a_language_without_an_alphabet_is_read_or_said_to_be_uncertain() -> None:
    count, wrong, silent = read_back(left_out=True)
    assert len(wrong) <= 0.1 * count, wrong
    assert silent == []


def test_a_picture_among_letters_is_no_text() -> None:
    picture = base64.b64encode(bytes(n * n * 7 % 251 for n in range(3_000))).decode()
    lines = "\n".join(picture[at : at + 76] for at in range(0, len(picture), 76))
    text = f"Before.\n![](data:image/png;base64,{picture})\n{lines}\nAfter."
    found, _ = decode(text.encode())
    assert found.startswith("Before.\n![](data:image/png;base64,[data])\n[data]")
    assert found.endswith("\nAfter.")
    assert found.count("\n") == text.count("\n")
    gene = "GATTACA" * 60
    assert decode(gene.encode())[0] == gene


DOUBTFUL = "Umowa najmu magazynu wygasa w październiku."


@pytest.mark.parametrize("encoding", ["cp1250", "cp852", "iso8859_2"])
def test_neighbours_settle_the_encoding(encoding: str) -> None:
    content = DOUBTFUL.encode(encoding)
    assert decode(content)[1], "by itself it is uncertain"
    assert decode(content, "", EncodingHints(neighbours=("koi8_r", encoding))) == (DOUBTFUL, "")


def test_neighbours_settle_nothing_that_is_certain() -> None:
    hints = EncodingHints(neighbours=("cp1250", "gb18030"))
    assert decode(RUSSIAN.encode("cp1251"), "", hints) == (RUSSIAN, "")


def test_a_few_letters_in_pairs_are_read_as_its_neighbours() -> None:
    content = "회의록".encode("cp949")
    assert decode(content, "", EncodingHints(neighbours=("cp949",))) == ("회의록", "")


def test_the_language_of_the_computer_tips_the_balance_and_that_is_said() -> None:
    content = "Rong hilineb Põlvas.".encode("cp1257")
    text, warning = decode(content, "", EncodingHints(language="et"))
    assert (text, bool(warning)) == ("Rong hilineb Põlvas.", True)


def test_what_is_chosen_counts_but_for_unicode_and_what_a_file_says_itself() -> None:
    chosen = EncodingHints(chosen="cp852")
    assert decode(DOUBTFUL.encode("cp852"), "", chosen) == (DOUBTFUL, "")
    assert decode(DOUBTFUL.encode(), "", chosen) == (DOUBTFUL, "")
    assert decode(DOUBTFUL.encode("utf-16"), "", chosen) == (DOUBTFUL, "")
    assert decode(DOUBTFUL.encode("cp1250"), "cp1250", chosen) == (DOUBTFUL, "")
    wide = EncodingHints(chosen="utf-16-be")
    assert decode("会議".encode("utf-16-be"), "", wide) == ("会議", "")
    text, warning = decode(b"caf\x81", "", EncodingHints(chosen="cp1252"))
    assert (text, "do not fit cp1252" in warning) == ("caf\N{REPLACEMENT CHARACTER}", True)


def test_only_certain_encodings_from_before_unicode_are_told_to_neighbours() -> None:
    assert certain_encoding(RUSSIAN.encode("koi8_r")) == "koi8_r"
    assert certain_encoding(CHINESE.encode("gb18030")) == "gb18030"
    for content in (RUSSIAN.encode(), b"plain", DOUBTFUL.encode("cp852"), b"MZ\x90\0\3\0" * 99):
        assert certain_encoding(content) == ""
