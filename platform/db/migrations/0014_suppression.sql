-- Whom a workspace does not mail (product/suppression): one row an address. address is the form in which spellings are equal; it
-- is bytes, because PostgreSQL sorts text by the rules of a language and a search for a beginning needs plain order. host is the
-- part after the @. mailbox is a digest of workspace and address: recipients of many workspaces are looked up by it at once.
CREATE TABLE suppression (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    address      {blob} NOT NULL,
    host         TEXT NOT NULL,
    mailbox      {id} NOT NULL,
    reason       TEXT NOT NULL,
    detail       TEXT,
    email_id     {id},
    domain_id    {id},
    tenant_id    {id},
    note         TEXT,
    expires_at   BIGINT,
    hits         BIGINT NOT NULL DEFAULT 0,
    last_hit_at  BIGINT,
    created_by   TEXT,
    created_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX suppression_address ON suppression (workspace_id, address);
CREATE UNIQUE INDEX suppression_mailbox ON suppression (mailbox);
CREATE INDEX suppression_host ON suppression (workspace_id, host, address);
-- With expires_at, so that rows a page skips need not be read.
CREATE INDEX suppression_newest ON suppression (workspace_id, created_at DESC, id DESC, expires_at);
CREATE INDEX suppression_reason ON suppression (workspace_id, reason, created_at DESC, id DESC, expires_at);
-- Few rows end: what is to be swept, and what a workspace has that was not swept yet.
CREATE INDEX suppression_expiring ON suppression (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX suppression_expired ON suppression (workspace_id, expires_at) WHERE expires_at IS NOT NULL;

-- How many rows a workspace has of each reason: a list of a million need not count them.
CREATE TABLE suppression_total (
    workspace_id {id} NOT NULL,
    reason       TEXT NOT NULL,
    entries      BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, reason)
);

-- Emails that failed because a mailbox was full. Enough of them within a month, and the address is suppressed.
CREATE TABLE suppression_strike (
    mailbox     {id} NOT NULL,
    email_id    {id} NOT NULL,
    occurred_at BIGINT NOT NULL,
    PRIMARY KEY (mailbox, email_id)
);
CREATE INDEX suppression_strike_age ON suppression_strike (occurred_at);
