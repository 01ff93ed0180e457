-- What a recipient's domain wishes of encryption, and how well it worked with it (product/delivery).
CREATE TABLE delivery_encryption (
    domain     TEXT PRIMARY KEY,
    standing   TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX delivery_encryption_updated ON delivery_encryption (updated_at);

-- What came of encryption with a domain that wants to hear of it: one day, as one node has counted it.
CREATE TABLE delivery_encryption_day (
    domain TEXT NOT NULL,
    date   TEXT NOT NULL,
    node   TEXT NOT NULL,
    tally  TEXT NOT NULL,
    PRIMARY KEY (domain, date, node)
);
