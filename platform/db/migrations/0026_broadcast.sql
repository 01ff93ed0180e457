-- Mail that is part of a broadcast knows which, and whom an unsubscribe link in it is about (product/email).
ALTER TABLE email ADD COLUMN broadcast_id {id};
ALTER TABLE email ADD COLUMN contact_id {id};
ALTER TABLE email ADD COLUMN list_id {id};
CREATE INDEX email_broadcast ON email (workspace_id, broadcast_id, created_at DESC, id DESC) WHERE broadcast_id IS NOT NULL;

-- One message to many people (product/broadcast). work is the queue item that moves it on; another item that names it is stale.
-- place is the last contact that became a recipient, ceiling the last one that may: who comes after the start is not meant.
CREATE TABLE broadcast (
    id               {id} PRIMARY KEY,
    workspace_id     {id} NOT NULL,
    name             TEXT NOT NULL,
    search           TEXT NOT NULL,
    status           TEXT NOT NULL,
    list_id          {id},
    segment_id       {id},
    topic_id         {id},
    sender           TEXT NOT NULL,
    reply_to         TEXT NOT NULL,
    subject          TEXT NOT NULL,
    preview_text     TEXT NOT NULL,
    html             TEXT NOT NULL,
    text             TEXT NOT NULL,
    template_id      {id},
    template_version BIGINT NOT NULL,
    variables        TEXT NOT NULL,
    tags             TEXT NOT NULL,
    track_opens      BOOLEAN,
    track_clicks     BOOLEAN,
    throttle         BIGINT NOT NULL,
    sending_window   TEXT NOT NULL,
    created_by       {id},
    api_key_id       {id},
    test             BOOLEAN NOT NULL,
    failure          TEXT,
    work             {id},
    place            BIGINT NOT NULL DEFAULT 0,
    ceiling          BIGINT NOT NULL DEFAULT 0,
    next_at          BIGINT,
    scheduled_at     BIGINT,
    queued_at        BIGINT,
    started_at       BIGINT,
    expanded_at      BIGINT,
    handed_at        BIGINT,
    paused_at        BIGINT,
    sent_at          BIGINT,
    cancelled_at     BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);
CREATE INDEX broadcast_newest ON broadcast (workspace_id, created_at DESC, id DESC);
CREATE INDEX broadcast_status ON broadcast (workspace_id, status);

-- Whom a broadcast is for, as it was when it began, and what became of each. The unique key is why nobody is meant twice.
CREATE TABLE broadcast_recipient (
    id               {id} PRIMARY KEY,
    workspace_id     {id} NOT NULL,
    broadcast_id     {id} NOT NULL,
    contact          BIGINT NOT NULL,
    contact_id       {id} NOT NULL,
    address          TEXT NOT NULL,
    state            TEXT NOT NULL,
    email_id         {id},
    reason           TEXT,
    error            TEXT,
    bounce_type      TEXT,
    opens            BIGINT NOT NULL DEFAULT 0,
    clicks           BIGINT NOT NULL DEFAULT 0,
    unsubscribed     BOOLEAN NOT NULL DEFAULT FALSE,
    sent_at          BIGINT,
    delivered_at     BIGINT,
    updated_at       BIGINT NOT NULL
);
CREATE UNIQUE INDEX broadcast_recipient_contact ON broadcast_recipient (broadcast_id, contact);
CREATE UNIQUE INDEX broadcast_recipient_email ON broadcast_recipient (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX broadcast_recipient_open ON broadcast_recipient (broadcast_id, state, contact)
    WHERE state IN ('pending', 'queued', 'sending', 'accepted_by_remote_mx');
CREATE INDEX broadcast_recipient_error ON broadcast_recipient (broadcast_id, contact) WHERE reason IS NOT NULL;

-- What became of the recipients, counted as it happens.
CREATE TABLE broadcast_count (
    broadcast_id     {id} PRIMARY KEY,
    recipients       BIGINT NOT NULL,
    queued           BIGINT NOT NULL,
    sent             BIGINT NOT NULL,
    delivered        BIGINT NOT NULL,
    bounced          BIGINT NOT NULL,
    bounced_hard     BIGINT NOT NULL,
    bounced_soft     BIGINT NOT NULL,
    bounced_block    BIGINT NOT NULL,
    complained       BIGINT NOT NULL,
    suppressed       BIGINT NOT NULL,
    skipped          BIGINT NOT NULL,
    failed           BIGINT NOT NULL,
    cancelled        BIGINT NOT NULL,
    opened           BIGINT NOT NULL,
    unique_opened    BIGINT NOT NULL,
    automated_opens  BIGINT NOT NULL,
    clicked          BIGINT NOT NULL,
    unique_clicked   BIGINT NOT NULL,
    automated_clicks BIGINT NOT NULL,
    unsubscribed     BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);

-- The same by the hour and by mailbox provider: kind is hour or isp, name the hour in microseconds or the provider.
CREATE TABLE broadcast_part (
    broadcast_id     {id} NOT NULL,
    kind             TEXT NOT NULL,
    name             TEXT NOT NULL,
    sent             BIGINT NOT NULL,
    delivered        BIGINT NOT NULL,
    bounced          BIGINT NOT NULL,
    opened           BIGINT NOT NULL,
    clicked          BIGINT NOT NULL,
    PRIMARY KEY (broadcast_id, kind, name)
);

-- The links that people followed, and who followed which.
CREATE TABLE broadcast_link (
    id               {id} PRIMARY KEY,
    broadcast_id     {id} NOT NULL,
    url              TEXT NOT NULL,
    clicks           BIGINT NOT NULL,
    unique_clicks    BIGINT NOT NULL
);
CREATE UNIQUE INDEX broadcast_link_url ON broadcast_link (broadcast_id, url);

CREATE TABLE broadcast_click (
    recipient_id     {id} NOT NULL,
    link_id          {id} NOT NULL,
    clicks           BIGINT NOT NULL,
    PRIMARY KEY (recipient_id, link_id)
);
