-- Mail that came for people (product/inbound). kept is false for what is only passed on; such rows go when that is done.
CREATE TABLE inbound_received (
    id               {id} PRIMARY KEY,
    workspace_id     {id} NOT NULL,
    domain_id        {id} NOT NULL,
    tenant_id        {id},
    source           TEXT NOT NULL,
    message_id       TEXT NOT NULL,
    sender           TEXT NOT NULL,
    addresses        TEXT NOT NULL,
    subject          TEXT NOT NULL,
    search           TEXT NOT NULL,
    envelope         TEXT NOT NULL,
    ancestors        TEXT NOT NULL,
    answers_email_id {id},
    thread_id        {id} NOT NULL,
    authentication   TEXT,
    spam             TEXT,
    automatic        BOOLEAN NOT NULL,
    truncated        BOOLEAN NOT NULL,
    files            TEXT NOT NULL,
    file_count       BIGINT NOT NULL,
    size_bytes       BIGINT NOT NULL,
    starred          BOOLEAN NOT NULL DEFAULT FALSE,
    kept             BOOLEAN NOT NULL DEFAULT TRUE,
    forwards_left    BIGINT NOT NULL DEFAULT 0,
    created_at       BIGINT NOT NULL,
    read_at          BIGINT
);
CREATE INDEX inbound_received_newest ON inbound_received (workspace_id, created_at DESC, id DESC);
CREATE INDEX inbound_received_message_id ON inbound_received (workspace_id, message_id);

-- The message itself, byte for byte: here if it is small, else in the blob store. What we add to its head stands apart.
CREATE TABLE inbound_message (
    received_id  {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    trace        TEXT NOT NULL,
    results      TEXT,
    raw          {blob},
    raw_blob     TEXT
);
CREATE INDEX inbound_message_blob ON inbound_message (raw_blob) WHERE raw_blob IS NOT NULL;

-- How many messages a workspace has been sent and kept.
CREATE TABLE inbound_total (
    workspace_id {id} PRIMARY KEY,
    messages     BIGINT NOT NULL
);

-- Our answers to received mail, by the email they became: what answers those belongs to the same thread.
CREATE TABLE inbound_answer (
    email_id     {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    received_id  {id} NOT NULL,
    thread_id    {id} NOT NULL
);

-- Whom mail to an address is passed on to. address is lower case; * before the @ is every address without a rule of its own.
CREATE TABLE inbound_rule (
    id                {id} PRIMARY KEY,
    workspace_id      {id} NOT NULL,
    domain_id         {id} NOT NULL,
    domain            TEXT NOT NULL,
    address           TEXT NOT NULL,
    forward_to        TEXT NOT NULL,
    enabled           BOOLEAN NOT NULL,
    keep_copy         BOOLEAN NOT NULL,
    mode              TEXT NOT NULL,
    description       TEXT,
    forwarded         BIGINT NOT NULL DEFAULT 0,
    last_forwarded_at BIGINT,
    last_error        TEXT,
    hour              BIGINT NOT NULL DEFAULT 0,
    hour_count        BIGINT NOT NULL DEFAULT 0,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
CREATE UNIQUE INDEX inbound_rule_address ON inbound_rule (workspace_id, address);

-- A message that was passed on, and the email it became.
CREATE TABLE inbound_forward (
    received_id  {id} NOT NULL,
    rule_id      {id} NOT NULL,
    workspace_id {id} NOT NULL,
    email_id     {id} NOT NULL,
    forward_to   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (received_id, rule_id)
);

-- The processes that take mail from other servers. One that has not been seen for a while has gone.
CREATE TABLE inbound_receiver (
    node_id        {id} PRIMARY KEY,
    hostname       TEXT NOT NULL,
    port           BIGINT NOT NULL,
    starttls       BOOLEAN NOT NULL,
    tls_expires_at BIGINT,
    seen_at        BIGINT NOT NULL
);

-- Mail to the installation itself, and reports that nobody could be found for. It belongs to the operator.
CREATE TABLE inbound_operator_mail (
    id         {id} PRIMARY KEY,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    sender     TEXT NOT NULL,
    remote_ip  TEXT NOT NULL,
    subject    TEXT NOT NULL,
    note       TEXT,
    raw        {blob},
    raw_blob   TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX inbound_operator_mail_newest ON inbound_operator_mail (created_at DESC, id DESC);
CREATE INDEX inbound_operator_mail_blob ON inbound_operator_mail (raw_blob) WHERE raw_blob IS NOT NULL;

-- What other providers saw of the mail of a domain (RFC 7489), once however often it is sent. proven tells that the author of the
-- report is who it says.
CREATE TABLE inbound_dmarc_report (
    id           {id} PRIMARY KEY,
    domain       TEXT NOT NULL,
    organization TEXT NOT NULL,
    report_id    TEXT NOT NULL,
    policy       TEXT NOT NULL,
    proven       BOOLEAN NOT NULL,
    messages     BIGINT NOT NULL,
    passed       BIGINT NOT NULL,
    records      TEXT NOT NULL,
    begins_at    BIGINT,
    ends_at      BIGINT,
    created_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX inbound_dmarc_report_once ON inbound_dmarc_report (domain, organization, report_id);

-- What other providers saw of the encryption on the way to a domain (RFC 8460).
CREATE TABLE inbound_tls_report (
    id           {id} PRIMARY KEY,
    domain       TEXT NOT NULL,
    organization TEXT NOT NULL,
    report_id    TEXT NOT NULL,
    proven       BOOLEAN NOT NULL,
    successful   BIGINT NOT NULL,
    failed       BIGINT NOT NULL,
    policies     TEXT NOT NULL,
    begins_at    BIGINT,
    ends_at      BIGINT,
    created_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX inbound_tls_report_once ON inbound_tls_report (domain, organization, report_id);

-- The envelope sender of an email that is passed on with its own; empty for all others.
ALTER TABLE email ADD COLUMN return_path TEXT;
