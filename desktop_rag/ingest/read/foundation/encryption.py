"""Encrypted files: the refusal without the right password, and Office files opened with it.

PDF files are opened by their own reader. Runs in the parser process.
"""

import io
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop_rag.core.domain import NEEDS_PASSWORD
from desktop_rag.ingest.read.foundation.ole import MAGIC
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

if TYPE_CHECKING:
    from msoffcrypto.format.doc97 import Doc97File
    from msoffcrypto.format.ooxml import OOXMLFile
    from msoffcrypto.format.ppt97 import Ppt97File
    from msoffcrypto.format.xls97 import Xls97File

    OfficeFile = OOXMLFile | Doc97File | Xls97File | Ppt97File

log = logging.getLogger(__name__)


def encrypted() -> Unreadable:
    """The refusal of a file that a password would open, or another one than those tried."""
    return Unreadable("encrypted", NEEDS_PASSWORD)


def encrypted_for_good() -> Unreadable:
    """The refusal of a file that stays closed even with its password."""
    hint = "Save a copy without a password."
    return Unreadable("encrypted", "Encrypted in a way that cannot be opened here", hint)


def decrypted(source: SourceFile) -> SourceFile:
    """The contents of an encrypted Office file; any other file as it is.

    Raises Unreadable when no password is right, or the encryption is unknown. Without passwords
    nothing is tried, and the reader of the file refuses it.
    """
    if not source.passwords or not source.data.startswith(MAGIC):
        return source
    # The library logs what it reads from the file.
    logging.getLogger("msoffcrypto").setLevel(logging.CRITICAL)
    import msoffcrypto
    from msoffcrypto.exceptions import InvalidKeyError

    for password in source.passwords:
        try:
            office = msoffcrypto.OfficeFile(io.BytesIO(source.data))
            if not office.is_encrypted():
                return source
            data = _opened(office, password)
        except InvalidKeyError:
            continue
        except MemoryError:
            raise
        except Exception as exc:  # it lets any error of a damaged file through
            log.info("an Office file can't be decrypted: %s", type(exc).__name__)
            raise encrypted_for_good() from exc
        return replace(source, data=data, is_unlocked=True)
    raise encrypted()


def _opened(office: "OfficeFile", password: str) -> bytes:
    from msoffcrypto.format.ooxml import OOXMLFile

    contents = io.BytesIO()
    if isinstance(office, OOXMLFile):
        office.load_key(password=password, verify_password=True)
    else:
        office.load_key(password=password)  # of the old formats, which always verify
    office.decrypt(contents)
    return contents.getvalue()
