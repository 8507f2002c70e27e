"""Attaching to the conversation that is looked at: by a button, a drop or the clipboard. Qt thread.

What is attached belongs to its conversation: it is kept with it at once, or with its first
question, and asked about until it is taken away.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop_rag.core.attachment import Attachment, AttachmentKind, Image
from desktop_rag.core.errors import AppError
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.composer.assistant_choice import AssistantChoice
from desktop_rag.ui.composer.attached_files import AttachedFiles
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.documents.document_view import PlaceInDocument
from desktop_rag.ui.documents.place_opener import PlaceOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.file_drop import FileDrop
from desktop_rag.ui.widgets.image_view import ImageView

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


class ChatAttachments(QObject):
    """Connects the composer with what is attached to the conversation it writes in."""

    def __init__(
        self,
        bridge: Bridge,
        library: "Library",
        chat: "Chat",
        composer: Composer,
        sessions: ChatSessions,
        opener: PlaceOpener,
        *,
        choice: AssistantChoice,
        page: QWidget,
    ) -> None:
        """Files may be dropped onto `page`, over which stands what is opened.

        `choice` says whose model answers.
        """
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._composer = composer
        self._sessions = sessions
        self._opener = opener
        self._choice = choice
        self._page = page
        drop = FileDrop(page, composer)
        drop.dropped.connect(self._on_files_given)
        composer.files_given.connect(self._on_files_given)
        composer.picture_given.connect(self._on_picture_given)
        composer.attach_requested.connect(self._on_attach_requested)
        composer.removal_requested.connect(self._on_removal_requested)
        composer.submitted.connect(self._on_submitted)
        composer.edited.connect(self._on_submitted)
        sessions.shown.connect(self._on_session_shown)
        sessions.conversation_known.connect(self._load)
        # It may have been learned from a refusal what the model takes.
        sessions.answered.connect(self.check)
        choice.chosen.connect(self.check)
        bridge.posted.connect(self._on_posted)

    @Slot()
    def check(self) -> None:
        """Find out anew whether the model can take what is attached."""
        files = self._files
        if not any(a.kind is AttachmentKind.IMAGE for a in files.ready):
            self._show_refusal(files, None)
            return
        attachments, assistant_id = files.ready, self._choice.assistant_id
        self._bridge.run(
            files,
            lambda: self._chat.refusal(attachments, assistant_id),
            lambda error: self._show_refusal(files, error),
        )

    @Slot(object)
    def open(self, attachment: Attachment) -> None:
        """Show what was read of a file, or an image."""
        if attachment.kind is AttachmentKind.IMAGE:
            self._bridge.run(
                self,
                lambda: self._chat.attachments.image(attachment),
                lambda image: self._show_image(attachment, image),
            )
        elif attachment.has_text:
            self._opener.view(PlaceInDocument(attachment.document_id))

    def _show_image(self, attachment: Attachment, image: Image | None) -> None:
        ImageView(attachment.name, image, self._page).open()

    # --- of the conversation that is looked at ---------------------------------------------------

    @property
    def _files(self) -> AttachedFiles:
        """Those of the session that is looked at; they end with it."""
        session = self._sessions.current
        return next(iter(session.findChildren(AttachedFiles)), None) or self._begin(session)

    def _begin(self, session: ChatSession) -> AttachedFiles:
        files = AttachedFiles(self._bridge, self._library, self._chat, session)
        files.changed.connect(self._on_changed)
        session.destroyed.connect(files.stop)
        # Until what is stored is known, nothing is asked without it.
        files.is_known = not session.conversation_id
        return files

    @Slot(object)
    def _on_session_shown(self, session: ChatSession) -> None:
        # It was written for another conversation.
        self._composer.keep()
        self._show()
        if session.conversation_id:
            self._load()

    @Slot()
    def _load(self) -> None:
        files, conversation_id = self._files, self._sessions.current.conversation_id
        self._bridge.run(files, lambda: self._chat.attachments.of(conversation_id), files.load)

    @Slot()
    def _on_changed(self) -> None:
        files = self.sender()
        assert isinstance(files, AttachedFiles)
        session = _session_of(files)
        # It is not let go of until then.
        session.is_reading = files.is_reading
        conversation_id = session.conversation_id
        if conversation_id and files.is_known and files.ready != files.stored:
            files.stored = files.ready
            # Whatever is the last to run, it stores what is so then.
            self._bridge.run(
                files, lambda: self._chat.attachments.set(conversation_id, files.ready)
            )
        if files is self._files:
            self._show()

    def _show(self) -> None:
        files = self._files
        self._composer.show_attachments(files.chips, files.ready)
        self._composer.hold(is_held=not files.is_settled)
        self.check()

    def _show_refusal(self, files: AttachedFiles, error: AppError | None) -> None:
        if files is self._files:
            self._composer.show_refusal(error)

    # --- what the person does --------------------------------------------------------------------

    @Slot(object)
    def _on_files_given(self, paths: Sequence[Path]) -> None:
        self._files.add_files(paths)

    @Slot(object)
    def _on_picture_given(self, picture: QImage) -> None:
        self._files.add_picture(picture)

    @Slot()
    def _on_attach_requested(self) -> None:
        dialog = QFileDialog(self._page, "Attach files to this chat")
        dialog.setObjectName("attachDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._on_files_chosen)
        dialog.open()

    @Slot("QStringList")
    def _on_files_chosen(self, names: list[str]) -> None:
        self._files.add_files(Path(name) for name in names)

    @Slot(int)
    def _on_removal_requested(self, key: int) -> None:
        self._files.remove(key)

    @Slot()
    def _on_submitted(self) -> None:
        self._files.drop_failed()

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if isinstance(event, ExaminationChanged) and not event.is_running:
            self.check()


def _session_of(files: AttachedFiles) -> ChatSession:
    session = files.parent()
    assert isinstance(session, ChatSession)
    return session
