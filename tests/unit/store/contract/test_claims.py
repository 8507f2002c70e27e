from desktop_rag.store.contract.engine import Engine


def test_what_nobody_else_reads_is_granted_as_often_as_asked(engine: Engine) -> None:
    claims = engine.documents.claims
    assert claims.take([]) == []
    assert claims.take(["b", "a"]) == ["b", "a"]
    assert claims.take(["a", "c"]) == ["a", "c"]
    claims.release(["a", "b", "c", "unknown"])
    assert claims.take(["b"]) == ["b"]
    claims.release(["b"])
