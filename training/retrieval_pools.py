"""Searches retrieval sets with the app, and keeps the scores of the candidates. See fit_fusion.py.

The app indexes each corpus once into a home below the scratch folder. What it knows of a question
before fusion is kept in a file for each set, until the code of the search changes.
"""

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag import answer, app
from desktop_rag.answer.search.candidates import Candidates, leads, shares
from desktop_rag.answer.search.fusion import agreement, company, fuse, standardised
from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.core.language.languages import is_open_question
from desktop_rag.core.paths import Home
from desktop_rag.core.query import Query
from desktop_rag.features.evaluation.measures.query_sets import KnownSet, load_set
from desktop_rag.features.evaluation.measures.search import write_corpus
from desktop_rag.store.contract.search import Scope

Floats = NDArray[np.float64]

# The weights of words, as multiples of that of meaning, and the company that a pool keeps.
RATIOS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0, 5.0])
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of a question: their documents and scores, and the grades of documents.

    `by_words` are the documents of the ranking by words alone. `companies` has a row for each of
    RATIOS. `best` are the values of the best passage by which relevance is told.
    """

    documents: tuple[str, ...]
    by_words: tuple[str, ...]
    shares: Floats
    near: Floats
    companies: Floats
    agreement: float
    open: float
    grades: dict[str, int]
    best: dict[str, float]


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of a set's own questions, and of questions that its corpus does not answer."""

    own: list[Pool]
    foreign: list[Pool]


def pools_of(
    sets: Path,
    scratch: Path,
    name: str,
    strangers: Sequence[str],
    limit: int,
    documents: int | None = None,
) -> Pools:
    """The pools of a set, "CORPUS" or "CORPUS asked by SET"; searched once.

    With `documents`, only those of a larger corpus are searched that `sampled` chooses.
    """
    size = "" if documents is None else f"-{documents}-for-{limit}"
    counted = f"{name.replace('/', '_')}{size}-{limit}-{len(strangers)}-{_code_digest()}"
    kept = scratch / "pools" / f"{counted}.pickle"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    corpus, _, asking = name.partition(" asked by ")
    asked = load_set(sets / (asking or corpus), limit)
    whole = load_set(sets / corpus)
    if documents is not None:
        whole = sampled(whole, load_set(sets / corpus, limit), documents)
    found = _collect(whole, asked, scratch, f"{corpus}{size}", strangers)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(found))
    print(f"{name}: {len(found.own)} questions, {len(found.foreign)} off topic", flush=True)
    return found


def sampled(whole: KnownSet, asked: KnownSet, most: int) -> KnownSet:
    """A part of a set that is the same on every computer: all relevant documents of the questions
    that are asked, then others in the order of a hash of their ids, up to so many in total.
    """
    wanted = {i for query, _ in asked.queries for i in asked.known[query]}
    ids = {row["_id"] for row in whole.corpus}
    others = sorted(ids - wanted, key=lambda i: sha256(i.encode()).digest())
    kept = wanted.union(others[: max(0, most - len(wanted & ids))])
    return replace(whole, corpus=tuple(row for row in whole.corpus if row["_id"] in kept))


def _collect(
    corpus: KnownSet, asked: KnownSet, scratch: Path, name: str, strangers: Sequence[str]
) -> Pools:
    folder = scratch / "corpus" / name.replace("/", "_")
    if folder.exists():
        ids = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
    else:
        folder.mkdir(parents=True)
        ids = write_corpus(corpus.corpus, folder)
        folder.with_suffix(".json").write_text(json.dumps(ids), encoding="utf-8")
    known = {_plain(i): i for i in ids.values()}
    services = app.build_services(Home(scratch / "homes" / name.replace("/", "_")))
    try:
        services.library.start(watch=False)
        if not services.library.sources.all():
            services.library.sources.add(folder)
        while not services.library.indexing.wait_until_idle(10.0):
            pass
        own: list[Pool] = []
        for query_id, text in asked.queries:
            # The same paragraph of xquad has another prefix in each language.
            grades = {known.get(_plain(i), i): grade for i, grade in asked.known[query_id].items()}
            own.append(_pool(services.retriever, text, grades, ids))
        return Pools(own, [_pool(services.retriever, text, {}, ids) for text in strangers])
    finally:
        services.close()


def _plain(passage_id: str) -> str:
    """The id without the prefix of a language."""
    prefix, _, rest = passage_id.partition("-")
    return rest if rest and len(prefix) == len("en") else passage_id


def _pool(retriever: Retriever, text: str, grades: dict[str, int], ids: dict[str, str]) -> Pool:
    """What the app knows of a question before fusion."""
    question = SearchQuestion(text, lambda: retriever.reader.read(Query(text)))
    found = retriever.candidate_search.gather(question, Scope())
    assert found is not None, "the bundled model answers"
    words = dict(retriever.lexical.best(question.reading.words, _DEPTH, Scope()))
    passages = retriever.lexical.passages(dict.fromkeys((*found.ids, *words), 0.0))
    documents = {p.chunk_id: ids[p.path] for p in passages}
    fused = [fuse(shares(found), found.near, ratio / (1 + ratio)) for ratio in RATIOS]
    return Pool(
        tuple(documents[i] for i in found.ids),
        tuple(documents[i] for i in words),
        shares(found),
        found.near,
        np.array([company(each, found.alike) for each in fused]),
        agreement(found.lexical, found.near),
        float(is_open_question(text)),
        grades,
        _best(found),
    )


def _best(found: Candidates) -> dict[str, float]:
    best = int((standardised(found.lexical) + standardised(found.near)).argmax())
    return {
        "nearness": float(found.near[best]),
        "standout": float(standardised(found.lexical)[best]),
        "share": float(shares(found)[best]),
        "lead": float(leads(found)[best]),
    }


def _code_digest() -> str:
    """A hash of the search: scores of other code are not used again."""
    room = Path(answer.__path__[0]) / "search"
    models = Path(answer.__path__[0]).parent / "core" / "language"
    files = sorted((*room.rglob("*.py"), *models.rglob("*.py")))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
