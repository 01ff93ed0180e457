-- A send (product/email). Its status is derived from its recipients and stored with it.
CREATE TABLE email (
    id               {id} PRIMARY KEY,
    workspace_id     {id} NOT NULL,
    domain_id        {id} NOT NULL,
    tenant_id        {id},
    api_key_id       {id},
    source           TEXT NOT NULL,
    message_id       TEXT NOT NULL,
    status           TEXT NOT NULL,
    delayed          BOOLEAN NOT NULL DEFAULT FALSE,
    sender           TEXT NOT NULL,
    sender_domain    TEXT NOT NULL,
    addresses        TEXT NOT NULL,
    subject          TEXT NOT NULL,
    tags             TEXT NOT NULL,
    metadata         TEXT NOT NULL,
    search           TEXT NOT NULL,
    idempotency_key  TEXT,
    size_bytes       BIGINT NOT NULL,
    attachment_count BIGINT NOT NULL,
    recipient_count  BIGINT NOT NULL,
    track_opens      BOOLEAN NOT NULL,
    track_clicks     BOOLEAN NOT NULL,
    test             BOOLEAN NOT NULL,
    provider         TEXT NOT NULL,
    failure          TEXT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    scheduled_at     BIGINT,
    queued_at        BIGINT,
    sent_at          BIGINT,
    delivered_at     BIGINT,
    expires_at       BIGINT NOT NULL
);
CREATE INDEX email_newest ON email (workspace_id, created_at DESC, id DESC);
CREATE INDEX email_scheduled ON email (domain_id) WHERE status = 'scheduled';

-- What the message says: kept apart, so that a change of state does not rewrite it.
CREATE TABLE email_content (
    email_id     {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    html         TEXT,
    text         TEXT,
    headers      TEXT NOT NULL,
    blob         TEXT
);

CREATE INDEX email_content_blob ON email_content (blob) WHERE blob IS NOT NULL;

CREATE TABLE email_recipient (
    id              {id} PRIMARY KEY,
    workspace_id    {id} NOT NULL,
    email_id        {id} NOT NULL,
    position        BIGINT NOT NULL,
    kind            TEXT NOT NULL,
    address         TEXT NOT NULL,
    state           TEXT NOT NULL,
    attempts        BIGINT NOT NULL DEFAULT 0,
    soft_bounces    BIGINT NOT NULL DEFAULT 0,
    isp             TEXT,
    smtp_code       BIGINT,
    enhanced_code   TEXT,
    response        TEXT,
    bounce          TEXT,
    delay_told_at   BIGINT,
    unnamed_since   BIGINT,
    delivered_at    BIGINT,
    next_attempt_at BIGINT,
    taken_at        BIGINT
);
CREATE UNIQUE INDEX email_recipient_email ON email_recipient (email_id, position);

CREATE TABLE email_attachment (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    email_id     {id} NOT NULL,
    position     BIGINT NOT NULL,
    filename     TEXT NOT NULL,
    content_type TEXT NOT NULL,
    content_id   TEXT,
    inline       BOOLEAN NOT NULL,
    size_bytes   BIGINT NOT NULL,
    blob         TEXT NOT NULL
);
CREATE UNIQUE INDEX email_attachment_email ON email_attachment (email_id, position);
CREATE INDEX email_attachment_blob ON email_attachment (blob);

-- One conversation with a mail server, append-only.
CREATE TABLE email_attempt (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    email_id     {id} NOT NULL,
    recipient_id {id} NOT NULL,
    number       BIGINT NOT NULL,
    recipient    TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    stage        TEXT NOT NULL,
    started_at   BIGINT NOT NULL,
    finished_at  BIGINT NOT NULL,
    next_at      BIGINT,
    details      TEXT NOT NULL
);
CREATE INDEX email_attempt_email ON email_attempt (email_id, started_at);
