-- A sending domain and what its DNS was last seen to say (product/domain).
CREATE TABLE domain (
    id                  {id} PRIMARY KEY,
    workspace_id        {id} NOT NULL,
    tenant_id           {id},
    name                TEXT NOT NULL,
    region              TEXT NOT NULL,
    provider            TEXT NOT NULL,
    verified            BOOLEAN NOT NULL,
    status              TEXT NOT NULL,
    sending             BOOLEAN NOT NULL,
    receiving           BOOLEAN NOT NULL,
    receiving_requested BOOLEAN NOT NULL,
    open_tracking       BOOLEAN NOT NULL,
    click_tracking      BOOLEAN NOT NULL,
    tracking_label      TEXT NOT NULL,
    return_label        TEXT NOT NULL,
    return_verified     BOOLEAN NOT NULL,
    tls                 TEXT NOT NULL,
    dmarc_policy        TEXT NOT NULL,
    signing             TEXT NOT NULL,
    checks              TEXT NOT NULL,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    last_checked_at     BIGINT,
    next_check_at       BIGINT NOT NULL,
    verified_at         BIGINT,
    failing_since       BIGINT,
    failed_rounds       BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX domain_name ON domain (workspace_id, name);
-- Only one workspace can hold a verified domain.
CREATE UNIQUE INDEX domain_holder ON domain (name) WHERE verified = TRUE;
CREATE INDEX domain_newest ON domain (workspace_id, created_at DESC, id DESC);
CREATE INDEX domain_tenant ON domain (workspace_id, tenant_id, created_at, id) WHERE tenant_id IS NOT NULL;

-- How many domains a workspace has: its own, and those of its managed customers. A list need not count them.
CREATE TABLE domain_total (
    workspace_id {id} PRIMARY KEY,
    domains      BIGINT NOT NULL DEFAULT 0,
    of_tenants   BIGINT NOT NULL DEFAULT 0
);

-- A signing key. A domain has a current RSA key, a current Ed25519 key, and while it is rotated a next and an old one.
CREATE TABLE domain_key (
    domain_id     {id} NOT NULL,
    selector      TEXT NOT NULL,
    workspace_id  {id} NOT NULL,
    algorithm     TEXT NOT NULL,
    role          TEXT NOT NULL,
    role_since    BIGINT NOT NULL,
    public_record TEXT NOT NULL,
    private_key   {blob} NOT NULL,
    PRIMARY KEY (domain_id, selector)
);
