"""Limits questions to their scope and the files, folders, collections they name. Worker threads."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.understanding.file_words import (
    FileWords,
    asks_about_all,
    asks_for_content,
    cites_source,
    is_beside,
    is_collection,
    is_comparison,
    task_of,
    words_for,
)
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.domain import Collection, Document, DocumentState, Source, shown_name
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.languages import function_words, month_numbers
from desktop_rag.core.query import Filters, Query, asks_for_summary, parse_query
from desktop_rag.core.question import NamedFiles, Readable, SearchScope, Setup
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind
from desktop_rag.core.shared_library import is_shared_item
from desktop_rag.core.terms import terms
from desktop_rag.core.text import words
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, NameStore, Scope

# The whole text of more documents never fits into a prompt.
_MOST_WHOLE = 50
# The documents looked at to tell which of the files have any, with those inside them.
_MOST_INSIDE = 5_000
# More documents with the words in their names are a subject.
_MOST_CALLED = 6
_ANY = Query("")
_AWAY = "the shared library is offline"
_GONE = "it is no longer in the library"
_OUTSIDE = "it is not among the documents of this assistant"
_NOTHING_YET = "nothing in it can be searched yet"


class ChosenScope:
    """Finds the documents of scopes, and says which of their items have none."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore, names: NameStore) -> None:
        self._finder = finder
        self._documents = documents
        self._names = names

    def applied(self, request: AnswerRequest) -> AnswerRequest:
        """The request limited to its scope; unchanged when that has no items.

        Items without a document to read are named: as hints beside others, else as the reason why
        there is nothing to answer from.
        """
        items = request.scope.items
        if not items or request.query_error:
            return request
        reach = replace(request.setup.reach, about=items)
        missing = self.missing(items, reach)
        said = tuple(f"{item.name}: {why}" for item, why in missing.items())
        is_empty = len(missing) == len(items)
        text = unicodedata.normalize("NFC", request.question)
        named = NamedFiles(
            tuple(item.name for item in items if item not in missing),
            () if is_empty else self._ids(reach),
            bool(asks_for_content(text)) or asks_for_summary(request.query),
            () if is_empty else tuple(f"Left out: {each}." for each in said),
            said if is_empty else (),
        )
        return replace(request, setup=replace(request.setup, reach=reach), named=named)

    def _ids(self, reach: SearchScope) -> tuple[str, ...]:
        """The documents in reach; none when there are too many to be read whole."""
        found = self._finder.every_file(_ANY, _MOST_WHOLE + 1, reach)
        return () if len(found) > _MOST_WHOLE else tuple(p.document_id for p in found)

    def called(self, thing: str, reach: SearchScope, *, is_certain: bool) -> list[Document]:
        """The few documents whose names have all words of a thing, or are the only ones with one of
        them where it `is_certain` that a document is meant.

        "Leases" are what is called a lease, and "minutes of October" have its number in their name.
        """
        idle = function_words([*words(thing), ""])
        said = [word for word in thing.split() if word not in idle]
        numbers = month_numbers()
        months = [f"-{numbers[w.casefold()]:02}-" for w in said if w.casefold() in numbers]
        forms = [singular(word) for word in said if word.casefold() not in numbers]
        ids = self._completing(said) or self._completing([*forms, *months])
        if not ids and is_certain:
            known = [each for word in said if (each := self._completing([word]))]
            ids = known[0] if len(known) == 1 else []
        if not 0 < len(ids) <= _MOST_CALLED:
            return []
        reach = replace(reach, document_ids=tuple(ids))
        inside = {p.document_id for p in self._finder.every_file(_ANY, len(ids), reach)}
        found = [d for d in self._documents.get(ids) if d.document_id in inside]
        held = [squeezed(form) for form in forms] or months
        called = [d for d in found if any(word in f"{d.name} {squeezed(d.name)}" for word in held)]
        return sorted(called, key=lambda document: document.name)

    def _completing(self, parts: Sequence[str]) -> list[str]:
        return self._names.completing(" ".join(parts), _MOST_CALLED + 1) if parts else []

    def missing(self, items: Sequence[ScopeItem], reach: SearchScope) -> dict[ScopeItem, str]:
        """The items of which nothing within reach can be read, each with the reason."""
        files = tuple(item for item in items if item.kind is ScopeKind.FILE)
        found = self._finder.every_file(_ANY, _MOST_INSIDE, replace(reach, about=files))
        there = {p.document_id for p in found if files} | {p.path for p in found}
        empty = (
            item
            for item in items
            if not there.intersection((item.key, item.path or item.key))
            and not (item not in files and self._has_documents(item, reach))
        )
        return {item: self._why_empty(item, reach.readable) for item in empty}

    def _has_documents(self, item: ScopeItem, reach: SearchScope) -> bool:
        return self._finder.count_files(_ANY, 1, replace(reach, about=(item,))) > 0

    def _why_empty(self, item: ScopeItem, readable: Readable | None) -> str:
        if self._has_documents(item, SearchScope(readable=readable)):
            return _OUTSIDE
        if readable:
            # Whether there is such a document is not for everyone to know.
            return _GONE
        if self._finder.missed(SearchScope(about=(item,))) and is_shared_item(item):
            return _AWAY
        if item.kind is not ScopeKind.FILE:
            return _NOTHING_YET
        return why_unread(self._documents.get([item.key]))


