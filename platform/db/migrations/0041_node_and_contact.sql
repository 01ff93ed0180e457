-- Which node made the last attempt at an email (product/email).
ALTER TABLE email ADD COLUMN sending_node_id TEXT;

-- Whoever is erased is looked for in all runs of automations (product/automation).
CREATE INDEX automation_run_contact ON automation_run (workspace_id, contact_id) WHERE contact_id IS NOT NULL;
