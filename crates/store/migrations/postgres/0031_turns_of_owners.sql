-- Owners take turns; see migrations/sqlite.
CREATE INDEX jobs_of_turns ON jobs (kind, coalesce(owner, ''), due_at, id) WHERE state = 'waiting';
