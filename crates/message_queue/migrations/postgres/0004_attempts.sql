-- How often the server could not send the message for the moment.
ALTER TABLE queued_messages ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
-- The server does not try it again before this time. This and the next one are Unix times in milliseconds.
ALTER TABLE queued_messages ADD COLUMN retry_at BIGINT NOT NULL DEFAULT 0;
-- A server is sending the message. It can be neither changed nor removed before this time, or before that has ended.
ALTER TABLE queued_messages ADD COLUMN sending_until BIGINT NOT NULL DEFAULT 0;
