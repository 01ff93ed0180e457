-- Days that are over (product/stats). What stats_count, stats_isp, stats_state and stats_rank know of a day is packed into one row for
-- each kind of count: a year is then read in hundreds of rows, not in tens of thousands. What comes later is added when it is folded.
CREATE TABLE stats_past (
    workspace_id {id} NOT NULL,
    facet        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    day          BIGINT NOT NULL,
    packed       {blob} NOT NULL,
    PRIMARY KEY (workspace_id, facet, kind, day)
);
{growing stats_past};
CREATE INDEX stats_past_day ON stats_past (kind, day);

-- What is to be folded is found by its time.
CREATE INDEX stats_count_bucket ON stats_count (bucket);
CREATE INDEX stats_isp_day ON stats_isp (day);
CREATE INDEX stats_state_day ON stats_state (day);
