-- The newest row is the last of an index and not its first: SQLite appends to a page until it is full, where it would halve the first page
-- over and over. Read backwards, it is the same order.
--
-- Of indexes that are as good as each other SQLite takes the one that was made last, so those of few rows come after those of all.
DROP INDEX email_newest;
DROP INDEX email_unusual;
DROP INDEX email_broadcast;
CREATE INDEX email_newest ON email (workspace_id, created_at, id);
CREATE INDEX email_unusual ON email (workspace_id, created_at, id)
WHERE status IN ('scheduled', 'bounced', 'complained', 'failed', 'suppressed', 'cancelled');
CREATE INDEX email_broadcast ON email (workspace_id, broadcast_id, created_at, id) WHERE broadcast_id IS NOT NULL;

DROP INDEX webhook_delivery_newest;
DROP INDEX webhook_delivery_webhook;
DROP INDEX webhook_delivery_failed;
CREATE INDEX webhook_delivery_newest ON webhook_delivery (workspace_id, created_at, id);
CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_failed ON webhook_delivery (workspace_id, created_at, id) WHERE failed_at IS NOT NULL;

DROP INDEX inbound_received_newest;
CREATE INDEX inbound_received_newest ON inbound_received (workspace_id, created_at, id);
