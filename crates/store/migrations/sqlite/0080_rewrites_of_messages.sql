-- How often a message that others follow was changed. As long as it is the same, so is what was read of a branch before its
-- newest message.
ALTER TABLE conversations ADD COLUMN rewrites INTEGER NOT NULL DEFAULT 0;
