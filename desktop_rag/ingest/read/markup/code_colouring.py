"""The colours of source code, by the rules of its language.

Runs in the parser process: the rules are regular expressions, and some take very long for some
texts; then only this process is ended.
"""

from collections.abc import Iterator

from desktop_rag.core.parsed import CodeColour, ColourSpan
from desktop_rag.ingest.read.foundation.source_file import MAX_COLOUR_SPANS

# The kinds of the library by their names, which needs no import of it.
_COLOURS: tuple[tuple[str, CodeColour], ...] = (
    ("Comment", "comment"), ("Keyword", "keyword"), ("Operator.Word", "keyword"),
    ("Literal.String", "string"), ("Literal", "number"), ("Name.Function", "name"),
    ("Name.Class", "name"), ("Name.Tag", "name"), ("Name.Attribute", "builtin"),
    ("Name.Builtin", "builtin"), ("Name.Decorator", "builtin"),
)  # fmt: skip


def colour_spans(name: str, text: str) -> Iterator[ColourSpan]:
    """The coloured spans of a file with this name, in order; none for an unknown language."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer_class = find_lexer_class_for_filename(name)
    if lexer_class is None:
        return
    lexer = lexer_class(stripnl=False, ensurenl=False)
    count = 0
    for start, kind, word in lexer.get_tokens_unprocessed(text):
        colour = _colour(str(kind).removeprefix("Token."))
        if colour and word.strip():
            yield start, start + len(word), colour
            count += 1
            if count >= MAX_COLOUR_SPANS:
                return


def _colour(kind: str) -> CodeColour | None:
    return next(
        (colour for name, colour in _COLOURS if kind == name or kind.startswith(f"{name}.")), None
    )
