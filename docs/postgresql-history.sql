-- Three roles of PostgreSQL for a history of audits: none that can log in can change a record.
--
-- owner   owns the schema, the tables, and the triggers that protect the rows; it cannot log in
-- writer  for `audit run` and other commands that add records: it may select and insert, and nothing else
-- reader  for `audit verify`, `site`, `status`, `history` and `export`: it may select, and nothing else
--
-- Run this with psql as a superuser of the server, before the first audit or on an existing history, whose
-- rows stay; and again when a new version of scorereport needs other tables:
--
--     psql -d audits -v owner=history_owner -v writer=history_writer -v reader=history_reader \
--         -v schema=history -f postgresql-history.sql
--     psql -d audits -c '\password history_writer' -c '\password history_reader'
--
-- schema  the schema of the history; if `audit run` created the tables, it is usually public
--
-- A role that exists gets its attributes and rights anew. For another writer or reader, for example of a
-- second machine, run the script once more with its name: earlier ones keep their rights to select and to
-- insert. Rights to change or remove rows are taken from every role but the owner. Two rights that every role
-- has by default are taken from all of them: to create temporary tables in this database, and to create
-- tables in the schema.
--
-- `make docs` writes this file from the declarations of scorereport.history.database_schema.

\set ON_ERROR_STOP on

BEGIN;

-- Names are looked up in the system's own schema first and only, whatever the database contains.
SET LOCAL search_path = pg_catalog;

-- No run of an audit creates or migrates the tables at the same time.
SELECT pg_advisory_xact_lock(7365317233) AS lock \gset

SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END', message))
FROM (
    SELECT 'owner, writer and reader must be three roles'
    WHERE :'owner' = :'writer' OR :'owner' = :'reader' OR :'writer' = :'reader'
    UNION ALL
    SELECT format('the role %I is a superuser: name another role, which may be a new one', rolname)
    FROM pg_roles WHERE rolsuper AND rolname IN (:'owner', :'writer', :'reader')
    UNION ALL
    SELECT format('the role %I can log in: the owner must be a new role, or one that cannot', rolname)
    FROM pg_roles WHERE rolcanlogin AND rolname = :'owner'
) AS refusal (message) \gexec

-- The schema has no history yet, or tables with exactly these columns.
CREATE TEMPORARY TABLE history_tables (name, columns) ON COMMIT DROP AS VALUES
    ('audits', 'id, audit, period, kind, attempt, status, finished, previous, sha256, body'),
    ('documents', 'sha256, checksum, content'),
    ('schema_versions', 'version, step');

SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END', message))
FROM (
    SELECT format('the table %I.%I is not that of a history', :'schema', name)
    FROM (
        SELECT history_tables.name, history_tables.columns, relkind, (
            SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped) AS found,
            count(relname) OVER () AS present
        FROM pg_temp.history_tables
        LEFT JOIN pg_class ON relname = history_tables.name
            AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :'schema')
    ) AS compared
    WHERE present > 0 AND (relkind, found) IS DISTINCT FROM ('r', columns)
) AS refusal (message) \gexec

SELECT to_regclass(format('%I.schema_versions', :'schema')) IS NULL AS is_new \gset
\set version 0
\if :is_new
\else
SELECT coalesce(max(version), 0) AS version FROM :"schema".schema_versions \gset
\endif

SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END',
    'the history was written by a newer scorereport: use its script'))
WHERE :version > 2 \gexec

-- Roles

SELECT format('CREATE ROLE %I', name)
FROM (VALUES (:'owner'), (:'writer'), (:'reader')) AS wanted (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE :"owner" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
ALTER ROLE :"writer" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT;
ALTER ROLE :"reader" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT;

-- No role that they belong to lends them more rights.
SELECT format('REVOKE %I FROM %I', granted.rolname, member.rolname)
FROM pg_auth_members AS membership
JOIN pg_roles AS granted ON granted.oid = membership.roleid
JOIN pg_roles AS member ON member.oid = membership.member
WHERE member.rolname IN (:'owner', :'writer', :'reader') \gexec

-- A session begins with these settings and can change them; the rights below cannot be changed by it.
ALTER ROLE :"writer" RESET ALL;
ALTER ROLE :"writer" IN DATABASE :"DBNAME" RESET ALL;
ALTER ROLE :"writer" IN DATABASE :"DBNAME" SET search_path = :"schema";
ALTER ROLE :"reader" RESET ALL;
ALTER ROLE :"reader" IN DATABASE :"DBNAME" RESET ALL;
ALTER ROLE :"reader" IN DATABASE :"DBNAME" SET search_path = :"schema";
ALTER ROLE :"reader" SET default_transaction_read_only = on;
ALTER ROLE :"reader" SET statement_timeout = '1h';
ALTER ROLE :"reader" SET idle_in_transaction_session_timeout = '1h';

-- Owners: that of a schema may drop the tables in it, that of a database may drop the database.

SELECT format('ALTER DATABASE %I OWNER TO %I', datname, :'owner')
FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba
WHERE datname = current_database() AND rolname IN (:'writer', :'reader') \gexec

SELECT format('CREATE SCHEMA %I', :'schema')
WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = :'schema') \gexec

