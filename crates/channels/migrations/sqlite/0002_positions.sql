-- Where reading the messages of a bot goes on, as JSON of its messenger: in Discord, the session of its Gateway.
ALTER TABLE channel_bots ADD COLUMN position TEXT;
