-- The mail server a workspace hands its mail to instead of delivering it directly (product/relay).
CREATE TABLE relay (
    workspace_id {id} PRIMARY KEY,
    host         TEXT NOT NULL,
    port         BIGINT NOT NULL,
    security     TEXT NOT NULL,
    username     TEXT NOT NULL,
    password     {blob} NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
