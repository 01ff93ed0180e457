-- The audience of a workspace (product/audience): whom it writes to, and what they agreed to. A contact is one row an address.
-- number is its place in the order in which contacts came; other tables name contacts, lists, segments, topics and properties by
-- number, because a filter joins a million of them and a number is a quarter of an id. folded columns are lower case: the engines
-- disagree about case, so nothing is folded in SQL. suppression mirrors what product/suppression says of the address.
CREATE TABLE contact (
    number           {seq},
    id               {id} NOT NULL,
    workspace_id     {id} NOT NULL,
    address          TEXT NOT NULL,
    host             TEXT NOT NULL,
    first_name       TEXT,
    last_name        TEXT,
    first_folded     TEXT,
    last_folded      TEXT,
    status           TEXT NOT NULL,
    unsubscribed     BOOLEAN NOT NULL,
    left_at          BIGINT,
    suppression      TEXT,
    pending_lists    BIGINT NOT NULL DEFAULT 0,
    subscribed_lists BIGINT NOT NULL DEFAULT 0,
    sent_count       BIGINT NOT NULL DEFAULT 0,
    open_count       BIGINT NOT NULL DEFAULT 0,
    click_count      BIGINT NOT NULL DEFAULT 0,
    last_sent_at     BIGINT,
    last_opened_at   BIGINT,
    last_clicked_at  BIGINT,
    consent          TEXT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);
CREATE UNIQUE INDEX contact_id ON contact (id);
CREATE UNIQUE INDEX contact_address ON contact (workspace_id, address);
CREATE INDEX contact_newest ON contact (workspace_id, number);
CREATE INDEX contact_host ON contact (workspace_id, host, number);
CREATE INDEX contact_status ON contact (workspace_id, status, number);

{word_index contact_search};

-- How many contacts a workspace has.
CREATE TABLE contact_total (
    workspace_id {id} PRIMARY KEY,
    contacts     BIGINT NOT NULL
);

-- A list, and who is on it. asked holds the moments at which somebody was asked to confirm.
CREATE TABLE audience_list (
    number             {seq},
    id                 {id} NOT NULL,
    workspace_id       {id} NOT NULL,
    name               TEXT NOT NULL,
    name_folded        TEXT NOT NULL,
    description        TEXT,
    double_opt_in      BOOLEAN NOT NULL,
    confirmation       TEXT NOT NULL,
    subscribed_count   BIGINT NOT NULL DEFAULT 0,
    pending_count      BIGINT NOT NULL DEFAULT 0,
    unsubscribed_count BIGINT NOT NULL DEFAULT 0,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL
);
CREATE UNIQUE INDEX audience_list_id ON audience_list (id);
CREATE UNIQUE INDEX audience_list_name ON audience_list (workspace_id, name_folded);

CREATE TABLE list_contact (
    list            BIGINT NOT NULL,
    contact         BIGINT NOT NULL,
    status          TEXT NOT NULL,
    subscribed_at   BIGINT,
    confirmed_at    BIGINT,
    unsubscribed_at BIGINT,
    asked           TEXT,
    consent         TEXT,
    PRIMARY KEY (list, contact)
);
CREATE INDEX list_contact_status ON list_contact (list, status, contact);
CREATE INDEX list_contact_contact ON list_contact (contact);

-- A kind of mail that people can leave without leaving everything. A row tells what somebody said; without one the default holds.
CREATE TABLE topic (
    number               {seq},
    id                   {id} NOT NULL,
    workspace_id         {id} NOT NULL,
    name                 TEXT NOT NULL,
    name_folded          TEXT NOT NULL,
    description          TEXT,
    default_subscription TEXT NOT NULL,
    visibility           TEXT NOT NULL,
    in_count             BIGINT NOT NULL DEFAULT 0,
    out_count            BIGINT NOT NULL DEFAULT 0,
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL
);
CREATE UNIQUE INDEX topic_id ON topic (id);
CREATE UNIQUE INDEX topic_name ON topic (workspace_id, name_folded);

