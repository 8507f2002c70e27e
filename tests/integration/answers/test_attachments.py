"""Files and images attached to a chat, through the parser process, the store and the client."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import (
    AnswerChanged,
    Attachment,
    AttachmentKind,
    FileCounts,
    Image,
    MessageState,
    Role,
)
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.settings import AnswerSettings, EndpointSettings, Settings
from tests.asking import answer_of, ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer
from tests.unit.ingest.read.pdf_samples import encrypted
from tests.unit.ingest.read.samples import make_docx, make_pdf, paragraph

pytestmark = pytest.mark.slow

LEASE = "The tenant pays 840 pounds on the first of the month. Dogs are not allowed."
PIXEL = Image("image/png", b"\x89PNG not looked at here")


@pytest.fixture
def library(open_indexed: OpenIndexed) -> Services:
    return open_indexed({"lamp.md": "# Lamp\n\nThe lamp is lit at dusk. The lens is cleaned."})


@pytest.fixture
def server(library: Services) -> Iterator[ChatServer]:
    with ChatServer("The tenant pays 840 pounds [1].") as running:
        use(library, running.endpoint())
        yield running


def use(services: Services, endpoint: EndpointSettings) -> None:
    services.chat.apply(replace(Settings(), endpoint=endpoint))


def attach(services: Services, path: Path) -> Attachment:
    return services.library.documents.attach(path, cancel=threading.Event())


def lease(services: Services, folder: Path) -> Attachment:
    path = folder / "lease.txt"
    path.write_text(LEASE)
    return attach(services, path)


def test_without_an_endpoint_its_sentences_are_quoted_and_found_again(
    library: Services, tmp_path: Path
) -> None:
    attached = lease(library, tmp_path)
    assert (attached.name, attached.extent()) == ("lease.txt", "15 words")
    answer = ask(library, "How many pounds does the tenant pay?", attached)
    assert "840 pounds" in answer.text
    [cited] = [source for source in answer.sources if source.is_cited]
    text = library.chat.document_text(cited.document_id)
    assert text[cited.start : cited.end] == cited.quote
    assert library.library.documents.get(cited.document_id)
    assert library.library.documents.chunks(cited.document_id)


def test_only_its_own_chat_finds_it(library: Services, tmp_path: Path) -> None:
    attached = lease(library, tmp_path)
    assert library.library.indexing.wait_until_idle(30)
    row = library.library.documents.get(attached.document_id)
    assert row
    assert row.state is DocumentState.SEARCHABLE
    assert not any("tenant" in p.text for p in library.chat.search("tenant pounds dogs"))
    assert [d.path.name for d in library.library.documents.all()] == ["lamp.md"]
    assert [s.path.name for s in library.library.sources.all()] == ["papers"]
    other = ask(library, "How many pounds does the tenant pay?")
    assert "840" not in other.text
    assert ask(library, "How many pounds does the tenant pay?", attached).sources


def test_of_a_chat_that_is_not_stored_it_is_gone_with_the_app(
    library: Services, tmp_path: Path
) -> None:
    kept = lease(library, tmp_path)
    ask(library, "How many pounds does the tenant pay?", kept)
    library.chat.apply(replace(Settings(), answers=AnswerSettings(stores_chats=False)))
    other = tmp_path / "other.txt"
    other.write_text("The owner pays 12 pounds.")
    unstored = attach(library, other)
    assert "12" in ask(library, "How many pounds does the owner pay?", unstored).text
    library.chat.close()
    assert library.library.documents.get(unstored.document_id) is None
    assert library.library.documents.get(kept.document_id)


def test_its_whole_text_goes_first_and_in_order(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    path = tmp_path / "long.md"
    path.write_text("\n\n".join(f"# Part {n}\n\n{'So on and on. ' * 80}" for n in range(6)))
    attached = attach(library, path)
    answer = ask(library, "When is the lamp lit?", attached)
    prompt = server.chats[-1]["messages"][-1]["content"]
    places = [prompt.index(f"Part {n}") for n in range(6)]
    assert places == sorted(places)
    assert prompt.index("The lamp is lit at dusk.") > places[-1]
    whole = [s for s in answer.sources if s.document_id == attached.document_id]
    text = library.chat.document_text(attached.document_id)
    assert "".join(source.text for source in whole) == text
    assert [source.n for source in answer.sources] == list(range(1, len(answer.sources) + 1))


def test_of_a_text_that_is_too_long_the_best_passages_go(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    path = tmp_path / "long.md"
    parts = [f"# Part {n}\n\n{f'Number {n} goes on. ' * 90}" for n in range(60)]
    parts[41] = f"# Rent\n\n{LEASE}"
    path.write_text("\n\n".join(parts))
    ask(library, "How many pounds does the tenant pay?", attach(library, path))
    prompt = server.chats[-1]["messages"][-1]["content"]
    assert LEASE in prompt
    assert len(prompt) < path.stat().st_size / 3


def test_a_model_that_reads_less_than_was_thought_gets_passages(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    server.dialect.context_tokens = 900
    path = tmp_path / "long.md"
    parts = [f"# Part {n}\n\n{f'Number {n} goes on. ' * 40}" for n in range(14)]
    path.write_text("\n\n".join([*parts, f"# Rent\n\n{LEASE}"]))
    answer = ask(library, "How many pounds does the tenant pay?", attach(library, path))
    assert answer.state is MessageState.DONE
    assert len(server.chats) > 1
    assert LEASE in server.chats[-1]["messages"][-1]["content"]


def test_it_stays_for_later_questions_and_what_was_attached_is_kept_with_each(
    build_services: Callable[[], Services], tmp_path: Path
) -> None:
    services = build_services()
    attached = lease(services, tmp_path)
    answer = ask(services, "What does the tenant pay?", attached)
    conversation_id = answer.conversation_id
    ask(services, "And dogs?", conversation_id=conversation_id)
    services.close()
    again = build_services()
    again.chat.history.purge_deleted()
    asked = [m for m in again.chat.history.messages(conversation_id) if m.role is Role.USER]
    assert [question.attachments for question in asked] == [(attached,), ()]
    assert again.chat.document_text(attached.document_id) == LEASE
    again.chat.history.delete(conversation_id)
    again.chat.history.purge_deleted()
    with pytest.raises(AppError, match="no longer"):
        again.chat.document_text(attached.document_id)


def test_a_copy_of_a_chat_has_what_its_last_question_had(
    services: Services, tmp_path: Path
) -> None:
    attached = lease(services, tmp_path)
    answer = ask(services, "What does the tenant pay?", attached)
    copy = services.chat.history.fork(answer.conversation_id, answer.message_id)
    assert services.chat.attachments.of(copy.conversation_id) == (attached,)
    services.chat.history.delete(answer.conversation_id)
    services.chat.history.purge_deleted()
    assert services.chat.document_text(attached.document_id) == LEASE


def test_retrying_reads_the_same_again(library: Services, tmp_path: Path) -> None:
    answer = ask(library, "How many pounds does the tenant pay?", lease(library, tmp_path))
    again = answer_of(list(library.chat.retry(answer.conversation_id, cancel=threading.Event())))
    assert "840 pounds" in again.text


def test_what_is_inside_a_mail_is_attached_with_it(library: Services, tmp_path: Path) -> None:
    mail = tmp_path / "letter.eml"
    mail.write_text(
        "From: a@example.org\nSubject: Lease\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n\n'
        "See below.\n--x\nContent-Type: text/plain\n"
        f'Content-Disposition: attachment; filename="lease.txt"\n\n{LEASE}\n--x--\n'
    )
    answer = ask(library, "How many pounds does the tenant pay?", attach(library, mail))
    assert "840 pounds" in answer.text
    assert [source.part for source in answer.sources if source.is_cited] == ["lease.txt"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.txt", lambda: b""),
        ("broken.pdf", lambda: b"%PDF-1.7\nnothing else"),
        ("locked.pdf", lambda: encrypted(make_pdf("The tenant pays."), "secret")),
        ("bomb.docx", lambda: make_docx(paragraph("A" * 400_000_000))),
        ("sound.mp3", lambda: b"ID3\x04" + bytes(2000)),
    ],
)
def test_what_cannot_be_read_is_told_and_leaves_nothing(
    services: Services, tmp_path: Path, name: str, content: Callable[[], bytes]
) -> None:
    (tmp_path / name).write_bytes(content())
    with pytest.raises(AppError) as told:
        attach(services, tmp_path / name)
    assert told.value.title
    assert services.engine.sources.attached_ids() == frozenset()


def test_a_folder_and_what_is_not_there_are_refused(services: Services, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="library"):
        attach(services, tmp_path)
    with pytest.raises(AppError, match="can't be opened"):
        attach(services, tmp_path / "gone.txt")


def test_it_can_be_cancelled(services: Services, tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text(LEASE)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        services.library.documents.attach(tmp_path / "lease.txt", cancel=cancel)
    assert services.engine.sources.attached_ids() == frozenset()


def test_a_summary_asked_for_is_one_of_what_is_attached(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    answer = ask(library, "Summarise", lease(library, tmp_path))
    assert {source.title for source in answer.sources} == {"lease"}
    assert not any("The lamp is lit" in str(body) for body in server.chats)
    use(library, EndpointSettings())
    alone = ask(library, "Summarise", lease(library, tmp_path))
    assert {source.title for source in alone.sources} == {"lease"}


# --- images ----------------------------------------------------------------------------------


def test_an_image_goes_to_the_model_with_each_question(
    library: Services, server: ChatServer
) -> None:
    photo = library.chat.attachments.keep_image("photo.png", PIXEL)
    answer = ask(library, "What colour is it?", photo)
    again = ask(library, "Really?", photo, conversation_id=answer.conversation_id)
    answers = [body["messages"] for body in server.chats if "data:image" in str(body)]
    assert len(answers) == 2
    for *before, last in answers:
        text, image = last["content"]
        assert text["type"] == "text"
        assert all(isinstance(turn["content"], str) for turn in before)
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert (answer.text, again.text) == ("Red.", "Red.")


def test_a_model_known_to_see_none_is_not_asked(library: Services, server: ChatServer) -> None:
    photo = library.chat.attachments.keep_image("photo.png", PIXEL)
    server.dialect.sees_images = False
    failed = ask(library, "What colour is it?", photo)
    assert failed.state is MessageState.FAILED
    assert failed.error_title == "test-model sees no images."
    assert library.chat.models.profile(server.endpoint()).takes_images is False
    assert len(server.chats) == 1
    with pytest.raises(AppError, match="sees no images"):
        ask(library, "What colour is it?", photo)
    assert len(server.chats) == 1
    assert len(library.chat.history.all()) == 1


def test_the_text_in_an_image_is_asked_where_the_model_sees_none(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    read = lease(library, tmp_path)
    photo = library.chat.attachments.keep_image("lease.png", PIXEL, read)
    assert photo.extent() == "image · 15 words"
    server.dialect.sees_images = False
    ask(library, "What does the tenant pay?", photo)
    answer = ask(library, "What does the tenant pay?", photo)
    assert answer.text == "The tenant pays 840 pounds [1]."
    assert answer.sources[0].document_id == read.document_id


def test_without_an_endpoint_an_image_without_text_is_refused(services: Services) -> None:
    photo = services.chat.attachments.keep_image("photo.png", PIXEL)
    assert photo.kind is AttachmentKind.IMAGE
    with pytest.raises(AppError, match="no model that can see") as told:
        ask(services, "What colour is it?", photo)
    assert "Settings" in told.value.hint
    assert services.chat.history.all() == []


def test_more_images_than_servers_take_are_refused(library: Services, server: ChatServer) -> None:
    photos = [library.chat.attachments.keep_image(f"{n}.png", PIXEL) for n in range(9)]
    with pytest.raises(AppError, match="At most 8"):
        ask(library, "Which is red?", *photos)
    assert not server.chats


def test_what_is_known_of_a_model_tells_before_anything_is_sent(
    library: Services, server: ChatServer
) -> None:
    photo = library.chat.attachments.keep_image("photo.png", PIXEL)
    assert library.chat.refusal([photo]) is None
    assert library.chat.models.profile(server.endpoint()) == ModelProfile()


# --- after the answer ---------------------------------------------------------------------------


def test_what_may_be_asked_next_is_looked_up_in_what_is_attached(
    library: Services, tmp_path: Path
) -> None:
    path = tmp_path / "lease.md"
    path.write_text(
        "# Lease of the cottage\n\n## Rent of the cottage\n\nThe tenant pays 840 pounds.\n\n"
        "## Animals in the cottage\n\nDogs are not allowed in the cottage.\n"
    )
    answer = ask(library, "What rent does the tenant of the cottage pay?", attach(library, path))
    [*_, changed] = library.chat.go_on(answer, cancel=threading.Event())
    assert isinstance(changed, AnswerChanged)
    assert "Animals in the cottage" in " ".join(changed.message.follow_ups)


def test_of_an_imported_chat_only_the_names_of_attachments_are_known(
    library: Services, tmp_path: Path
) -> None:
    attached = lease(library, tmp_path)
    answer = ask(library, "How many pounds does the tenant pay?", attached)
    exported = tmp_path / "chat.json"
    exported.write_text(library.chat.history.export(answer.conversation_id, ".json"))
    copy = library.chat.history.import_file(exported)
    [question, _] = library.chat.history.messages(copy.conversation_id)
    [told] = question.attachments
    assert (told.name, told.words, told.document_id) == ("lease.txt", 15, "")
    assert told.attachment_id != attached.attachment_id
    again = library.chat.retry(copy.conversation_id, cancel=threading.Event())
    assert "840" not in answer_of(list(again)).text
    assert "Attached: lease.txt (15 words)" in library.chat.history.export(
        copy.conversation_id, ".html"
    )


def test_a_search_while_a_file_is_attached_counts_and_names_no_more(
    library: Services, tmp_path: Path
) -> None:
    before = library.library.documents.counts().total
    lease(library, tmp_path)
    assert library.library.documents.counts().total == before
    assert library.chat.search("file:lease tenant") == []


def test_every_file_is_asked_with_what_is_attached(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "hut.txt").write_text("The tenant of the hut pays 12 pounds a week.")
    both = (lease(library, tmp_path), attach(library, tmp_path / "hut.txt"))
    answer = ask(library, "How many pounds does the tenant pay?", *both)
    assert library.chat.files_to_ask(answer.conversation_id) == (3, "test-model")
    server.answer = "It says something of pounds [1]."
    events = library.chat.retry(answer.conversation_id, every_file=True, cancel=threading.Event())
    every = answer_of(list(events))
    assert {s.document_id for s in every.sources} == {a.document_id for a in both}
    assert every.notes is not None
    assert every.notes.files == FileCounts(matched=2, read=3, total=3)


def test_a_summary_of_what_is_attached_takes_that_many_requests(
    library: Services, server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "hut.txt").write_text("The tenant of the hut pays 12 pounds a week.")
    both = (lease(library, tmp_path), attach(library, tmp_path / "hut.txt"))
    answer = ask(library, "Summarise", *both)
    assert library.chat.files_to_ask(answer.conversation_id) == (2, "test-model")