_PLURALS = {"s", "es", "e", "n", "en"}


def singular(word: str) -> str:
    """The stem of a word that ends like a plural, as "leases". Other forms are other words:
    who agreed names no agreement.
    """
    stem = next(iter(terms(word)), "")
    return stem if stem and word.casefold().removeprefix(stem) in _PLURALS else word


def why_unread(documents: Sequence[Document]) -> str:
    """Why the first of these rows of a document, if there is any, has no text."""
    known = [d for d in documents if d.state is not DocumentState.GONE]
    if not known:
        return _GONE
    if known[0].reason:
        return known[0].reason.rstrip(".")
    is_read = known[0].state is DocumentState.SEARCHABLE
    return "no text was found in it" if is_read else "not read yet"


_MOST_FOLDERS = 4


class Scopes:
    """Offers the items of scopes, and checks scopes: `chat.scopes`."""

    def __init__(self, engine: Engine, chosen: ChosenScope, set_up: Callable[[str], Setup]) -> None:
        self._engine = engine
        self._chosen = chosen
        self._set_up = set_up

    def completing(self, text: str, limit: int) -> list[ScopeItem]:
        """Collections, folders, links and up to `limit` files with the parts of this text, in any
        order, in their names and places, or in the day of their change.

        Of equal kinds, names that begin with it come first, then the shorter ones; for no text the
        files that changed last.
        """
        wanted = text.casefold()
        sources = self._engine.sources.sources()
        collections = map(ScopeItem.of_collection, self._engine.sources.collections())
        links = (ScopeItem.of_source(source) for source in sources if not source.is_on_disk)
        found = [
            *_fitting(collections, wanted),
            *_fitting(self._folders(sources, wanted), wanted)[:_MOST_FOLDERS],
            *_fitting(links, wanted),
        ]
        files = self._engine.names.completing(text, limit)
        rows = {d.document_id: d for d in self._engine.documents.get(files)}
        return found + [ScopeItem.of_document(rows[i]) for i in files if i in rows]

    def missing(self, scope: QuestionScope, assistant_id: str = "") -> list[tuple[ScopeItem, str]]:
        """The items of which nothing can be read for a question to this assistant, and why."""
        return list(self._chosen.missing(scope.items, self._set_up(assistant_id).reach).items())

    def fingerprint(self, scope: QuestionScope) -> str:
        """A short text that changes when a document of the scope does."""
        return self._engine.names.fingerprint(Scope(about=scope.items))

    def _folders(self, sources: Sequence[Source], wanted: str) -> Iterator[ScopeItem]:
        """The folders that the person added, and for a text those below them that hold files."""
        roots = [source.path for source in sources if source.is_on_disk]
        found = set(roots)
        for folder in self._engine.names.folders(EVERYWHERE) if wanted else ():
            place = Path(folder)
            for root in roots:
                if place.is_relative_to(root):
                    above = (parent for parent in place.parents if parent.is_relative_to(root))
                    found.update((place, *above))
        return (ScopeItem.of_folder(place) for place in sorted(found))


def _fitting(items: Iterator[ScopeItem], wanted: str) -> list[ScopeItem]:
    fitting = [item for item in items if _is_fitting(item, wanted.split())]
    return sorted(
        fitting, key=lambda i: (not i.name.casefold().startswith(wanted), len(i.name), i.name)
    )


