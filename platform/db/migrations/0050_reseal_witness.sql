-- A value that every installation keeps sealed: a server with another secret hears so when it starts (platform/reseal).
CREATE TABLE reseal_witness (
    name   TEXT PRIMARY KEY,
    sealed {blob} NOT NULL
);
