"""What a backup may say of places: scopes of questions, and places in documents. Pure."""

from desktop_rag.backup.value_rules import fields, flag, list_of, one_of, text, whole
from desktop_rag.core.question_scope import ScopeKind

LONGEST_PATH = 4_096
_LONGEST_NAME = 1_000
_LONGEST_TITLE = 10_000

_SCOPE_ITEM = fields(
    {
        "kind": one_of(ScopeKind),
        "key": text(LONGEST_PATH),
        "name": text(LONGEST_PATH),
        "path": text(LONGEST_PATH),
    }
)
SCOPE = fields({"items": list_of(_SCOPE_ITEM), "is_without_documents": flag}, ())
ANCHOR = fields(
    {
        "page": whole(),
        "page_label": text(_LONGEST_NAME),
        "slide": whole(),
        "sheet": text(_LONGEST_TITLE),
        "cells": text(_LONGEST_NAME),
        "heading": text(),
        "line": whole(),
    },
    (),
)