ALTER SCHEMA :"schema" OWNER TO :"owner";

SELECT format('ALTER TABLE %I.%I OWNER TO %I', :'schema', name, :'owner')
FROM pg_temp.history_tables WHERE NOT :'is_new' \gexec

SELECT format('ALTER FUNCTION %I.%I() OWNER TO %I', :'schema', proname, :'owner')
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
WHERE nspname = :'schema' AND proname = 'scorereport_refuse' AND pronargs = 0 \gexec

-- Tables and triggers: each step that the history does not have yet, as `audit run` would take it.

SET LOCAL ROLE :"owner";
SET LOCAL search_path = :"schema";

SELECT :version < 1 AS is_missing \gset
\if :is_missing
CREATE TABLE audits (
    id INTEGER NOT NULL,
    audit TEXT NOT NULL,
    period TEXT NOT NULL,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    finished TEXT NOT NULL,
    previous TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (audit, period, kind, attempt),
    UNIQUE (sha256)
);
CREATE INDEX audits_by_name ON audits (audit, id);
CREATE TABLE documents (
    sha256 TEXT NOT NULL,
    checksum TEXT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (sha256)
);
CREATE TABLE schema_versions (
    version INTEGER NOT NULL,
    step TEXT NOT NULL,
    PRIMARY KEY (version)
);
INSERT INTO schema_versions (version, step) VALUES (1, 'create tables');
\endif

SELECT :version < 2 AS is_missing \gset
\if :is_missing
CREATE FUNCTION scorereport_refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''rows of a history cannot be changed or removed''; END';
CREATE TRIGGER audits_not_changed BEFORE UPDATE OR DELETE ON audits
    FOR EACH ROW EXECUTE FUNCTION scorereport_refuse();
CREATE TRIGGER audits_not_emptied BEFORE TRUNCATE ON audits
    FOR EACH STATEMENT EXECUTE FUNCTION scorereport_refuse();
CREATE TRIGGER documents_not_changed BEFORE UPDATE OR DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION scorereport_refuse();
CREATE TRIGGER documents_not_emptied BEFORE TRUNCATE ON documents
    FOR EACH STATEMENT EXECUTE FUNCTION scorereport_refuse();
INSERT INTO schema_versions (version, step) VALUES (2, 'guard rows');
\endif

RESET ROLE;
SET LOCAL search_path = pg_catalog;

-- Rights

REVOKE TEMPORARY ON DATABASE :"DBNAME" FROM PUBLIC;
REVOKE ALL ON DATABASE :"DBNAME" FROM :"writer", :"reader";
REVOKE CREATE ON SCHEMA :"schema" FROM PUBLIC;
REVOKE ALL ON SCHEMA :"schema" FROM :"writer", :"reader" CASCADE;

SELECT DISTINCT format('REVOKE %sUPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %I.%I FROM %s CASCADE',
    CASE relname WHEN 'schema_versions' THEN 'INSERT, ' ELSE '' END, :'schema', relname,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
FROM pg_temp.history_tables
JOIN pg_class ON pg_class.oid = to_regclass(format('%I.%I', :'schema', history_tables.name))
CROSS JOIN LATERAL (
    SELECT grantee FROM aclexplode(relacl)
    UNION SELECT rights.grantee FROM pg_attribute, aclexplode(attacl) AS rights WHERE attrelid = pg_class.oid
) AS granted
WHERE grantee <> relowner \gexec

REVOKE ALL ON :"schema".audits, :"schema".documents, :"schema".schema_versions
FROM PUBLIC, :"writer", :"reader" CASCADE;

GRANT CONNECT ON DATABASE :"DBNAME" TO :"writer", :"reader";
GRANT USAGE ON SCHEMA :"schema" TO :"writer", :"reader";
GRANT SELECT ON :"schema".audits, :"schema".documents, :"schema".schema_versions
TO :"writer", :"reader";
GRANT INSERT ON :"schema".audits, :"schema".documents TO :"writer";

-- Nothing is left by which writer or reader could do more: no membership, and no object of their own.
SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END', message))
FROM (
    SELECT format('the role %I is a member of the role %I, granted by %I: revoke this first',
        pg_get_userbyid(member), pg_get_userbyid(roleid), pg_get_userbyid(grantor))
    FROM pg_auth_members WHERE pg_get_userbyid(member) IN (:'owner', :'writer', :'reader')
    UNION ALL
    SELECT format('the role %I owns %s: give this to another role, or name another role for the history',
        pg_get_userbyid(refobjid), pg_describe_object(classid, objid, objsubid))
    FROM pg_shdepend
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND deptype = 'o'
        AND refclassid = 'pg_authid'::regclass AND pg_get_userbyid(refobjid) IN (:'writer', :'reader')
) AS refusal (message) \gexec

COMMIT;
