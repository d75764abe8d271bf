-- How many codes of the app were wrong since one was accepted. Every code counts before it is checked.
ALTER TABLE second_factors ADD COLUMN wrong_codes BIGINT NOT NULL DEFAULT 0;
