-- When a card was changed to show what became of its call, without buttons; NULL before that.
ALTER TABLE channel_cards ADD COLUMN closed_at INTEGER;