def _is_fitting(item: ScopeItem, parts: Sequence[str]) -> bool:
    """True when a name has all parts; a folder's name has one, its path the others."""
    name, is_folder = item.name.casefold(), item.kind is ScopeKind.FOLDER
    place = item.key.casefold() if is_folder else name
    return not parts or (
        any(part in name for part in parts) and all(part in place for part in parts)
    )


# Characters of scripts that are written with spaces: one beside a name is part of a longer word.
_SPACED = r"[^\W_\u2e80-\uffff]"
_SEPARATOR = r"[\s_\-.,&+()'’–—]{0,3}"
_ENDING = re.compile(r"\.[\w-]{1,8}$")
_OTHER_ENDING = re.compile(r"\.[A-Za-z]\w{1,4}\b")
_QUOTES = ("\"“”„«»'‘’「『《", "\"“”»'‘’」』》")
_TYPED_FOLDERS = re.compile(r"(?:[^\s\"“”„«»]*[/\\])$")
_SLASHES = re.compile(r"[/\\]")
_LEAST_SQUEEZED = 3
_LONGEST_NAME = 150
# A name of one word with so many digits and letters is no word of a language.
_MANY = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at [start, end) of a question, and the paths of the files that bear it."""

    start: int
    end: int
    paths: tuple[str, ...]
    has_ending: bool


def squeezed(text: str) -> str:
    """The letters and digits of a text in lower case, as names are compared."""
    plain = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def mentioned_files(text: str, paths: Iterable[str]) -> list[Mention]:
    """The files that a text names, by their paths; the text is in Unicode form NFC.

    Letter case and separators don't matter. A name with its ending is always meant; without it, a
    name is also a few common words, and something beside it must tell that the file is meant.
    """
    found = _without_overlaps(_spans(text, paths))
    meant = [one for one in found if one.has_ending or _is_meant(text, one)]
    if len(meant) < len(found):
        # "What is in the annual report?" asks for nothing but a file.
        rest = asks_for_content(without(text, [(f.start, f.end) for f in found]))
        is_meant = [f in meant or _is_asked_for(text, f, rest) for f in found]
        meant = [one for one, is_one in zip(found, is_meant, strict=True) if is_one]
    return [
        replace(one, start=one.start - len(typed), paths=_in_folder(typed, one.paths))
        for one in sorted(meant, key=lambda one: one.start)
        for typed in [_typed_folder(text[: one.start], one.paths)]
    ]


def mentioned_folders(text: str, folders: Iterable[str]) -> list[Mention]:
    """The folders that a text names beside a word for one, or with a slash; outermost only."""
    return [
        replace(one, paths=_outermost(one.paths))
        for one in _without_overlaps(_spans(text, folders, has_ending=False))
        for before, after in [(text[: one.start], text[one.end :])]
        if re.match(r"[/\\](?!\w)", after) or is_beside(before, after, "folder", names_more=True)
    ]


def mentioned_collections(text: str, names: Iterable[str]) -> list[Mention]:
    """The collections that a text names directly beside a word for a collection."""
    # A slash divides no name of a collection.
    by_plain = {_SLASHES.sub(" ", name): name for name in names}
    found = _without_overlaps(_spans(_SLASHES.sub(" ", text), by_plain, has_ending=False, least=1))
    return [
        replace(one, paths=tuple(by_plain[path] for path in one.paths))
        for one in found
        if is_collection(
            text[: one.start],
            text[one.end :],
            is_as_written=text[one.start : one.end] in by_plain.values(),
        )
    ]


def _outermost(paths: Sequence[str]) -> tuple[str, ...]:
    every = list(map(PurePath, paths))
    return tuple(
        dict.fromkeys(p for p in paths if not any(q in PurePath(p).parents for q in every))
    )


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans and the quotation marks around them."""
    kept, done = list[str](), 0
    for start, end in sorted(spans):
        kept.append(text[done:start].rstrip(_QUOTES[0]))
        done = end
        while done < len(text) and text[done] in _QUOTES[1]:
            done += 1
    return " ".join(" ".join([*kept, text[done:]]).split())


