from tests.unit.ingest.read.samples import parse

VTT = """WEBVTT
Kind: captions

NOTE a remark

STYLE
::cue { color: red }

1
00:02.500 --> 00:04.000 align:left
<v.loud Ann Lee>The pier &amp; its <b>cranes</b></v>

00:05.000 --> 00:09.000
<v Ann Lee>are old.</v>

00:10.000 --> 00:12.000
<v Bob>How <c.yellow>old</c>?

01:00:11.000 --> 01:00:12.000
Later.
"""


def test_what_is_said_stands_with_its_speaker_and_time() -> None:
    document = parse("a.vtt", VTT.encode())
    assert document.format == "subtitles"
    assert document.text == (
        "[0:02] Ann Lee: The pier & its cranes are old.\n\n[0:10] Bob: How old?\n\n[1:00:11] Later."
    )
    assert [mark.anchor.line for mark in document.marks] == [11, 17, 20]


def test_srt() -> None:
    text = "1\r\n00:00:01,000 --> 00:00:04,000\r\n<i>Hello</i>\r\nthere\r\n\r\n"
    text += "2\r\n00:01:05,000 --> 00:01:09,000\r\n{\\an8}42 tons\r\n"
    assert parse("a.srt", text.encode()).text == "[0:01] Hello there\n\n[1:05] 42 tons"


def test_captions_that_roll_are_read_once() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\none two\n\n00:02.000 --> 00:03.000\none two\nthree\n"
    assert parse("a.vtt", text.encode()).text == "[0:01] one two three"


def test_what_has_no_times_is_text() -> None:
    assert parse("a.srt", b"no times at all").text == "no times at all"
