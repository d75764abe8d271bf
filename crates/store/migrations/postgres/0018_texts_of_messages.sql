-- The number of a change of SQLite's triggers; what PostgreSQL does instead stays as it is.
SELECT 1;