def _spans(
    text: str, paths: Iterable[str], *, has_ending: bool = True, least: int = _LEAST_SQUEEZED
) -> list[Mention]:
    """Every place where a name of at least so many letters occurs, with the files of that name.

    Without `has_ending` the names are those of folders, which have none.
    """
    by_place: dict[tuple[int, int, bool], list[str]] = {}
    for path in paths:
        name = unicodedata.normalize("NFC", shown_name(path))[:_LONGEST_NAME]
        ending = _ENDING.search(name) if has_ending else None
        stem = name[: ending.start()] if ending else name
        letters = [c for c in stem if c.isalnum()]
        if len(letters) < least:
            continue
        body = _SEPARATOR.join(map(re.escape, letters))
        tail = re.escape(ending[0][1:]) if ending else ""
        last = rf"(?P<ending>[\s._-]{{1,2}}{tail}(?!{_SPACED}))?" if tail else "(?P<ending>(?!))?"
        first = "" if letters[0] >= "\u2e80" else rf"(?<!{_SPACED})"
        behind = "" if letters[-1] >= "\u2e80" else rf"(?!{_SPACED})"
        for match in re.finditer(rf"{first}{body}{behind}{last}", text, re.IGNORECASE):
            if not match["ending"] and _OTHER_ENDING.match(text, match.end()):
                continue
            place = (*match.span(), bool(match["ending"]))
            by_place.setdefault(place, []).append(path)
    return [
        Mention(start, end, tuple(named), has_ending)
        for (start, end, has_ending), named in by_place.items()
    ]


