from tests.unit.ingest.read.samples import parse

ARCHIVE = b"""From: <Saved by a browser>
Snapshot-Content-Location: https://pier.example/
Subject: The pier
Date: Tue, 14 Jan 2025 09:00:00 -0000
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="B"

--B
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://pier.example/

<html><head><meta charset=3D"utf-8"><title>Br=C3=BCcke</title></head><body><h1>Br=
=C3=BCcke</h1><p>See <a href=3D"https://pier.example/m">the manual</a>.</p></body></html>
--B
Content-Type: text/html
Content-Location: cid:frame

<p>Inside a frame.</p>
--B
Content-Type: text/css

body { color: red }
--B
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--B--
"""


def test_a_saved_page_is_read_without_its_pictures_and_styles() -> None:
    for name in ("a.mhtml", "a.mht"):
        document = parse(name, ARCHIVE)
        assert (document.format, document.title) == ("web archive", "Brücke")
        assert document.text == (
            "# Brücke\n\nSee the manual (https://pier.example/m).\n\nInside a frame."
        )
        assert not document.parts
        assert not document.warnings


def test_one_page_alone_is_an_archive_too() -> None:
    alone = b"Subject: x\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n<p>words"
    assert parse("a.mht", alone).text == "words"
