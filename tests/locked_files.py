"""Encrypted files for tests: PDF by pypdf, Office files by the library that opens them."""

import io
import random

from msoffcrypto.format.ooxml import OOXMLFile

from tests.unit.ingest.read.pdf_samples import changed, make_pdf
from tests.unit.ingest.read.samples import make_docx, paragraph

PASSWORD = "canary-sésame-7f31"


def locked_pdf(text: str, password: str = PASSWORD, algorithm: str = "AES-256") -> bytes:
    """A PDF of one page, which opens with the password only."""
    return changed(
        make_pdf([text]), lambda writer: writer.encrypt(password, "owner", algorithm=algorithm)
    )


def locked_docx(text: str, password: str = PASSWORD) -> bytes:
    """A Word file in the container that Office writes for a password."""
    # The library writes files below 4 KB in a way that it can't read.
    filling = random.Random(1).randbytes(4096).hex()
    plain = io.BytesIO(make_docx(f"{paragraph(text)}<!-- {filling} -->"))
    locked = io.BytesIO()
    OOXMLFile(plain).encrypt(password, locked)
    return locked.getvalue()
