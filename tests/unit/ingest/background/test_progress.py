from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.ingest.background.progress import ProgressMeter


def test_a_run_from_the_first_file_to_the_last_vector() -> None:
    meter = ProgressMeter(has_embedder=True)
    meter.add_files(2)
    meter.set_stage(Stage.READING)
    meter.start_file("a.md")
    assert meter.snapshot().current_file == "a.md"
    meter.finish_file()
    half_read = meter.snapshot().fraction
    meter.finish_file()
    meter.set_chunks(10, 0)
    meter.set_stage(Stage.EMBEDDING)
    all_read = meter.snapshot().fraction
    meter.add_embedded(5)
    half_embedded = meter.snapshot().fraction
    meter.add_embedded(5)
    assert 0 < half_read < all_read < half_embedded < meter.snapshot().fraction == 1.0
    assert meter.embedded_ever == 10


def test_rest_ends_the_run() -> None:
    meter = ProgressMeter(has_embedder=True)
    meter.add_files(1)
    meter.set_stage(Stage.READING)
    meter.finish_file()
    meter.end_run(7)
    assert meter.snapshot() == IndexProgress(files_total=7, files_read=7)
    meter.add_files(2)
    assert (meter.snapshot().files_read, meter.snapshot().files_total) == (0, 2)


def test_a_scan_that_finds_nothing_does_not_disturb_embedding() -> None:
    meter = ProgressMeter(has_embedder=True)
    meter.set_chunks(10, 4)
    meter.add_files(0)
    meter.set_stage(Stage.EMBEDDING)
    meter.add_embedded(1)
    progress = meter.snapshot()
    assert (progress.chunks_embedded, progress.chunks_total) == (5, 10)
    assert progress.fraction < 1.0


def test_files_that_go_away_no_longer_count() -> None:
    meter = ProgressMeter(has_embedder=False)
    meter.add_files(4)
    meter.set_stage(Stage.READING)
    meter.finish_file()
    meter.add_files(-3)
    assert meter.snapshot().files_total == 1
    assert meter.snapshot().fraction == 1.0


def test_without_an_embedder_reading_is_all() -> None:
    meter = ProgressMeter(has_embedder=False)
    meter.add_files(4)
    meter.set_stage(Stage.READING)
    meter.finish_file()
    assert meter.snapshot().fraction == 0.25
