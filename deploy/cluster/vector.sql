-- Run once, by the superuser, when the database is made: an application's own role may not be allowed to.
CREATE EXTENSION IF NOT EXISTS vector;
