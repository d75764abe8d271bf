-- Why a run ended; see migrations/sqlite.
ALTER TABLE runs ADD COLUMN reason TEXT COLLATE "C";
ALTER TABLE runs ADD COLUMN stop_reason TEXT COLLATE "C";
ALTER TABLE invocations ADD COLUMN reason TEXT COLLATE "C";
