-- Templates of a workspace (product/template). search holds, in lower case, what a list is searched by. draft is a source that is
-- not published, as JSON; it may be large, so it comes last.
CREATE TABLE template (
    id             {id} PRIMARY KEY,
    workspace_id   {id} NOT NULL,
    name           TEXT NOT NULL,
    alias          TEXT,
    description    TEXT,
    search         TEXT NOT NULL,
    status         TEXT NOT NULL,
    active_version BIGINT NOT NULL,
    active_id      {id},
    latest_version BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    published_at   BIGINT,
    archived_at    BIGINT,
    draft_at       BIGINT,
    draft          TEXT
);
CREATE INDEX template_newest ON template (workspace_id, created_at DESC, id DESC, status);

-- Which template answers to an alias. The key is what makes an alias unique.
CREATE TABLE template_alias (
    workspace_id {id} NOT NULL,
    alias        TEXT NOT NULL,
    template_id  {id} NOT NULL,
    PRIMARY KEY (workspace_id, alias)
);

-- A source that was published. Nothing but activated_at ever changes.
CREATE TABLE template_version (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    template_id  {id} NOT NULL,
    version      BIGINT NOT NULL,
    sender       TEXT,
    subject      TEXT,
    reply_to     TEXT NOT NULL,
    preview_text TEXT,
    variables    TEXT NOT NULL,
    inline_css   BOOLEAN NOT NULL,
    checksum     TEXT NOT NULL,
    note         TEXT,
    created_by   TEXT,
    created_at   BIGINT NOT NULL,
    activated_at BIGINT NOT NULL,
    html         TEXT,
    body         TEXT
);
CREATE UNIQUE INDEX template_version_number ON template_version (template_id, version);

-- How many templates a workspace has that are not archived: the limit of the plan is a condition on this row.
CREATE TABLE template_total (
    workspace_id {id} PRIMARY KEY,
    templates    BIGINT NOT NULL
);
