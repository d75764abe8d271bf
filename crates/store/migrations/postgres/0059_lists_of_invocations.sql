-- The list of all users' invocations, newest first, with what each of them has cost.
CREATE INDEX invocations_of_all ON invocations (created_at DESC, id DESC);
CREATE INDEX steps_outside ON steps (run_id) WHERE conversation_id IS NULL;
