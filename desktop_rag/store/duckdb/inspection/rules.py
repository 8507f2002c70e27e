"""A rule of the library as SQL, and the rules of documents, texts, chunks and postings. Pure."""

from dataclasses import dataclass

# Beyond this the counts of postings are cut off, see content.py.
_MAX_COUNT = 65_535


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; `what` are those that break it, each a row of `broken`: SQL that follows FROM.

    `of_documents` is True when the rows have a `document_id` whose content can be made again from
    its file. `is_precious` is True for what can't be made again.
    """

    what: str
    broken: str
    of_documents: bool = False
    is_precious: bool = False


ALL_POSTINGS = (
    "(SELECT key, chunk_id, tf FROM postings UNION ALL SELECT key, chunk_id, tf"
    " FROM recent_postings)"
)
# Sorted postings of removed chunks stay until the next merge; those of the recent table do not.
POSTINGS_OF_NOTHING = (
    "(SELECT chunk_id FROM postings ANTI JOIN dead_chunks USING (chunk_id)"
    " UNION ALL SELECT chunk_id FROM recent_postings) ANTI JOIN chunks USING (chunk_id)"
)
# Terms are counted with each run of sorted postings.
MISCOUNTED_TERMS = (
    "(SELECT key, sum(chunks) AS counted FROM terms GROUP BY key) FULL JOIN"
    " (SELECT key, count(*) AS found FROM postings GROUP BY key) USING (key)"
    " WHERE counted IS DISTINCT FROM found"
)
_CHUNKS_BY_DOCUMENT = (
    "(SELECT document_id, count(*) AS found, count(DISTINCT position) AS positions,"
    " min(chunk_id) AS lowest, max(chunk_id) AS highest FROM chunks GROUP BY document_id)"
)

INDEX_RULES = (
    Rule(
        "documents listed twice",
        "(SELECT document_id FROM documents GROUP BY document_id HAVING count(*) > 1)",
        of_documents=True,
    ),
    Rule(
        "documents without a source",
        "documents ANTI JOIN sources USING (source_id)",
    ),
    Rule(
        "documents inside one that does not exist",
        "documents d WHERE parent_id <> '' AND NOT EXISTS"
        " (FROM documents p WHERE p.document_id = d.parent_id)",
    ),
    Rule(
        "texts without a document",
        "document_texts ANTI JOIN documents USING (document_id)",
    ),
    Rule(
        "documents with two texts",
        "(SELECT document_id FROM document_texts GROUP BY document_id HAVING count(*) > 1)",
        of_documents=True,
    ),
    Rule(
        "passages without a document",
        "chunks ANTI JOIN documents USING (document_id)",
    ),
    Rule(
        "documents with other passages than counted",
        f"(SELECT DISTINCT document_id, chunk_count FROM documents) LEFT JOIN {_CHUNKS_BY_DOCUMENT}"
        " USING (document_id) LEFT JOIN document_texts USING (document_id)"
        " WHERE chunk_count <> coalesce(found, 0) OR found <> positions OR lowest <> first_chunk"
        " OR highest <> last_chunk"
        " OR coalesce(found, 0) <> coalesce(last_chunk - first_chunk + 1, 0)",
        of_documents=True,
    ),
    Rule(
        "passages with the number of another",
        "(SELECT document_id FROM chunks SEMI JOIN (SELECT chunk_id FROM chunks GROUP BY chunk_id"
        " HAVING count(*) > 1) USING (chunk_id))",
        of_documents=True,
    ),
    Rule(
        "passages without content",
        "chunks WHERE coalesce(text, '') = '' OR content_hash IS NULL",
        of_documents=True,
    ),
    Rule(
        "passages outside the text of their document",
        "chunks c JOIN (SELECT document_id, length(text) AS size FROM document_texts)"
        " USING (document_id) WHERE start_offset < 0 OR end_offset < start_offset"
        " OR end_offset > size",
        of_documents=True,
    ),
    Rule(
        "passages listed as removed",
        "chunks SEMI JOIN dead_chunks USING (chunk_id)",
        of_documents=True,
    ),
    Rule(
        "passages with other words than counted",
        "chunks LEFT JOIN (SELECT chunk_id, sum(tf) AS found, max(tf) AS highest FROM"
        f" {ALL_POSTINGS} GROUP BY chunk_id) USING (chunk_id)"
        f" WHERE coalesce(found, 0) <> term_count AND coalesce(highest, 0) < {_MAX_COUNT}",
        of_documents=True,
    ),
    Rule("postings without a passage", POSTINGS_OF_NOTHING),
    Rule("terms with other postings than counted", MISCOUNTED_TERMS),
)
