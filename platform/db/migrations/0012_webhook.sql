-- A customer's server that is told of events (product/webhook). Secrets and custom headers are sealed.
CREATE TABLE webhook (
    id                  {id} PRIMARY KEY,
    workspace_id        {id} NOT NULL,
    url                 TEXT NOT NULL,
    events              TEXT NOT NULL,
    description         TEXT,
    domain_ids          TEXT NOT NULL,
    tenant_ids          TEXT NOT NULL,
    include_body        BOOLEAN NOT NULL,
    custom_headers      {blob} NOT NULL,
    secret              {blob} NOT NULL,
    secret_prefix       TEXT NOT NULL,
    previous_secret     {blob},
    previous_expires_at BIGINT,
    status              TEXT NOT NULL,
    disabled_reason     TEXT,
    failures            BIGINT NOT NULL DEFAULT 0,
    first_failure_at    BIGINT,
    warned_at           BIGINT,
    last_delivery_at    BIGINT,
    last_status_code    BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL
);
CREATE INDEX webhook_newest ON webhook (workspace_id, created_at DESC, id DESC);

-- How many webhooks a workspace has: the limit of the plan is a condition on this row.
CREATE TABLE webhook_total (
    workspace_id {id} PRIMARY KEY,
    webhooks     BIGINT NOT NULL
);

-- What is posted about an event: the same bytes to every endpoint, at every attempt. Kept apart, so that a change of a
-- delivery does not rewrite it.
CREATE TABLE webhook_payload (
    event_id     {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    body         TEXT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX webhook_payload_expired ON webhook_payload (expires_at);

-- One event for one webhook. due_at is set while it waits for an attempt, failed_at once it has ended without success.
CREATE TABLE webhook_delivery (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    webhook_id   {id} NOT NULL,
    event_id     {id} NOT NULL,
    event_type   TEXT NOT NULL,
    url          TEXT NOT NULL,
    status       TEXT NOT NULL,
    test         BOOLEAN NOT NULL,
    replay_of    {id},
    attempts     BIGINT NOT NULL,
    max_attempts BIGINT NOT NULL,
    due_at       BIGINT,
    created_at   BIGINT NOT NULL,
    delivered_at BIGINT,
    failed_at    BIGINT
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, status, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_delivery_newest ON webhook_delivery (workspace_id, created_at DESC, id DESC);
CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook_id, created_at DESC, id DESC);
CREATE INDEX webhook_delivery_failed ON webhook_delivery (workspace_id, created_at DESC, id DESC) WHERE failed_at IS NOT NULL;
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);

-- One POST, append-only.
CREATE TABLE webhook_attempt (
    delivery_id  {id} NOT NULL,
    number       BIGINT NOT NULL,
    workspace_id {id} NOT NULL,
    started_at   BIGINT NOT NULL,
    duration_us  BIGINT NOT NULL,
    status_code  BIGINT,
    error        TEXT,
    details      TEXT NOT NULL,
    PRIMARY KEY (delivery_id, number)
);
