-- The headers that `_event` reads, as a JSON object; kept as long as the body, to deliver it again.
ALTER TABLE trigger_deliveries ADD COLUMN headers TEXT;