def _without_overlaps(found: list[Mention]) -> list[Mention]:
    kept: list[Mention] = []
    for one in sorted(found, key=lambda f: (not f.has_ending, f.start - f.end)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return kept


def _is_meant(text: str, one: Mention) -> bool:
    """True when what stands beside a name without its ending tells that it is a file."""
    before, after = text[: one.start], text[one.end :]
    names_more = _names_more(one.paths[0])
    if is_beside(before, after, "file", names_more=names_more) or _is_technical(text, one):
        return True
    is_quoted = before[-1:] in _QUOTES[0] and after[:1] in _QUOTES[1]
    return names_more and bool((before and after and is_quoted) or cites_source(before))


def _is_asked_for(
    text: str, one: Mention, rest: Sequence[tuple[FileWords, frozenset[str]]]
) -> bool:
    """True when the rest of a question asks what is in something, which is this name."""
    is_long = _names_more(one.paths[0]) or _is_shouted(text[one.start : one.end], one.paths[0])
    return any(
        held & language.summary
        or (is_long and held & (language.content | language.inside | language.file))
        for language, held in rest
    )  # fmt: skip


def _stem(path: str) -> str:
    return _ENDING.sub("", shown_name(path))


def _names_more(path: str) -> bool:
    """True for a name of several words, or with a digit, or in a script without spaces."""
    stem = _stem(path)
    parts = re.findall(r"[^\W\d_]+|\d+", stem)
    is_unspaced = stem[:1] >= "\u2e80" and len(stem) > _LEAST_SQUEEZED
    return len(parts) > 1 or is_unspaced


def _is_technical(text: str, one: Mention) -> bool:
    """True for a name written as it is, in one piece, that is no word of a language."""
    stem, written = _stem(one.paths[0]), text[one.start : one.end]
    if written.casefold() != unicodedata.normalize("NFC", stem).casefold() or " " in stem:
        return False
    marks = sum(c in "-_.+" for c in stem)
    digits, letters = sum(map(str.isdigit, stem)), sum(map(str.isalpha, stem))
    return "_" in stem or (marks > 0 and digits >= _MANY and letters >= _MANY)


def _is_shouted(written: str, path: str) -> bool:
    """True for README as it is written."""
    return len(written) > _MANY and written.isupper() and written == _stem(path)


def _typed_folder(before: str, paths: Sequence[str]) -> str:
    """The folders typed before a name, if one of the files is in them: "reports/2025/"."""
    typed = _TYPED_FOLDERS.search(before)
    wanted = squeezed(typed[0]) if typed else ""
    ends = (squeezed(str(PurePath(path).parent)).endswith(wanted) for path in paths)
    return typed[0] if typed and wanted and any(ends) else ""


def _in_folder(typed: str, paths: Sequence[str]) -> tuple[str, ...]:
    wanted = squeezed(typed)
    return tuple(p for p in paths if squeezed(str(PurePath(p).parent)).endswith(wanted))


# A longer text is a document, not a question that names one.
_LONGEST_CHARS = 1_000
_MOST_NAMES = 500
_MOST_ALIKE = 3
# What is written like the name of a document, whether there is one or not.
_LIKE_A_NAME = re.compile(
    r"(?i)(?<![\w/.])[\w][\w()&+-]{1,80}\.(?:pdf|docx?|odt|rtf|xlsx?|ods|csv|tsv|pptx?|odp|md|txt"
    r"|html?|epub|eml|msg)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class _Named:
    """What a text names, and the places of the names in it."""

    files: NamedFiles
    folders: tuple[str, ...]
    collection_ids: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Scoping:
    """Limits questions to what they are about."""

    def __init__(
        self,
        names: NameStore,
        documents: DocumentStore,
        collections: Callable[[], Sequence[Collection]],
        chosen: ChosenScope,
    ) -> None:
        self._names = names
        self._collections = collections
        self._documents = documents
        self._chosen = chosen

    def applied(self, request: AnswerRequest) -> AnswerRequest:
        """The request limited to its scope, and in it to what its question names, if anything.

        Filters for files and folders are the exact form of a name, so they stand alone.
        """
        request = self._chosen.applied(request)
        if request.scope.is_without_documents or (request.named and request.named.unread):
            return request
        filters, text = request.query.filters, unicodedata.normalize("NFC", request.question)
        names = () if request.named else _filtered(filters)
        asks = not asks_for_summary(request.query) and asks_for_content(request.query.text)
        if names and asks:
            return replace(request, named=NamedFiles(names, asks_for_content=True))
        is_limited = bool(filters.files or filters.folders or request.query_error)
        if is_limited or len(text) > _LONGEST_CHARS:
            return request
        reach = request.setup.reach
        scope = _scope_of(reach, filters)
        named = self._named(text, scope) or (
            None if request.named else self._done_with(text, scope, reach)
        )
        if named is None:
            is_about_all = not request.named and asks_about_all(text)
            everything = NamedFiles((), asks_for_content=True)
            return replace(request, named=everything) if is_about_all else request
        query = _query_of(without(text, named.spans), request.query)
        if named.folders:
            query = replace(query, filters=replace(query.filters, folders=named.folders))
        if named.collection_ids:
            reach = replace(reach, collection_ids=named.collection_ids)
        if named.files.document_ids:
            reach = replace(reach, document_ids=named.files.document_ids)
        found = named.files
        if request.named:
            found = replace(found, hints=(*request.named.hints, *found.hints))
        return replace(request, query=query, setup=replace(request.setup, reach=reach), named=found)

    def _named(self, text: str, scope: Scope) -> _Named | None:
        collections, ids_by_name = self._named_collections(text, scope)
        collection_ids = tuple(ids_by_name[name] for m in collections for name in m.paths)
        scope = replace(scope, collection_ids=collection_ids) if collection_ids else scope
        spelled = self._names.spelled_in(text, scope, _MOST_NAMES)
        files = mentioned_files(text, dict.fromkeys(path for _, path in spelled))
        folders = self._folders(text, scope, files)
        hints: tuple[str, ...] = ()
        if not files and not folders:
            files, spelled, hints = self._alike(text, scope)
        if not files and not folders and not collections:
            return None
        paths = {path for mention in files for path in mention.paths}
        ids = tuple(document_id for document_id, path in spelled if path in paths)
        spans = tuple((m.start, m.end) for m in (*files, *folders, *collections))
        rest = without(text, spans)
        names = [
            *_shown(sorted(paths)),
            *(f"{PurePath(f).name}/" for m in folders for f in m.paths),
        ]
        if not names:
            names = list(dict.fromkeys(name for m in collections for name in m.paths))
        asks = bool(asks_for_content(rest)) or asks_for_summary(Query(rest))
        hints += _ambiguous(files)
        found = NamedFiles(tuple(names), ids, asks, hints, self._unread(ids))
        return _Named(
            found, tuple(f"{f}/" for m in folders for f in m.paths), collection_ids, spans
        )

    def _done_with(self, text: str, scope: Scope, reach: SearchScope) -> _Named | None:
        """What is to be summarised, shown or compared, where words tell the files or folders."""
        task = task_of(text) if scope.readable is None else None
        if task is None:
            return None
        ids, folders, names = list[str](), list[str](), list[str]()
        things = [text[start:end] for start, end in task.things]
        for thing in things if is_comparison(text) else [" ".join(things)]:
            inside = [
                f
                for f in self._names.folders(scope)
                if squeezed(PurePath(f).name) == squeezed(thing)
            ]
            folders += [f"{folder}/" for folder in inside]
            names += [f"{PurePath(folder).name}/" for folder in inside]
            found = [] if inside else self._chosen.called(thing, reach, is_certain=task.is_certain)
            if not (inside or found):
                return None
            ids += [document.document_id for document in found]
            names += [document.name for document in found]
        is_mixed = bool(ids and folders)
        if is_mixed or (is_comparison(text) and len(ids) == 1):
            return None
        rest = without(text, task.things)
        files = NamedFiles(tuple(names), tuple(ids), not is_comparison(rest), (), self._unread(ids))
        return _Named(files, tuple(folders), (), task.things)

    def _named_collections(self, text: str, scope: Scope) -> tuple[list[Mention], dict[str, str]]:
        if not any(word in text.casefold() for word in words_for("collection")):
            return [], {}
        ids = {c.name: c.collection_id for c in self._collections() if _may_find(scope, c)}
        return mentioned_collections(text, ids), ids

    def _folders(self, text: str, scope: Scope, files: Sequence[Mention]) -> list[Mention]:
        if not _may_name_folder(text):
            return []
        homes = [PurePath(folder) for folder in self._names.folders(scope)]
        every = {str(place) for home in homes for place in (home, *home.parents) if place.name}
        found = mentioned_folders(text, sorted(every))
        return [f for f in found if all(f.end <= m.start or m.end <= f.start for m in files)]

    def _alike(
        self, text: str, scope: Scope
    ) -> tuple[list[Mention], list[tuple[str, str]], tuple[str, ...]]:
        """The file with nearly the name that a text names; none when several come as near."""
        for match in _LIKE_A_NAME.finditer(text):
            found = self._names.spelled_like(match[0], scope, _MOST_ALIKE)
            names = {shown_name(path).casefold() for _, path in found}
            if len(names) == 1:
                paths = tuple(path for _, path in found)
                hint = f"No file is called “{match[0]}”; the nearest name was taken."
                return [Mention(*match.span(), paths, has_ending=True)], found, (hint,)
        return [], [], ()

    def _unread(self, document_ids: Sequence[str]) -> tuple[str, ...]:
        """Why each of the documents has no text, when none of them has."""
        documents = self._documents.get(document_ids)
        if any(document.chunk_count for document in documents):
            return ()
        return tuple(f"{document.name}: {why_unread([document])}" for document in documents)


def unknown_name(request: AnswerRequest) -> str:
    """The name that a question asks for and no document bears; "" when it asks for more."""
    match = _LIKE_A_NAME.search(request.question)
    filters = request.query.filters
    if match is None or request.named or filters.files or filters.folders:
        return ""
    rest = without(request.question, [match.span()])
    return match[0] if asks_for_content(rest) else ""


def _filtered(filters: Filters) -> tuple[str, ...]:
    tags = (f"#{tag}" for tag in filters.tags)
    return (*filters.files, *filters.folders, *filters.collections, *tags)


def _scope_of(reach: SearchScope, filters: Filters) -> Scope:
    return Scope(
        collection_ids=reach.collection_ids or None,
        document_ids=reach.document_ids,
        filters=filters,
        limits=reach.limits.filters,
        about=reach.about,
        readable=reach.readable,
    )


def _query_of(rest: str, asked: Query) -> Query:
    try:
        return parse_query(rest)
    except AppError:
        return replace(asked, text=rest)


def _may_find(scope: Scope, collection: Collection) -> bool:
    limits = [scope.collection_ids, scope.readable.collection_ids if scope.readable else None]
    return all(ids is None or collection.collection_id in ids for ids in limits)


def _may_name_folder(text: str) -> bool:
    """True when a word for a folder or a slash is in the text: few questions have one."""
    plain = text.casefold()
    return any(word in plain for word in ("/", "\\", *words_for("folder")))


def _shown(paths: Sequence[str]) -> list[str]:
    """The file names, each with its folder where several are the same."""
    names = [shown_name(path) for path in paths]
    return [
        name if names.count(name) == 1 else f"{PurePath(path).parent.name}/{name}"
        for name, path in zip(names, paths, strict=True)
    ]


def _ambiguous(files: Sequence[Mention]) -> tuple[str, ...]:
    """A sentence for each name that several files bear."""
    return tuple(
        f"{len(mention.paths):,} files have the name “{shown_name(mention.paths[0])}”."
        for mention in files
        if len({PurePath(path).name for path in mention.paths}) < len(mention.paths)
    )
