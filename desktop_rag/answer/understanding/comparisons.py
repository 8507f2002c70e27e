"""Questions that compare several named files. Pure; any thread."""

import re

from desktop_rag.answer.writing.answer_request import AnswerRequest

_COMPARES = re.compile(
    r"(?i)\b(?:compar(?:e[rsz]?|ed|ing|ison|ons|a|ar|e-me|aci[oó]n|a[cç][aã]o|aison)|differ(?:s|ences?)?"
    r"|vergleich(?:e|en|t)?|unterschiede?n?|unterscheide[nt]|différen(?:ces?|t)|diffèrent"
    r"|diferenci?as?|difer(?:e|en|em)|differenz[ae]|differiscono|confronta(?:re)?|verschill?(?:en)?"
    r"|vergelijk(?:en|ing)?|porówna(?:j|ć|nie)|różni(?:ą|ce|ca)?|diferenças?)\b"
)


def compares(request: AnswerRequest) -> bool:
    """True when the question compares at least two files that it names or that were chosen."""
    several = request.named is not None and len(request.named.document_ids) > 1
    return several and bool(_COMPARES.search(request.question))
