-- What the machinery of TLS certificates keeps and all nodes share (platform/certstore): certificates, their keys and the accounts at
-- the authority, sealed; and who is at work on one.
CREATE TABLE certificate_file (
    path        TEXT PRIMARY KEY,
    content     {blob} NOT NULL,
    size_bytes  BIGINT NOT NULL,
    modified_at BIGINT NOT NULL
);

CREATE TABLE certificate_lock (
    name       TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL
);
