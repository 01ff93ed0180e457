-- What happened, counted by quarters of an hour (product/stats). A facet is what is counted apart: a domain, a managed customer, a
-- template, a broadcast or a tag; the empty one is everything. Quarters, because some time zones are three quarters of an hour off.
CREATE TABLE stats_count (
    workspace_id     {id} NOT NULL,
    facet            TEXT NOT NULL,
    bucket           BIGINT NOT NULL,
    accepted         BIGINT NOT NULL,
    sent             BIGINT NOT NULL,
    delivered        BIGINT NOT NULL,
    delayed          BIGINT NOT NULL,
    bounced          BIGINT NOT NULL,
    bounced_hard     BIGINT NOT NULL,
    bounced_soft     BIGINT NOT NULL,
    bounced_block    BIGINT NOT NULL,
    complained       BIGINT NOT NULL,
    suppressed       BIGINT NOT NULL,
    failed           BIGINT NOT NULL,
    cancelled        BIGINT NOT NULL,
    opened           BIGINT NOT NULL,
    unique_opened    BIGINT NOT NULL,
    automated_opens  BIGINT NOT NULL,
    clicked          BIGINT NOT NULL,
    unique_clicked   BIGINT NOT NULL,
    automated_clicks BIGINT NOT NULL,
    unsubscribed     BIGINT NOT NULL,
    received         BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, facet, bucket)
);

-- The same by mailbox provider and day.
CREATE TABLE stats_isp (
    workspace_id  {id} NOT NULL,
    facet         TEXT NOT NULL,
    day           BIGINT NOT NULL,
    isp           TEXT NOT NULL,
    sent          BIGINT NOT NULL,
    delivered     BIGINT NOT NULL,
    bounced       BIGINT NOT NULL,
    blocked       BIGINT NOT NULL,
    deferred      BIGINT NOT NULL,
    complained    BIGINT NOT NULL,
    waited_ms     BIGINT NOT NULL,
    last_block_at BIGINT,
    PRIMARY KEY (workspace_id, facet, day, isp)
);

-- Where the recipients of the mail that was accepted on a day stand now.
CREATE TABLE stats_state (
    workspace_id {id} NOT NULL,
    facet        TEXT NOT NULL,
    day          BIGINT NOT NULL,
    state        TEXT NOT NULL,
    recipients   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, facet, day, state)
);

-- The most frequent recipient domains, subjects and tags of a day. The empty name stands for all that are not kept apart.
CREATE TABLE stats_rank (
    workspace_id {id} NOT NULL,
    facet        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    day          BIGINT NOT NULL,
    name         TEXT NOT NULL,
    sent         BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, facet, kind, day, name)
);
CREATE INDEX stats_rank_day ON stats_rank (day);
