-- Whether a user has attached the file; other uses are files that agents have written.
ALTER TABLE file_uses ADD COLUMN is_attached INTEGER NOT NULL DEFAULT 1;
