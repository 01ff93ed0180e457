-- How often all runs of an automation were stopped. A run that began before the last time, by what its trigger or itself says, does not go on
-- (product/automation).
ALTER TABLE automation ADD COLUMN stops BIGINT NOT NULL DEFAULT 0;
ALTER TABLE automation_trigger ADD COLUMN stops BIGINT NOT NULL DEFAULT 0;
ALTER TABLE automation_run ADD COLUMN stops BIGINT NOT NULL DEFAULT 0;
