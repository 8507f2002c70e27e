"""What the name of a file promises: the formats by suffix, and the names that are text.

Imports no format library, so the parent asks it too; pure.
"""

import fnmatch
import re
from functools import cache

PDF = "PDF"
WORD = "Word"
SPREADSHEET = "spreadsheet"
SLIDES = "slides"
OPEN_TEXT = "OpenDocument text"
OPEN_SLIDES = "OpenDocument slides"
RICH_TEXT = "Rich Text"
OLD_WORD = "Word 97-2003"
OLD_SLIDES = "PowerPoint 97-2003"
EPUB = "EPUB"
MAIL = "e-mail"
MAILBOX = "mailbox"
OUTLOOK = "Outlook message"
NOTEBOOK = "notebook"
PICTURE = "picture"
MARKDOWN = "Markdown"
HTML = "HTML"
WEB_PAGE = "web page"
CSV = "CSV"
XML = "XML"
JSON = "JSON"
RESTRUCTURED_TEXT = "reStructuredText"
ASCIIDOC = "AsciiDoc"
ORG = "Org"
LATEX = "LaTeX"
TEXT = "text"
# Text with headings that are marked by signs.
MARKUP = frozenset({RESTRUCTURED_TEXT, ASCIIDOC, ORG, LATEX})

_SUFFIXES = {
    PDF: ".pdf",
    WORD: ".docx .docm .dotx .dotm",
    SPREADSHEET: ".xlsx .xlsm .xlsb .xls .xlt .xltx .xltm .ods .ots",
    SLIDES: ".pptx .pptm .ppsx .ppsm .potx .potm",
    OPEN_TEXT: ".odt .ott",
    OPEN_SLIDES: ".odp .otp",
    RICH_TEXT: ".rtf",
    OLD_WORD: ".doc .dot",
    OLD_SLIDES: ".ppt .pps .pot",
    EPUB: ".epub",
    MAIL: ".eml",
    MAILBOX: ".mbox .mbx",
    OUTLOOK: ".msg",
    NOTEBOOK: ".ipynb",
    PICTURE: ".png .jpg .jpeg .tif .tiff .bmp .webp .gif",
    MARKDOWN: ".md .markdown .mdown .mkd",
    HTML: ".html .htm .xhtml .xht",
    CSV: ".csv .tsv .tab",
    XML: (
        ".xml .nxml .dita .ditamap .docbook .dbk .tei .fb2 .rss .atom .opml .xbrl .rdf .owl"
        " .xlf .xliff .tmx .ttml .fodt .fodp .fods"
    ),
    JSON: ".json .geojson .jsonld .webmanifest .har",
    RESTRUCTURED_TEXT: ".rst .rest",
    ASCIIDOC: ".adoc .asciidoc",
    ORG: ".org",
    LATEX: ".tex .ltx .latex",
    # What Pygments does not know; its own names come on top.
    TEXT: (
        ".txt .text .log .conf .srt .vtt .zsh .svelte .mdx .rmd .qmd .textile .wiki .mediawiki .nfo"
        " .ics .vcf .dockerfile .sty .bbl .ejs .mustache .sbt .csproj .sln .vcxproj"
    ),
}
_FORMAT_OF_SUFFIX = {
    suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
# Pygments has a lexer for them, yet most files of these names are pictures, sound, archives or
# programs, or belong to another format.
_NO_TEXT = {
    ".aes", ".art", ".arw", ".asc", ".cdf", ".eml", ".eps", ".max", ".mhtml", ".mo", ".mod",
    ".nc", ".orc", ".pack", ".pem", ".ps", ".run", ".sig", ".svg", ".tlb", ".usd",
}  # fmt: skip
# Keys are no documents, and passages may go to an endpoint.
_KEYS = {
    "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_rsa",
}  # fmt: skip
_SUFFIX_PATTERN = re.compile(r"\*(\.[^.*?\[\]]+)")
_TEXT_NAMES = (
    "readme license licence copying copyright notice notices changelog changes history news authors"
    " contributors maintainers credits thanks install todo faq version manifest codeowners"
    " jenkinsfile justfile brewfile containerfile podfile guardfile"
)
# A mail program's folders are mailboxes without a suffix.
_MAILBOX_NAMES = {
    "inbox", "sent", "drafts", "trash", "junk", "archive", "archives", "templates",
}  # fmt: skip


def format_of_name(name: str) -> str | None:
    """The format that the name of a file promises, None if it promises none that is read."""
    by_suffix = _FORMAT_OF_SUFFIX.get(_suffix(name))
    if by_suffix:
        return by_suffix
    if name.lower() in _MAILBOX_NAMES:
        return MAILBOX
    return TEXT if _is_text_name(name) else None


def supported_suffixes() -> frozenset[str]:
    """The suffixes, in lower case with their dot, of files worth reading."""
    return frozenset(_FORMAT_OF_SUFFIX) | _text_suffixes()


def is_readable_name(name: str) -> bool:
    """Whether a file of this name is worth reading: by its suffix, or as a whole (`Makefile`)."""
    return format_of_name(name) is not None


def is_supported(format_name: str) -> bool:
    """Whether there is a reader for what a file was found to be."""
    return format_name in _SUFFIXES


def _is_text_name(name: str) -> bool:
    suffix = _suffix(name)
    if suffix in _text_suffixes() or name.lower() in _text_names():
        return True
    return suffix not in _NO_TEXT and _text_patterns().fullmatch(name) is not None


def _suffix(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


@cache
def _pygments_patterns() -> frozenset[str]:
    """The file names of all programming languages. This loads no lexer, only their list."""
    from pygments.lexers import get_all_lexers

    lexers = get_all_lexers(plugins=False)
    return frozenset(pattern for _, _, patterns, _ in lexers for pattern in patterns)


@cache
def _text_suffixes() -> frozenset[str]:
    matches = map(_SUFFIX_PATTERN.fullmatch, _pygments_patterns())
    return frozenset(match[1].lower() for match in matches if match) - _NO_TEXT


@cache
def _text_names() -> frozenset[str]:
    plain = {name.lower() for name in _pygments_patterns() if not re.search(r"[*?\[]", name)}
    return frozenset(plain.union(_TEXT_NAMES.split())) - _KEYS


@cache
def _text_patterns() -> re.Pattern[str]:
    """What is neither a suffix nor a whole name, such as `Makefile.*`."""
    patterns = (
        pattern
        for pattern in sorted(_pygments_patterns())
        if re.search(r"[*?\[]", pattern) and not _SUFFIX_PATTERN.fullmatch(pattern)
    )
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns))
