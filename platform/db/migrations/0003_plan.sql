-- Emails used in a period: a month (2026-11) or a day (2026-11-15), UTC (product/plan).
CREATE TABLE plan_usage (
    workspace_id {id} NOT NULL,
    period       TEXT NOT NULL,
    emails       BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, period)
);
