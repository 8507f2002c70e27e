"""The sources of an answer, the document that is read, and the attachments of a chat. Qt thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QDialog, QSplitter, QStackedWidget, QWidget
from shiboken6 import isValid

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import (
    Attachment,
    AttachmentKind,
    Image,
    Message,
    Role,
    SourceRef,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import pixels_in, read_part, update_object
from desktop_rag.core.language.translation import tr
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ingest.library import Library
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.composer.attached_files import AttachedFiles
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.documents.document_opener import DocumentOpener, confirm_and_open
from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.foundation.ask_request import AskAboutRequested
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.viewer import DocumentSpan, span_of
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.file_drop import FileDrop
from desktop_rag.ui.widgets.forms import choose_files
from desktop_rag.ui.widgets.layouts import vertical

NARROW_PX = 960
_LEFT_PX, _SOURCES_PX = 220, 340
_MIN_PX = (180, 320, 260)
_MIN_READING_PX = 340
# The share of the width, until the person chooses another.
_READING_SHARE = 0.42
_SETTLE_MS = 400


class SidePanels(QSplitter):
    """Shows the left panel unless it is closed, and the right one while it has content.

    The right one has the sources of an answer or, with its own width, the document that is read. A
    narrow window shows only one of both sides. `reading_width_chosen` carries the width in pixels
    that the person gave the document.
    """

    reading_width_chosen = Signal(int)

    def __init__(self, left: QWidget, middle: QWidget, sources: QWidget, reading: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._left = left
        self._sources = sources
        self._reading = reading
        self._right = QStackedWidget()
        self._right.addWidget(sources)
        self._right.addWidget(reading)
        self._is_left_wanted = True
        self._is_right_wanted = True
        self._has_right = False
        self.is_reading = False
        self._is_other_shown = False
        self._reading_px = 0
        self._sources_px = _SOURCES_PX
        self.setHandleWidth(1)
        for position, widget in enumerate((left, middle, self._right)):
            widget.setMinimumWidth(_MIN_PX[position])
            self.addWidget(widget)
            self.setStretchFactor(position, int(widget is middle))
            self.setCollapsible(position, False)
        self.setSizes([_LEFT_PX, 600, _SOURCES_PX])
        self._timer = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._timer.timeout.connect(lambda: self.reading_width_chosen.emit(self._reading_px))
        self.splitterMoved.connect(self._on_moved)
        self._arrange()

    def set_right_content(self, *, has_content: bool) -> None:
        """Set whether there are sources to show."""
        self._has_right = has_content
        self._arrange()

    def show_other(self, *, is_shown: bool) -> None:
        """Hide the right one while the middle shows something else than a chat."""
        self._is_other_shown = is_shown
        self._arrange()

    def set_reading_width(self, width_px: int) -> None:
        """Set the width that the person gave the document earlier."""
        self._reading_px = width_px

    def open_reading(self) -> None:
        """Show the document in place of the sources."""
        if not self.is_reading:
            self.is_reading = True
            self._right.setCurrentWidget(self._reading)
            self._arrange()
            self._give_right(self._reading_px or round(self.width() * _READING_SHARE))

    @Slot()
    def close_reading(self) -> None:
        """Show the sources again, if they are wanted."""
        if self.is_reading:
            self.is_reading = False
            self._right.setCurrentWidget(self._sources)
            self._arrange()
            self._give_right(self._sources_px)

    def open_right(self) -> None:
        """Show the sources, even if they were closed."""
        self._is_right_wanted = True
        self._arrange()

    @Slot()
    def toggle_right(self) -> None:
        """Close or show the sources."""
        self._is_right_wanted = self._right.isHidden()
        self._arrange()

    @Slot()
    def toggle_left(self) -> None:
        """Close or show the left panel, which replaces the right one in a narrow window."""
        self._is_left_wanted = self._left.isHidden()
        if self._is_left_wanted and self.width() < NARROW_PX:
            self._is_right_wanted = False
            self.close_reading()
        self._arrange()

    def _arrange(self) -> None:
        has_right = self.is_reading or (self._is_right_wanted and self._has_right)
        is_right_shown = has_right and not self._is_other_shown
        self._right.setVisible(is_right_shown)
        is_narrow = self.width() < NARROW_PX
        self._left.setVisible(self._is_left_wanted and not (is_narrow and is_right_shown))

    def _give_right(self, width_px: int) -> None:
        left, middle, right = self.sizes()
        least = _MIN_READING_PX if self.is_reading else _MIN_PX[2]
        room = middle + right - _MIN_PX[1]
        width_px = max(_MIN_PX[2], min(max(width_px, least), room))
        self.setSizes([left, middle + right - width_px, width_px])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @Slot(int, int)
    def _on_moved(self, _position: int, _handle: int) -> None:
        width_px = self._right.width()
        if not self._right.isVisible():
            return
        if self.is_reading:
            self._reading_px = width_px
            self._timer.start()
        else:
            self._sources_px = width_px


_FIRST_TURNS = 2  # a question and its answer


class AnswerSources:
    """Shows the sources of the last answer, or of one the person picked.

    A picked answer stays until the last one has new sources. The panel opens with the first
    question of a conversation, since opening it below a text that is read would move the text. It
    closes if that answer has no sources, and opens for good with the first answer that has some. A
    question without documents has none.
    """

    def __init__(self, bridge: Bridge, chat: Chat, panel: SourcesPanel, sides: SidePanels) -> None:
        self._bridge = bridge
        self._chat = chat
        self._marking, self._warning = Job(), Job()
        self._panel = panel
        self._sides = sides
        self._model: MessageModel | None = None
        self._followed: tuple[SourceRef, ...] = ()
        self._stays = False
        self._waits = False
        self._is_asked = False
        self._has_content = False

    def follow(self, model: MessageModel) -> None:
        """Show the sources of the last answer, if they changed."""
        turn = model.turn(-1) if model.rows else None
        last = turn.message if turn else None
        sources = last.sources if last and last.role is Role.ASSISTANT else ()
        nearest = last.nearest if last and not sources else ()
        is_other = model is not self._model
        # The previous sources stay until there are new ones.
        waits = turn is not None and (turn.is_live or turn.message.role is Role.USER)
        shown = (*sources, *nearest)
        if is_other or (shown != self._followed and (shown or not waits)):
            self._model, self._followed = model, shown
            self._panel.show_sources(sources, nearest, is_searching=waits)
            self._mark(last)
        elif not self._followed and waits != self._waits:
            self._panel.show_sources((), is_searching=waits)
        self._waits = waits
        self._stays = bool(sources) or (self._stays and not is_other)
        self._is_asked = last is not None and not last.scope.is_without_documents
        is_first = waits and model.rows <= _FIRST_TURNS
        self._set_content(has_content=self._is_asked and (self._stays or is_first))

    def show(self, message: Message) -> None:
        """Show the sources of this answer, or the nearest passages if it has none."""
        self._stays = True  # what the person asked for
        self._panel.show_sources(message.sources, message.nearest)
        self._mark(message)
        self._set_content(has_content=True)

    def toggle(self) -> None:
        """Show or hide the panel, even without sources."""
        if self._is_asked and not self._has_content:
            self._stays = True
            self._set_content(has_content=True)
            self._sides.open_right()
        else:
            self._sides.toggle_right()

    def _set_content(self, *, has_content: bool) -> None:
        self._has_content = has_content
        self._sides.set_right_content(has_content=has_content)

    def _mark(self, message: Message | None) -> None:
        """Mark what each sentence of the answer cites in the cards, and warn of their files."""
        self._marking.cancel()
        self._warning.cancel()
        if message and (message.sources or message.nearest):
            self._warning = self._bridge.run(
                self._panel, lambda: self._chat.cautions(message), self._panel.warn
            )
        if message and any(source.is_cited for source in message.sources):
            self._marking = self._bridge.run(
                self._panel, lambda: self._chat.cited_places(message), self._panel.mark_cited
            )


class SourceReading(QObject):
    """Owns the panels beside the chat; `sides` holds them with the list and the chat."""

    def __init__(  # noqa: PLR0913, PLR0917  the page passes everything in
        self, bridge: Bridge, library: Library, chat: Chat, theme: Theme,
        opener: DocumentOpener, left: QWidget, middle: QWidget, page: QWidget,
        remembered: Path | None,
    ) -> None:  # fmt: skip
        """`remembered` is the file that keeps the width of the document, if any."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._opener = opener
        self._page = page
        self._remembered = remembered
        self._is_ready_for_pages = False
        self._focus_before: QWidget | None = None
        self._panel = SourcesPanel(theme)
        self.pane = ReadingPane(bridge, library, theme)
        self.sides = SidePanels(left, middle, self._panel, self.pane)
        self._sources = AnswerSources(bridge, chat, self._panel, self.sides)
        opener.serve(self.pane)
        self.pane.close_requested.connect(self.close)
        self._panel.close_requested.connect(self.sides.toggle_right)
        self._panel.ask_requested.connect(self._on_ask_requested)
        self._panel.read_requested.connect(self.read)
        self._panel.open_requested.connect(self.open_elsewhere)
        self.sides.reading_width_chosen.connect(self._on_width_chosen)
        if remembered is not None:
            bridge.run(self, lambda: read_part(remembered, "reading"), self._on_width_read)

    def follow(self, model: MessageModel) -> None:
        """Show the sources of the last answer of a conversation."""
        self._sources.follow(model)
        if self._panel.sources and not self._is_ready_for_pages:
            # So that the first page appears as fast as later ones.
            self._is_ready_for_pages = True
            self._bridge.run(self, self._library.documents.prepare_pages)

    @Slot(object, object)
    def read_citation(self, message: Message, source: SourceRef) -> None:
        """Show the document of a cited source of an answer, at its quote."""
        self._sources.show(message)
        self._panel.choose(source.n)
        self.read(source)

    @Slot(object)
    def show_sources(self, message: Message) -> None:
        """Show the sources of an answer."""
        self.sides.close_reading()
        self._sources.show(message)
        self.sides.open_right()

    @Slot()
    def toggle_sources(self) -> None:
        """Show or hide the sources, which replace a document that is read."""
        if self.sides.is_reading:
            self.sides.close_reading()
            self.sides.open_right()
        else:
            self._sources.toggle()

    @Slot(object)
    def read(self, source: SourceRef) -> None:
        """Show the document of a source beside the chat, at the cited words."""
        self.read_span(span_of(source))

    def read_span(self, place: DocumentSpan) -> None:
        """Show a document beside the chat."""
        if not self.sides.is_reading:
            self._focus_before = self._page.window().focusWidget()
        self.sides.open_reading()
        self.pane.read(place)

    @Slot()
    def close(self) -> None:
        """Close the document, and give the focus back."""
        self.sides.close_reading()
        before, self._focus_before = self._focus_before, None
        # Switching to another chat deletes it.
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """Replace the document by the sources, because another chat is shown."""
        self._focus_before = None
        self.sides.close_reading()

    @Slot(object)
    def _on_ask_requested(self, sources: Sequence[SourceRef]) -> None:
        items = (
            ScopeItem.of_place(s.document_id, s.path, s.part, s.url)
            for s in sources
            if s.is_in_library
        )
        self._bridge.post(AskAboutRequested(QuestionScope.of(*items)))

    @Slot(object)
    def open_elsewhere(self, source: SourceRef) -> None:
        """Open the file of a source in another program."""
        if source.is_in_library:
            self._opener.open(Path(source.path), source.url, source.anchor)

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open a link of an answer, if the person agrees."""
        confirm_and_open(address, self._page)

    def _on_width_read(self, remembered: dict[str, object]) -> None:
        for width_px in pixels_in(remembered, "width"):
            self.sides.set_reading_width(width_px)

    @Slot(int)
    def _on_width_chosen(self, width_px: int) -> None:
        if (path := self._remembered) is not None:
            self._bridge.run(self, lambda: update_object(path, reading={"width": width_px}))


_SCREEN_SHARE = 0.8


class ImageView(QDialog):
    """Shows one image at its full size, scaled down to fit the screen."""

    def __init__(self, name: str, image: Image | None, parent: QWidget) -> None:
        """Without an image, a message says that it is gone."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(one_line(name))
        label = PlainLabel(tr("This image is no longer available.") if image is None else "")
        label.setAccessibleName(one_line(name))
        column = vertical((label, 0, Qt.AlignmentFlag.AlignCenter), on=self)
        if image:
            picture = QPixmap.fromImage(QImage.fromData(image.data))
            max_size = QGuiApplication.primaryScreen().availableSize() * _SCREEN_SHARE
            label.setPixmap(_scaled_down(picture, max_size))
        close = TextButton(tr("Close"), then=self.close)
        column.addWidget(close, alignment=Qt.AlignmentFlag.AlignRight)


