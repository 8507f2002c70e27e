"""Progress of indexing in words, for the window, the tray and the command line. Pure.

Counts are of the files in the present step. The percentage is of all steps together, and says so,
as both stand side by side.
"""

from desktop_rag.core.language.translation import tr, translated
from desktop_rag.core.library_events import IndexProgress, Stage, StepProgress
from desktop_rag.core.pictures import PictureHold, WaitingPictures
from desktop_rag.core.setting_text import marked

# Constants are only marked: a terminal that asks the app of the window is answered in English.
_MINUTE_S = 60
_HOUR_S = 3600
_HEADLINES = {
    Stage.STARTING: marked("Opening the library"),
    Stage.SCANNING: marked("Looking for changes"),
    Stage.READING: marked("Reading files"),
    Stage.EMBEDDING: marked("Searchable by words. Preparing search by meaning"),
    Stage.REFINING: marked("Searchable. Refining long passages"),
    Stage.PICTURES: marked("Searchable. Reading pictures and scanned pages"),
    Stage.PAUSED: marked("Indexing is paused"),
}
_STEPS = {
    Stage.READING: marked("Reading"), Stage.EMBEDDING: marked("Search by meaning"),
    Stage.REFINING: marked("Long passages"), Stage.PICTURES: marked("Pictures"),
}  # fmt: skip
# As they stand within a line.
_LATER = {
    Stage.READING: marked("reading files"), Stage.EMBEDDING: marked("search by meaning"),
    Stage.REFINING: marked("long passages"), Stage.PICTURES: marked("pictures"),
}  # fmt: skip


def headline(progress: IndexProgress) -> str:
    """The present step: `Reading files`."""
    if progress.stage is Stage.IDLE:
        return tr("Up to date") if progress.files_total else tr("No documents yet")
    return translated(_HEADLINES[progress.stage])


def progress_line(progress: IndexProgress) -> str:
    """`Reading files · 412 of 1,998 files · about 2 min left · then long passages, about 9 min`.

    Without the name of the file, which is untrusted text.
    """
    files = progress.files_total
    if progress.stage is Stage.IDLE:
        words = _at_rest(progress) if files else headline(progress)
        return " · ".join(filter(None, [words, pictures_wait(progress.pictures)]))
    parts = [headline(progress)]
    if progress.stage is Stage.SCANNING and files:
        parts.append(_files(files))
    if step := progress.step:
        parts.append(_count(step))
        if progress.stage is not Stage.PAUSED:
            parts.append(_times(progress, step))
    return " · ".join(part for part in parts if part)


def steps_in_words(progress: IndexProgress) -> list[str]:
    """Each step of the run with its count or its time, in order: `Reading: 2 of 9 files`."""
    return [_step(step, progress.step) for step in progress.steps]


def overall_percent(progress: IndexProgress) -> str:
    """`43.7% overall`: the share of all steps."""
    return tr("{percent} overall", percent=percent(progress.fraction))


def percent(fraction: float) -> str:
    """`43.7%`, rounded down so that unfinished work never shows 100%."""
    thousandths = int(max(0.0, min(1.0, fraction)) * 1000)
    return f"{thousandths / 10:.1f}%"


def duration_left(seconds: float | None) -> str:
    """`about 2 min left`, or "" while unknown."""
    return "" if seconds is None else tr("{duration} left", duration=_duration(seconds))


def _step(step: StepProgress, now: StepProgress | None) -> str:
    name, count = translated(_STEPS[step.stage]), _count(step)
    if step.is_done:
        return f"{name}: {count or tr('done')}"
    if step is now and count:
        return f"{name}: {count}"
    time = _duration(step.seconds_left)
    return f"{name}: {time}" if time else name


def _times(progress: IndexProgress, now: StepProgress) -> str:
    """The time of the present step and of later ones, as far as they are known."""
    if progress.seconds_left is not None and progress.seconds_left < _MINUTE_S:
        return duration_left(progress.seconds_left)
    later = [step for step in progress.steps if not step.is_done and step is not now]
    return " · ".join(filter(None, [duration_left(now.seconds_left), *map(_then, later)]))


def _then(step: StepProgress) -> str:
    name, duration = translated(_LATER[step.stage]), _duration(step.seconds_left)
    if not duration:
        return tr("then {step}", step=name)
    return tr("then {step}, {duration}", step=name, duration=duration)


def _count(step: StepProgress) -> str:
    if not step.files_total:
        return ""
    is_pictures = step.stage is Stage.PICTURES
    total = pictures_in_words(step.files_total) if is_pictures else _files(step.files_total)
    return tr("{files_done:,} of {files}", files_done=step.files_done, files=total)


def pictures_left(waiting: WaitingPictures) -> str:
    """`Pictures and scanned pages are read last: 340 pictures, about 17 min`."""
    return tr(
        "Pictures and scanned pages are read last: {pictures}, {duration}",
        pictures=pictures_in_words(waiting.count), duration=_duration(waiting.seconds),
    )  # fmt: skip


def pictures_wait(waiting: WaitingPictures) -> str:
    """`1,200 pictures not read yet, about 2 h`; "" unless something holds them up."""
    if waiting.hold is PictureHold.NONE:
        return ""
    words = {"pictures": pictures_in_words(waiting.count), "duration": _duration(waiting.seconds)}
    if waiting.hold is PictureHold.PAUSED:
        return tr("{pictures} not read yet, {duration}: paused", **words)
    return tr("{pictures} not read yet, {duration}", **words)


def pictures_question(waiting: WaitingPictures) -> str:
    """`Read 1,200 pictures and scanned pages? That takes about 2 h.`"""
    return tr(
        "Read {count:,} pictures and scanned pages? That takes {duration}.",
        count=waiting.count, duration=_duration(waiting.seconds),
    )  # fmt: skip


def pictures_in_words(count: int) -> str:
    """`1 picture`, `1,200 pictures`."""
    return tr("1 picture") if count == 1 else tr("{count:,} pictures", count=count)


def _at_rest(progress: IndexProgress) -> str:
    files, unread = _files(progress.files_total), progress.files_unread
    if unread:
        return tr("{files}, {unread:,} not read", files=files, unread=unread)
    return tr("{files}, up to date", files=files)


def _files(count: int) -> str:
    return tr("1 file") if count == 1 else tr("{count:,} files", count=count)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < _MINUTE_S:
        return tr("less than a minute")
    if seconds < _HOUR_S:
        return tr("about {value} min", value=round(seconds / _MINUTE_S))
    hours, minutes = divmod(round(seconds / _MINUTE_S), 60)
    if minutes:
        return tr("about {hours} h {minutes} min", hours=hours, minutes=minutes)
    return tr("about {hours} h", hours=hours)
