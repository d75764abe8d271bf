-- The next owner of whom a job of a kind is due, and the first job of an owner: if more jobs are due than can run, owners
-- take turns. Jobs of the server have no owner.
CREATE INDEX jobs_of_turns ON jobs (kind, coalesce(owner, ''), due_at, id) WHERE state = 'waiting';