def _scaled_down(picture: QPixmap, max_size: QSize) -> QPixmap:
    if picture.width() <= max_size.width() and picture.height() <= max_size.height():
        return picture
    return picture.scaled(
        max_size, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )


class ChatAttachments(QObject):
    """Connects the composer with the attachments of the current conversation.

    They are stored at once, or with the first question, and go with every question until they are
    removed.
    """

    def __init__(
        self,
        bridge: Bridge,
        library: Library,
        chat: Chat,
        composer: Composer,
        sessions: ChatSessions,
        opener: DocumentOpener,
        *,
        choice: AssistantChoice,
        page: QWidget,
    ) -> None:
        """Files can be dropped onto `page`, over which dialogs open.

        `choice` has the assistant, whose model has to accept the attachments.
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
        drop.dropped.connect(self._on_files_added)
        composer.files_added.connect(self._on_files_added)
        composer.image_pasted.connect(self._on_image_pasted)
        composer.attach_requested.connect(self._on_attach_requested)
        composer.removal_requested.connect(self._on_removal_requested)
        composer.submitted.connect(self._on_submitted)
        composer.edit_submitted.connect(self._on_submitted)
        sessions.shown.connect(self._on_session_shown)
        sessions.conversation_stored.connect(self._load)
        # A refusal by the endpoint may have shown what the model accepts.
        sessions.answered.connect(self.check)
        choice.chosen.connect(self.check)
        bridge.hear(ExaminationChanged, self._on_examination_changed)

    @Slot()
    def check(self) -> None:
        """Check again that the model accepts the attachments."""
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
        """Show an image, or the text of a file."""
        if attachment.kind is AttachmentKind.IMAGE:
            self._bridge.run(
                self,
                lambda: self._chat.attachments.image(attachment),
                lambda image: ImageView(attachment.name, image, self._page).open(),
            )
        elif attachment.has_text:
            self._opener.read(DocumentSpan(attachment.document_id))

    # --- current conversation --------------------------------------------------------------------

    @property
    def _files(self) -> AttachedFiles:
        """The files of the current session, which owns them."""
        session = self._sessions.current
        return next(iter(session.findChildren(AttachedFiles)), None) or self._begin(session)

    def _begin(self, session: ChatSession) -> AttachedFiles:
        files = AttachedFiles(self._bridge, self._library, self._chat, session)
        files.changed.connect(self._on_changed)
        session.destroyed.connect(files.stop)
        # No question is sent before the stored attachments are loaded.
        files.is_loaded = not session.conversation_id
        return files

    @Slot(object)
    def _on_session_shown(self, session: ChatSession) -> None:
        # A delayed question was for another conversation.
        self._composer.cancel_delayed_send()
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
        session = files.parent()
        assert isinstance(session, ChatSession)
        # The session stays open while files are being read.
        session.is_reading = files.is_reading
        conversation_id = session.conversation_id
        if conversation_id and files.is_loaded and files.ready != files.stored:
            files.stored = files.ready
            # The last call to run stores the current state.
            self._bridge.run(
                files, lambda: self._chat.attachments.set(conversation_id, files.ready)
            )
        if files is self._files:
            self._show()

    def _show(self) -> None:
        files = self._files
        self._composer.show_attachments(files.files, files.ready)
        self._composer.set_attachments_pending(is_pending=not files.is_settled)
        self.check()

    def _show_refusal(self, files: AttachedFiles, error: AppError | None) -> None:
        if files is self._files:
            self._composer.show_refusal(error)

    # --- actions of the person -------------------------------------------------------------------

    @Slot(object)
    def _on_files_added(self, paths: Sequence[Path]) -> None:
        self._files.add_files(paths)

    @Slot(object)
    def _on_image_pasted(self, image: QImage) -> None:
        self._files.add_image(image)

    @Slot(int)
    def _on_removal_requested(self, key: int) -> None:
        self._files.remove(key)

    @Slot()
    def _on_attach_requested(self) -> None:
        choose_files(
            self._page,
            tr("Attach files to this chat"),
            lambda names: self._files.add_files(map(Path, names)),
            name="attachDialog",
        )

    @Slot()
    def _on_submitted(self) -> None:
        self._files.drop_failed()

    def _on_examination_changed(self, event: ExaminationChanged) -> None:
        if not event.is_running:
            self.check()
