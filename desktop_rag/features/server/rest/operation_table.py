"""The operations of the REST API: the one table that routes and its document are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.rest import rest_answers as answers
from desktop_rag.features.server.rest import rest_forms as forms
from desktop_rag.features.server.rest.collection_calls import (
    AccessCalls,
    CollectionCalls,
    PromptCalls,
)
from desktop_rag.features.server.rest.conversation_calls import ConversationCalls
from desktop_rag.features.server.rest.document_calls import DocumentCalls, StatusCalls
from desktop_rag.features.server.rest.model_calls import ModelCalls
from desktop_rag.features.server.rest.rest_forms import Given, Operation, Result, as_kind
from desktop_rag.features.server.rest.search_calls import SearchCalls
from desktop_rag.features.server.rest.sending_calls import SendingCalls

_ASK, _READ, _WRITE, _ADMIN = TokenScope.ASK, TokenScope.READ, TokenScope.WRITE, TokenScope.ADMIN
_OF = "/collections/{collection_id}"
_OWN = f"{_OF}/documents/{{own_id}}"
_P = TypeVar("_P", bound=forms.Form)
_B = TypeVar("_B", bound=forms.Form)


@dataclass(frozen=True, slots=True)
class RestCalls:
    """What the operations do; other front ends of the server call the same."""

    collections: CollectionCalls
    access: AccessCalls
    documents: DocumentCalls
    sending: SendingCalls
    search: SearchCalls
    prompts: PromptCalls
    conversations: ConversationCalls
    status: StatusCalls
    models: ModelCalls


def operations(calls: RestCalls) -> list[Operation]:
    """All operations below `/api/v1`."""
    return [
        *_of_collections(calls.collections),
        *_of_access(calls.access),
        *_of_sending(calls.sending),
        *_of_documents(calls),
        *_of_asking(calls),
        *_of_models(calls.models),
    ]


def _of_collections(calls: CollectionCalls) -> list[Operation]:
    path = forms.CollectionPath
    return [
        Operation("GET", "/collections", "list_collections", "List the collections.", _READ,
                  answers.CollectionList, lambda caller, _: calls.all(caller)),
        Operation("POST", "/collections", "make_collection", "Make a collection.", _ADMIN,
                  answers.CollectionAnswer, _with_body(forms.NewCollection, calls.add),
                  body=forms.NewCollection, statuses=(201,)),
        Operation("GET", _OF, "get_collection", "Show a collection.", _READ,
                  answers.CollectionAnswer, _of_one(calls.one),
                  path),
        Operation("PATCH", _OF, "change_collection", "Rename a collection or change its settings.",
                  _ADMIN, answers.CollectionAnswer,
                  _both(path, forms.CollectionChange,
                        lambda c, p, b: calls.change(c, p.collection_id, b)),
                  path, body=forms.CollectionChange),
        Operation("DELETE", _OF, "delete_collection", "Delete a collection.", _ADMIN,
                  answers.DeletedAnswer, _of_one(calls.remove),
                  path),
        Operation("GET", f"{_OF}/sources", "list_sources",
                  "List the folders, links and applications of a collection.", _READ,
                  answers.SourceList, _of_one(calls.sources),
                  path),
        Operation("POST", f"{_OF}/links", "add_links", "Add web pages; they are fetched later.",
                  _WRITE, answers.SourceAnswer,
                  _both(path, forms.Links, lambda c, p, b: calls.add_links(c, p.collection_id, b)),
                  path, body=forms.Links, statuses=(202,)),
        Operation("DELETE", f"{_OF}/sources/{{source_id}}", "delete_source",
                  "Take a source out of the library.", _ADMIN, answers.DeletedAnswer,
                  _with_path(forms.SourcePath,
                             lambda c, p: calls.remove_source(c, p.collection_id, p.source_id)),
                  forms.SourcePath),
    ]  # fmt: skip


def _of_access(calls: AccessCalls) -> list[Operation]:
    path, at = forms.CollectionPath, f"{_OF}/access"
    return [
        Operation("GET", at, "get_access", "Show which application decides about the readers.",
                  _ADMIN, answers.AccessAnswer, _of_one(calls.one), path),
        Operation("PUT", at, "set_access", "Let an application decide which users read what.",
                  _ADMIN, answers.AccessAnswer,
                  _both(path, forms.Access, lambda c, p, b: calls.set(c, p.collection_id, b)),
                  path, body=forms.Access),
        Operation("DELETE", at, "delete_access",
                  "Let every token for the collection read it again.", _ADMIN,
                  answers.DeletedAnswer, _of_one(calls.remove), path),
    ]  # fmt: skip


def _of_sending(calls: SendingCalls) -> list[Operation]:
    path, own = forms.CollectionPath, forms.OwnPath
    return [
        Operation("POST", f"{_OF}/documents", "add_document",
                  "Add a text; it is indexed later.", _WRITE, answers.TakenAnswer,
                  _both(path, forms.NewDocument, lambda c, p, b: calls.add(c, p.collection_id, b)),
                  path, body=forms.NewDocument, statuses=(202, 200)),
        Operation("POST", f"{_OF}/bulk", "put_documents",
                  "Keep many texts in step and delete others.", _WRITE, answers.BulkAnswer,
                  _both(path, forms.Bulk, lambda c, p, b: calls.bulk(c, p.collection_id, b)),
                  path, body=forms.Bulk, statuses=(202, 200)),
        Operation("PUT", _OWN, "put_document",
                  "Keep a text in step; equal content is not indexed again.", _WRITE,
                  answers.TakenAnswer,
                  _both(own, forms.PutDocument,
                        lambda c, p, b: calls.put(c, p.collection_id, p.own_id, b)),
                  own, body=forms.PutDocument, statuses=(202, 200)),
        Operation("GET", _OWN, "get_own_document", "Show a document by the application's id.",
                  _READ, answers.DocumentAnswer, _own_call(calls.one), own, forms.ApplicationQuery),
        Operation("DELETE", _OWN, "delete_own_document",
                  "Delete a document by the application's id.", _WRITE, answers.DeletedAnswer,
                  _own_call(calls.remove), own, forms.ApplicationQuery),
        Operation("PUT", f"{_OF}/files/{{own_id}}", "put_file",
                  "Keep a file in step; the body is its content.", _WRITE, answers.TakenAnswer,
                  lambda c, g: calls.upload(c, as_kind(g.path, own).collection_id,
                                            as_kind(g.path, own).own_id,
                                            as_kind(g.query, forms.UploadQuery), g.content),
                  own, forms.UploadQuery, takes_file=True, statuses=(202, 200)),
        Operation("POST", f"{_OF}/rounds", "begin_round",
                  "Begin to send everything that is to stay.", _WRITE, answers.RoundAnswer,
                  _both(path, forms.Round,
                        lambda c, p, b: calls.begin_round(c, p.collection_id, b.application)),
                  path, body=forms.Round, statuses=(201,)),
        Operation("POST", f"{_OF}/rounds/{{number}}/end", "end_round",
                  "Delete what was not sent since the round began.", _WRITE, answers.DeletedAnswer,
                  _both(forms.RoundPath, forms.Round,
                        lambda c, p, b: calls.end_round(c, p.collection_id, p.number,
                                                        b.application)),
                  forms.RoundPath, body=forms.Round),
    ]  # fmt: skip


def _of_documents(calls: RestCalls) -> list[Operation]:
    documents, sending, path = calls.documents, calls.sending, forms.DocumentPath
    one = "/documents/{document_id}"
    return [
        Operation("GET", "/documents", "list_documents", "List documents.", _READ,
                  answers.DocumentList,
                  lambda c, g: documents.all(c, as_kind(g.query, forms.DocumentsQuery)),
                  query=forms.DocumentsQuery),
        Operation("GET", one, "get_document", "Show a document and its state.", _READ,
                  answers.DocumentAnswer,
                  _with_path(path, lambda c, p: documents.one(c, p.document_id)), path),
        Operation("PATCH", one, "describe_document", "Change what is said of a sent document.",
                  _WRITE, answers.TakenAnswer,
                  _both(path, forms.DocumentChange,
                        lambda c, p, b: sending.describe(c, p.document_id, b)),
                  path, body=forms.DocumentChange, statuses=(202, 200)),
        Operation("DELETE", one, "delete_document", "Delete a sent document.", _WRITE,
                  answers.DeletedAnswer,
                  _with_path(path, lambda c, p: sending.remove_document(c, p.document_id)), path),
        Operation("GET", f"{one}/text", "get_text", "Read its text.", _READ, answers.TextAnswer,
                  lambda c, g: documents.text(c, as_kind(g.path, path).document_id,
                                              as_kind(g.query, forms.TextQuery)),
                  path, forms.TextQuery),
        Operation("GET", f"{one}/chunks", "list_chunks", "List its chunks.", _READ,
                  answers.ChunkList,
                  lambda c, g: documents.chunks(c, as_kind(g.path, path).document_id,
                                                as_kind(g.query, forms.Page)),
                  path, forms.Page),
        Operation("GET", f"{one}/chunks/{{position}}", "get_chunk",
                  "Read a chunk, with the positions of its neighbours.", _READ,
                  answers.ChunkAnswer,
                  _with_path(forms.ChunkPath,
                             lambda c, p: documents.chunk(c, p.document_id, p.position)),
                  forms.ChunkPath),
    ]  # fmt: skip


def _of_asking(calls: RestCalls) -> list[Operation]:
    prompts, kept, talk = calls.prompts, calls.conversations, forms.ConversationPath
    return [
        Operation("POST", "/search", "search", "Find passages.", _READ, answers.SearchAnswer,
                  _with_body(forms.Search, calls.search.search), body=forms.Search),
        Operation("POST", "/ask", "ask",
                  "Answer a question; with `stream` in server-sent events.", _ASK,
                  answers.AskAnswer, None, body=forms.Ask),
        Operation("GET", "/prompts", "list_prompts", "List the saved prompts.", _READ,
                  answers.PromptList, lambda caller, _: prompts.all(caller)),
        Operation("PUT", "/prompts/{name}", "put_prompt", "Save a prompt.", _WRITE,
                  answers.PromptAnswer,
                  _both(forms.PromptPath, forms.PromptText,
                        lambda c, p, b: prompts.put(c, p.name, b.text)),
                  forms.PromptPath, body=forms.PromptText),
        Operation("DELETE", "/prompts/{name}", "delete_prompt", "Delete a prompt.", _WRITE,
                  answers.DeletedAnswer,
                  _with_path(forms.PromptPath, lambda c, p: prompts.remove(c, p.name)),
                  forms.PromptPath),
        Operation("POST", "/feedback", "give_feedback", "Like, dislike or rewrite an answer.",
                  _ASK, answers.FeedbackAnswer, _with_body(forms.Opinion, kept.judge),
                  body=forms.Opinion),
        Operation("GET", "/conversations", "list_conversations",
                  "List the conversations that are stored for the token.", _ASK,
                  answers.ConversationList,
                  lambda c, g: kept.all(c, as_kind(g.query, forms.Page)), query=forms.Page),
        Operation("GET", "/conversations/{conversation_id}", "get_conversation",
                  "Read a stored conversation; `ask` continues it.", _ASK,
                  answers.WholeConversation,
                  _with_path(talk, lambda c, p: kept.one(c, p.conversation_id)), talk),
        Operation("DELETE", "/conversations/{conversation_id}", "delete_conversation",
                  "Delete a stored conversation.", _ASK, answers.DeletedAnswer,
                  _with_path(talk, lambda c, p: kept.remove(c, p.conversation_id)), talk),
        Operation("GET", "/status", "get_status",
                  "Tell what is indexed, what waits and what failed.", _READ,
                  answers.StatusAnswer, lambda caller, _: calls.status.status(caller)),
    ]  # fmt: skip


def _of_models(calls: ModelCalls) -> list[Operation]:
    return [
        Operation("GET", "/models", "list_models",
                  "List the models that the server's computer runs, and those to fetch.", _ADMIN,
                  answers.LocalModels, lambda caller, _: calls.all(caller)),
        Operation("POST", "/models", "fetch_model", "Fetch a model of the list, or go on.", _ADMIN,
                  answers.DownloadAnswer,
                  _with_body(forms.ModelName, lambda c, b: calls.fetch(c, b.name)),
                  body=forms.ModelName, statuses=(202,)),
        Operation("PUT", "/models/used", "use_model", "Have a model answer from now on.", _ADMIN,
                  answers.LocalModelAnswer,
                  _with_body(forms.ModelName, lambda c, b: calls.use(c, b.name)),
                  body=forms.ModelName),
        Operation("DELETE", "/models/{name}", "remove_model",
                  "Take a model off the list; a fetched one is deleted.", _ADMIN,
                  answers.DeletedAnswer,
                  _with_path(forms.ModelPath, lambda c, p: calls.remove(c, p.name)),
                  forms.ModelPath),
    ]  # fmt: skip


def _of_one(call: Callable[[Caller, str], Result]) -> Callable[[Caller, Given], Result]:
    return _with_path(forms.CollectionPath, lambda caller, path: call(caller, path.collection_id))


def _with_path(
    kind: type[_P], call: Callable[[Caller, _P], Result]
) -> Callable[[Caller, Given], Result]:
    return lambda caller, given: call(caller, as_kind(given.path, kind))


def _with_body(
    kind: type[_B], call: Callable[[Caller, _B], Result]
) -> Callable[[Caller, Given], Result]:
    return lambda caller, given: call(caller, as_kind(given.body, kind))


def _both(
    path: type[_P], body: type[_B], call: Callable[[Caller, _P, _B], Result]
) -> Callable[[Caller, Given], Result]:
    return lambda caller, given: call(caller, as_kind(given.path, path), as_kind(given.body, body))


def _own_call(
    call: Callable[[Caller, str, str, str], dict[str, Any]],
) -> Callable[[Caller, Given], Result]:
    def run(caller: Caller, given: Given) -> Result:
        path, query = as_kind(given.path, forms.OwnPath), given.query
        application = as_kind(query, forms.ApplicationQuery).application
        return call(caller, path.collection_id, path.own_id, application)

    return run
