"""One library made of the own one and a shared one, which is only read.

Questions see both; whatever is written or personal is in the own library.
"""

from dataclasses import replace

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.joined.joined_documents import JoinedDocumentStore, JoinedSourceStore
from desktop_rag.store.joined.joined_lexical import JoinedLexicalStore
from desktop_rag.store.joined.joined_names import JoinedNameStore
from desktop_rag.store.joined.joined_vectors import JoinedModelStore
from desktop_rag.store.joined.shared_side import SharedSide


def joined_engine(own: Engine, shared: SharedSide) -> Engine:
    """The stores of both as those of one; closing it closes the own one."""
    documents = JoinedDocumentStore(own.documents, shared)
    return replace(
        own,
        documents=documents,
        sources=JoinedSourceStore(own.sources, shared),
        lexical=JoinedLexicalStore(own.lexical, shared),
        names=JoinedNameStore(own.names, documents, shared),
        models=JoinedModelStore(own.models, shared),
    )
