"""Rights of roles that log in themselves and may read a part of the library.

An administrator gives them with `let_read(role, names of collections)`. Such a role is a member of
the reader, so that every policy for that one holds for it; but which collections it may read is a
row of a table, never a setting of its session. Of the index of words it sees what is in its own
passages: neither the blocks of postings, which hold those of others too, nor a word that occurs
only elsewhere.
"""

from desktop_rag.store.postgres.database.rights import READER
from desktop_rag.store.postgres.database.server_connection import Own

_TABLES = (
    """CREATE TABLE role_collections (role name, collection_id text COLLATE pg_catalog."pg_c_utf8",
        PRIMARY KEY (role, collection_id))""",
    # The role behind the login can't be changed by SET ROLE; the owner's is that of a server.
    """CREATE FUNCTION is_of_server() RETURNS boolean STABLE LANGUAGE sql RETURN
        pg_has_role(session_user, (SELECT relowner FROM pg_class
            WHERE oid = 'library_state'::regclass), 'MEMBER')""",
)
_FUNCTIONS = (
    """CREATE OR REPLACE FUNCTION readable_collections() RETURNS text[] STABLE SECURITY DEFINER
        LANGUAGE sql SET search_path FROM CURRENT AS $$
        SELECT CASE WHEN is_of_server() THEN named('desktop_rag.collections') ELSE
            ARRAY(SELECT collection_id FROM role_collections WHERE role = session_user) END $$""",
    """CREATE OR REPLACE FUNCTION readable_documents() RETURNS text[] STABLE SECURITY DEFINER
        LANGUAGE sql SET search_path FROM CURRENT AS $$
        SELECT coalesce(array_agg(document_id), '{}') FROM documents d
        JOIN sources s USING (source_id)
        WHERE document_id = ANY (CASE WHEN is_of_server() THEN named('desktop_rag.documents')
            ELSE '{}' END) AND NOT s.is_attached $$""",
    # For a role with policies of its own, the chunks of the documents that those show.
    f"""CREATE FUNCTION visible_chunks() RETURNS int8multirange STABLE LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$ BEGIN
        IF pg_has_role(current_user, '{READER}', 'USAGE') THEN RETURN readable_chunks(); END IF;
        RETURN (SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{{}}')
            FROM document_texts t JOIN documents d USING (document_id)
            WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'); END $$""",
    """CREATE FUNCTION let_read(who name, VARIADIC names text[] DEFAULT '{}') RETURNS void
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE unknown text; BEGIN
        SELECT n INTO unknown FROM unnest(names) AS n
            WHERE NOT n COLLATE "C" IN (SELECT c.name FROM collections c);
        IF unknown IS NOT NULL THEN
            RAISE EXCEPTION 'there is no collection “%”', unknown; END IF;
        EXECUTE format('GRANT %I TO %I WITH INHERIT TRUE, SET FALSE', '%READER%', who);
        DELETE FROM role_collections WHERE role = who;
        INSERT INTO role_collections SELECT who, c.collection_id FROM collections c
            WHERE c.name = ANY (names COLLATE "C");
        UPDATE library_state SET changes = changes + 1; END $$""".replace("%READER%", READER),
    "REVOKE EXECUTE ON FUNCTION let_read FROM PUBLIC",
)
_POSTINGS = """CREATE OR REPLACE VIEW postings WITH (security_barrier) AS
    SELECT b.key, b.first_chunk + (p.packed >> 32) AS chunk_id,
        ((p.packed >> 16) & 65535)::integer AS tf, (p.packed & 65535)::integer AS term_count
    FROM posting_blocks b, unnest(b.packed) AS p(packed)
    WHERE CASE WHEN (SELECT row_security_active('chunks'::regclass::oid))
    THEN int8range(b.first_chunk, b.last_chunk, '[]') && (SELECT visible_chunks())
        AND b.first_chunk + (p.packed >> 32) <@ (SELECT visible_chunks())
    ELSE NOT b.first_chunk + (p.packed >> 32) <@ (SELECT coalesce(
        range_agg(int8range(first_chunk, last_chunk, '[]')), '{}') FROM dead_chunks) END"""
_POLICIES = (
    f"GRANT SELECT ON migrations TO {READER}",
    # Without a policy, a role under row-level security sees no row, whatever it was granted.
    "ALTER TABLE posting_blocks ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE dead_chunks ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE role_collections ENABLE ROW LEVEL SECURITY",
    # Restrictive: it holds beside policies that show all. A server asks for words it looked up.
    """CREATE POLICY occurring ON terms AS RESTRICTIVE FOR SELECT USING ((SELECT is_of_server())
        OR EXISTS (SELECT 1 FROM postings p WHERE p.key = terms.key))""",
)


def create_role_rights(connection: Own) -> None:
    """Create what gives roles rights, and hide from them what they may not read."""
    for statement in (*_TABLES, *_FUNCTIONS, _POSTINGS, *_POLICIES):
        connection.execute(statement.encode())
