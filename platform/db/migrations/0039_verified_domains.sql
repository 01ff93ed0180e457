-- Whoever writes a mail is shown the domains that it may come from (product/domain).
CREATE INDEX domain_verified ON domain (workspace_id, created_at DESC, id DESC) WHERE verified = TRUE;
