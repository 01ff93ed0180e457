-- People who sign in (product/account). workspace_id is where they were last; totp_step is the last one-time code they used.
CREATE TABLE account_user (
    id                  {id} PRIMARY KEY,
    email               TEXT NOT NULL,
    name                TEXT NOT NULL,
    locale              TEXT NOT NULL,
    timezone            TEXT NOT NULL,
    operator            BOOLEAN NOT NULL,
    password            TEXT NOT NULL,
    password_changed_at BIGINT NOT NULL,
    verified_at         BIGINT,
    workspace_id        {id},
    totp_secret         {blob},
    totp_enabled_at     BIGINT,
    totp_step           BIGINT NOT NULL DEFAULT 0,
    totp_offered        {blob},
    totp_offered_until  BIGINT,
    seen_at             BIGINT,
    created_at          BIGINT NOT NULL
);
CREATE UNIQUE INDEX account_user_email ON account_user (email);

-- The first account of the instance: one row, ever.
CREATE TABLE account_founder (
    one     BIGINT PRIMARY KEY,
    user_id {id} NOT NULL
);

CREATE TABLE account_workspace (
    id         {id} PRIMARY KEY,
    name       TEXT NOT NULL,
    slug       TEXT NOT NULL,
    plan       TEXT NOT NULL,
    status     TEXT NOT NULL,
    reason     TEXT,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX account_workspace_slug ON account_workspace (slug);

CREATE TABLE account_member (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    user_id      {id} NOT NULL,
    role         TEXT NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX account_member_once ON account_member (workspace_id, user_id);
CREATE INDEX account_member_user ON account_member (user_id);

-- A signed-in browser. Only the hash of its token is kept.
CREATE TABLE account_session (
    id                 {id} PRIMARY KEY,
    user_id            {id} NOT NULL,
    workspace_id       {id},
    token_hash         {blob} NOT NULL,
    ip                 TEXT NOT NULL,
    user_agent         TEXT NOT NULL,
    created_at         BIGINT NOT NULL,
    seen_at            BIGINT NOT NULL,
    expires_at         BIGINT NOT NULL,
    reauthenticated_at BIGINT,
    two_factor_at      BIGINT
);
CREATE UNIQUE INDEX account_session_token ON account_session (token_hash);
CREATE INDEX account_session_user ON account_session (user_id, created_at);
CREATE INDEX account_session_expiry ON account_session (expires_at);

-- A sign-in whose password was right and whose second factor is awaited.
CREATE TABLE account_challenge (
    id         {id} PRIMARY KEY,
    user_id    {id} NOT NULL,
    tries      BIGINT NOT NULL DEFAULT 0,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_challenge_expiry ON account_challenge (expires_at);

CREATE TABLE account_recovery_code (
    id      {id} PRIMARY KEY,
    user_id {id} NOT NULL,
    hash    {blob} NOT NULL
);
CREATE INDEX account_recovery_code_user ON account_recovery_code (user_id);

-- Failed sign-ins by keyed hash of the address that was typed, whether or not it has an account.
CREATE TABLE account_attempt (
    address_hash {blob} PRIMARY KEY,
    failures     BIGINT NOT NULL,
    since        BIGINT NOT NULL
);
CREATE INDEX account_attempt_since ON account_attempt (since);

CREATE TABLE account_invitation (
    id           {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    email        TEXT NOT NULL,
    role         TEXT NOT NULL,
    invited_by   {id} NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX account_invitation_once ON account_invitation (workspace_id, email);
CREATE INDEX account_invitation_expiry ON account_invitation (expires_at);

-- Who did what, from where; append-only. No actor means the operator's command line.
CREATE TABLE account_audit (
    seq          {seq},
    id           {id} NOT NULL,
    workspace_id {id} NOT NULL,
    actor_id     {id},
    action       TEXT NOT NULL,
    target_type  TEXT,
    target_id    {id},
    target_name  TEXT,
    ip           TEXT,
    created_at   BIGINT NOT NULL
);
CREATE INDEX account_audit_newest ON account_audit (workspace_id, seq DESC);

-- API keys (product/apikey): the hash of the secret, and of the one before while its grace lasts.
CREATE TABLE apikey_key (
    id             {id} PRIMARY KEY,
    workspace_id   {id} NOT NULL,
    public_id      TEXT NOT NULL,
    hash           {blob} NOT NULL,
    previous_hash  {blob},
    previous_until BIGINT,
    name           TEXT NOT NULL,
    search         TEXT NOT NULL,
    mode           TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    preset         TEXT,
    domain_ids     TEXT NOT NULL,
    networks       TEXT NOT NULL,
    created_by     {id},
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT,
    rotated_at     BIGINT,
    revoked_at     BIGINT,
    last_used_at   BIGINT,
    last_used_ip   TEXT
);
CREATE UNIQUE INDEX apikey_key_public ON apikey_key (public_id);
CREATE INDEX apikey_key_newest ON apikey_key (workspace_id, created_at DESC, id DESC);
