-- Whoever has bounces or complaints, and how far they were slowed for it (product/guard). The subject is a managed customer, or the
-- workspace itself under its own id.
CREATE TABLE guard (
    subject_id   {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    step         TEXT NOT NULL,
    hourly       BIGINT NOT NULL,
    judged_from  BIGINT,
    stepped_at   BIGINT,
    heard_at     BIGINT NOT NULL,
    due_at       BIGINT NOT NULL
);
CREATE INDEX guard_due ON guard (due_at);
CREATE INDEX guard_throttled ON guard (subject_id, hourly) WHERE step = 'throttled';
CREATE INDEX guard_held ON guard (workspace_id, subject_id) WHERE step <> 'clear';

-- What a node has found out about how its addresses stand with receivers, since when it takes no more mail, and whether it takes
-- mail from other servers (product/node).
ALTER TABLE node ADD COLUMN standing TEXT NOT NULL DEFAULT '{}';
ALTER TABLE node ADD COLUMN draining_at BIGINT;
ALTER TABLE node ADD COLUMN receives BOOLEAN NOT NULL DEFAULT FALSE;
