-- How much callers have used of what all nodes together allow them (platform/limit): the moment at which each bucket is full again, in
-- nanoseconds since 1970. It may be lost: then everybody begins with a full bucket.
CREATE {unlogged} TABLE rate_bucket (
    key     TEXT PRIMARY KEY,
    full_at BIGINT NOT NULL
);
{churning rate_bucket};
