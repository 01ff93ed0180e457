-- Accounts at DNS providers that a workspace has connected (product/dnsprovider). The token is sealed; its end is kept for people.
CREATE TABLE dnsprovider_connection (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    provider     TEXT NOT NULL,
    name         TEXT NOT NULL,
    token        {blob} NOT NULL,
    token_end    TEXT NOT NULL,
    created_by   {id},
    created_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX dnsprovider_connection_name ON dnsprovider_connection (workspace_id, name);
CREATE INDEX dnsprovider_connection_newest ON dnsprovider_connection (workspace_id, created_at DESC, id DESC);
