-- Why a run ended, more exactly than its status (wire::EndReason). NULL while it runs, and for those that ended before this version.
ALTER TABLE runs ADD COLUMN reason TEXT;
-- Why another server was asked to stop it.
ALTER TABLE runs ADD COLUMN stop_reason TEXT;
-- The same of a program's question.
ALTER TABLE invocations ADD COLUMN reason TEXT;
