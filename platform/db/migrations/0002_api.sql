-- Results of requests that named an idempotency key (platform/api).
CREATE TABLE api_idempotency (
    workspace_id {id} NOT NULL,
    operation    TEXT NOT NULL,
    key          TEXT NOT NULL,
    hash         TEXT NOT NULL,
    result       TEXT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, operation, key)
);
CREATE INDEX api_idempotency_expiry ON api_idempotency (expires_at);
