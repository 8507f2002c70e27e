import pytest

from desktop_rag.ingest.read.foundation.encoding import NotTextError, decode, looks_like_text

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
