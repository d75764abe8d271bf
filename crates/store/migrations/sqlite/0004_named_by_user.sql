-- A name that the user gave stays; hooks name only conversations that nobody named.
ALTER TABLE conversations ADD COLUMN named_by_user INTEGER NOT NULL DEFAULT 0;
