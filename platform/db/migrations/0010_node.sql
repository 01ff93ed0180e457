-- A process that delivers mail (product/node). It says from time to time that it is there.
CREATE TABLE node (
    id         {id} PRIMARY KEY,
    name       TEXT NOT NULL,
    hostname   TEXT NOT NULL,
    region     TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);
