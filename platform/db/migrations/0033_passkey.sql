-- Keys on people's devices that sign them in (product/account). The record is what the library needs to check them.
CREATE TABLE account_passkey (
    id            {id} PRIMARY KEY,
    user_id       {id} NOT NULL,
    name          TEXT NOT NULL,
    credential_id {blob} NOT NULL,
    record        TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT
);
CREATE UNIQUE INDEX account_passkey_credential ON account_passkey (credential_id);
CREATE INDEX account_passkey_user ON account_passkey (user_id, created_at);

-- What was asked of a device and is not answered yet. An answer is taken once.
CREATE TABLE account_ceremony (
    id         {id} PRIMARY KEY,
    record     TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_ceremony_expiry ON account_ceremony (expires_at);
