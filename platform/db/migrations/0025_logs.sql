-- What happened in a workspace, for people to look through (product/logs). status is the answer of a request, or the state of what
-- the entry is about; recipients counts those of an email. details is what is only shown. Ids are in the order of time; the one index makes entries cheap.
CREATE TABLE log_entry (
    workspace_id    {id} NOT NULL,
    id              {id} NOT NULL,
    kind            TEXT NOT NULL,
    level           TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    method          TEXT NOT NULL,
    endpoint        TEXT NOT NULL,
    route           TEXT NOT NULL,
    response_status BIGINT NOT NULL,
    duration_us     BIGINT NOT NULL,
    key_id          {id},
    user_id         {id},
    email_id        {id},
    subject_id      {id},
    domain_id       {id},
    tenant_id       {id},
    status          TEXT NOT NULL,
    recipients      BIGINT NOT NULL,
    message         TEXT NOT NULL,
    details         TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX log_entry_email ON log_entry (email_id) WHERE email_id IS NOT NULL;

{word_index log_search};
