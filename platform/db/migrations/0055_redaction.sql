-- How often facts were taken out of events, in one row. Each follower knows it of the time when it last looked: what it read before
-- it must not write (platform/event).
CREATE TABLE event_redaction (
    one        BIGINT PRIMARY KEY,
    redactions BIGINT NOT NULL
);
ALTER TABLE event_follower ADD COLUMN redactions BIGINT NOT NULL DEFAULT 0;
