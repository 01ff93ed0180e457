-- The number of the newest event when a trigger began to listen: what was recorded before begins no runs, however late it is heard
-- (product/automation). Triggers from before take all that is heard.
ALTER TABLE automation_trigger ADD COLUMN since_event BIGINT NOT NULL DEFAULT 0;
