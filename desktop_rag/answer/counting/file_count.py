"""Answers "How many files do I have?" by what the library knows, reading none of them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from desktop_rag.answer.counting.counting_words import CountingQuestion, content_words
from desktop_rag.answer.writing.answer_texts import AnswerTexts
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.text import words

_MOST_KINDS = 12


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """The files of the library by state, and its searchable documents by the name of their format.

    The latter include those inside of others, such as attachments of mail.
    """

    counts: DocumentCounts
    formats: Mapping[str, int]


def file_count(question: CountingQuestion, files: LibraryFiles, texts: AnswerTexts) -> str:
    """The answer in Markdown; "" for a question about anything else than the number of files."""
    asked = {word.casefold() for word in words(question.rest.replace("-", " "))}
    if question.is_list or question.is_loose or _has_condition(question, asked):
        return ""
    are_files = not question.language.sets["files"].isdisjoint(asked)
    known = [kind for kind in files.formats if kind.isalpha() and (are_files or kind.isupper())]
    kinds = [kind for kind in known if {kind.casefold(), f"{kind.casefold()}s"} & asked]
    spoken = {word for kind in kinds for word in (kind.casefold(), f"{kind.casefold()}s")}
    if not spoken.issuperset(content_words(question)) or not (are_files or kinds):
        return ""
    return _of_kinds(kinds, files, texts) if kinds else _of_all(files, texts)


def _has_condition(question: CountingQuestion, asked: set[str]) -> bool:
    sets = question.language.sets
    conditions = sets["open"] | sets["done"] | sets["negations"] | sets["measures"]
    return not conditions.isdisjoint(asked) or any(map(str.isdigit, question.rest))


def _of_kinds(kinds: list[str], files: LibraryFiles, texts: AnswerTexts) -> str:
    count = sum(files.formats[kind] for kind in kinds)
    return texts.counted("of_kind", count, kinds=", ".join(map(texts.format_name, kinds)))


def _of_all(files: LibraryFiles, texts: AnswerTexts) -> str:
    count, rest = files.counts.searchable, files.counts.total - files.counts.searchable
    inside = sum(files.formats.values()) - count
    where = "_inside" if inside > 0 else ""
    sentences = [texts.counted(f"searchable{where}", count, inside=inside)]
    if rest:
        sentences.append(texts.said("other_files", count=rest))
    ranked = sorted(files.formats.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) > 1:
        kinds = (
            f"{texts.format_name(kind)} {texts.number(number)}"
            for kind, number in ranked[:_MOST_KINDS]
        )
        sentences.append(texts.said(f"by_kind{where}", kinds=", ".join(kinds)))
    return " ".join(sentences)
