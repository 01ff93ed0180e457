-- The signs that this database has left in blob stores (platform/custody). A store with another sign is cleaned up by another database,
-- or by another copy of this one.
CREATE TABLE blob_claim (
    sign       TEXT PRIMARY KEY,
    claimed_at BIGINT NOT NULL
);
