-- The tags that are counted apart (product/stats): under each name its values, and under the empty name the names.
CREATE TABLE stats_tag (
    workspace_id {id} NOT NULL,
    name         TEXT NOT NULL,
    value        TEXT NOT NULL,
    seen_day     BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name, value)
);
CREATE INDEX stats_tag_seen ON stats_tag (seen_day);