CREATE TABLE contact_topic (
    topic        BIGINT NOT NULL,
    contact      BIGINT NOT NULL,
    subscription TEXT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (topic, contact)
);
CREATE INDEX contact_topic_said ON contact_topic (topic, subscription, contact);
CREATE INDEX contact_topic_contact ON contact_topic (contact);

-- A property that contacts can have, and its values: text and folded for strings, amount for numbers, booleans (0 and 1) and dates
-- (milliseconds). The indexes end with the contact, so that a filter reads nothing else.
CREATE TABLE contact_property (
    number       {seq},
    id           {id} NOT NULL,
    workspace_id {id} NOT NULL,
    key          TEXT NOT NULL,
    type         TEXT NOT NULL,
    fallback     TEXT,
    label        TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX contact_property_id ON contact_property (id);
CREATE UNIQUE INDEX contact_property_key ON contact_property (workspace_id, key);

CREATE TABLE contact_value (
    contact    BIGINT NOT NULL,
    property   BIGINT NOT NULL,
    text       TEXT,
    folded     TEXT,
    amount     DOUBLE PRECISION,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (contact, property)
);
CREATE INDEX contact_value_folded ON contact_value (property, folded, contact) WHERE folded IS NOT NULL;
CREATE INDEX contact_value_amount ON contact_value (property, amount, contact) WHERE amount IS NOT NULL;

-- A segment: a filter, contacts that were put in by hand, or both. A contact that was taken out stays out, whatever the filter says.
CREATE TABLE segment (
    number        {seq},
    id            {id} NOT NULL,
    workspace_id  {id} NOT NULL,
    name          TEXT NOT NULL,
    name_folded   TEXT NOT NULL,
    description   TEXT,
    type          TEXT NOT NULL,
    filter        TEXT,
    contact_count BIGINT NOT NULL DEFAULT 0,
    counted_at    BIGINT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE UNIQUE INDEX segment_id ON segment (id);
CREATE UNIQUE INDEX segment_name ON segment (workspace_id, name_folded);

CREATE TABLE segment_contact (
    segment  BIGINT NOT NULL,
    contact  BIGINT NOT NULL,
    excluded BOOLEAN NOT NULL,
    PRIMARY KEY (segment, contact)
);
CREATE INDEX segment_contact_contact ON segment_contact (contact);

-- Contacts that are being imported, and those that could not be. done_bytes is how far the file has been worked off: it moves in
-- the transaction of the rows before it.
CREATE TABLE contact_import (
    id            {id} PRIMARY KEY,
    workspace_id  {id} NOT NULL,
    list_id       {id},
    source        TEXT NOT NULL,
    filename      TEXT,
    status        TEXT NOT NULL,
    options       TEXT NOT NULL,
    blob          TEXT,
    errors_blob   TEXT,
    failure       TEXT,
    done_bytes    BIGINT NOT NULL DEFAULT 0,
    total_count   BIGINT NOT NULL DEFAULT 0,
    created_count BIGINT NOT NULL DEFAULT 0,
    updated_count BIGINT NOT NULL DEFAULT 0,
    skipped_count BIGINT NOT NULL DEFAULT 0,
    failed_count  BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    started_at    BIGINT,
    completed_at  BIGINT
);
CREATE INDEX contact_import_newest ON contact_import (workspace_id, created_at DESC, id DESC);
CREATE INDEX contact_import_blob ON contact_import (blob) WHERE blob IS NOT NULL;
CREATE INDEX contact_import_errors_blob ON contact_import (errors_blob) WHERE errors_blob IS NOT NULL;

CREATE TABLE contact_import_error (
    import_id {id} NOT NULL,
    line      BIGINT NOT NULL,
    email     TEXT,
    message   TEXT NOT NULL,
    PRIMARY KEY (import_id, line)
);

-- Erasures under way: the address is kept until its last trace is gone.
CREATE TABLE contact_erasure (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    contact_id   {id} NOT NULL,
    address      TEXT,
    emails       BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    completed_at BIGINT
);
