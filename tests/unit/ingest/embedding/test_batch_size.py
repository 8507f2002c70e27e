from desktop_rag.ingest.embedding.embedding_queue import BatchSize


def test_batches_get_smaller_while_they_take_long_and_never_none() -> None:
    size = BatchSize()
    sizes = [size.now]
    for _ in range(6):
        size.took(0.5)
        sizes.append(size.now)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_batches_get_larger_while_they_are_quick_up_to_a_limit() -> None:
    size = BatchSize()
    for _ in range(20):
        size.took(0.001)
    most = size.now
    size.took(0.05)
    assert size.now == most > BatchSize().now
