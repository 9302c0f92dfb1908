-- A role of PostgreSQL for audits: it can log in and select from the tables and views of one schema, and
-- nothing else. Run this once, with psql, as an administrator of the database that holds the rows:
--
--     psql -d loans -v reader=loans_auditor -v schema=risk -v owner=risk_owner -f postgresql-reader.sql
--     psql -d loans -c '\password loans_auditor'
--
-- reader  the role to create; if there is one of this name, its attributes and rights are set anew
-- schema  the schema whose tables and views it may read
-- owner   the role that creates tables in this schema: those it creates later can be read, too
--
-- Two rights that every role has by default are taken from all of them: to create temporary tables in this
-- database, and (before PostgreSQL 15) to create tables in the schema public. Grant them to the roles that
-- need them: GRANT TEMPORARY ON DATABASE loans TO application;

\set ON_ERROR_STOP on

BEGIN;

SELECT format('CREATE ROLE %I', :'reader')
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'reader') \gexec

ALTER ROLE :"reader" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT CONNECTION LIMIT 5;

-- No role that it belongs to lends it more rights.
SELECT format('REVOKE %I FROM %I', granted.rolname, :'reader')
FROM pg_catalog.pg_auth_members AS membership
JOIN pg_catalog.pg_roles AS granted ON granted.oid = membership.roleid
JOIN pg_catalog.pg_roles AS member ON member.oid = membership.member
WHERE member.rolname = :'reader' \gexec

-- A session begins with these settings and can change them; the rights below cannot be changed by it.
ALTER ROLE :"reader" SET default_transaction_read_only = on;
ALTER ROLE :"reader" SET statement_timeout = '1h';
ALTER ROLE :"reader" SET idle_in_transaction_session_timeout = '1h';
ALTER ROLE :"reader" SET lock_timeout = '1min';

REVOKE TEMPORARY ON DATABASE :"DBNAME" FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT CONNECT ON DATABASE :"DBNAME" TO :"reader";
GRANT USAGE ON SCHEMA :"schema" TO :"reader";
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO :"reader";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA :"schema" GRANT SELECT ON TABLES TO :"reader";

COMMIT;
