-- Durable work with due times (platform/queue). A row is free, or leased to an owner until a moment.
CREATE TABLE queue_item (
    id          {id} PRIMARY KEY,
    lane        TEXT NOT NULL,
    rank        BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    claims      BIGINT NOT NULL DEFAULT 0,
    fence       BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    payload     TEXT NOT NULL
);
CREATE INDEX queue_item_due ON queue_item (lane, rank, due_at) WHERE lease_owner IS NULL;
CREATE INDEX queue_item_leased ON queue_item (lease_owner, lease_until) WHERE lease_owner IS NOT NULL;

-- Append-only record of what happened (platform/event). tx_id keeps followers behind commits that are still on their way.
CREATE TABLE event (
    seq          {seq},
    tx_id        {tx_id},
    id           {id} NOT NULL,
    workspace_id {id} NOT NULL,
    type         TEXT NOT NULL,
    subject_id   {id} NOT NULL,
    domain_id    {id},
    tenant_id    {id},
    recipient    TEXT,
    occurred_at  BIGINT NOT NULL,
    data         TEXT NOT NULL
);
CREATE INDEX event_order ON event (tx_id, seq);
CREATE INDEX event_subject ON event (subject_id, seq);

CREATE TABLE event_follower (
    name  TEXT PRIMARY KEY,
    tx_id BIGINT NOT NULL,
    seq   BIGINT NOT NULL
);
