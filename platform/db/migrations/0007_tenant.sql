-- Managed customers of a workspace (product/tenant). search holds, in lower case, what a list is searched by.
CREATE TABLE tenant (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    external_id  TEXT NOT NULL,
    name         TEXT NOT NULL,
    search       TEXT NOT NULL,
    status       TEXT NOT NULL,
    provider     TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    pause_reason TEXT,
    paused_at    BIGINT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX tenant_external ON tenant (workspace_id, external_id);
-- With what is searched in, so that a search need not look at the rows.
CREATE INDEX tenant_newest ON tenant (workspace_id, created_at DESC, id DESC, search);
CREATE INDEX tenant_status ON tenant (workspace_id, status, created_at DESC, id DESC);

-- How many customers a workspace has: the limit of the plan is a condition on this row, and a list need not count them.
CREATE TABLE tenant_total (
    workspace_id {id} PRIMARY KEY,
    tenants      BIGINT NOT NULL
);

-- What was sent for a customer: emails in the month that starts at month, and when the last one was.
CREATE TABLE tenant_usage (
    workspace_id {id} NOT NULL,
    tenant_id    {id} NOT NULL,
    month        BIGINT NOT NULL,
    emails       BIGINT NOT NULL,
    last_sent_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, tenant_id)
);
