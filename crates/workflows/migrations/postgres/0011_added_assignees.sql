-- When an administrator has added them; NULL for those whom the workflow names.
ALTER TABLE workflow_task_assignees ADD COLUMN added_at BIGINT;
