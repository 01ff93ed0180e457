-- The log of one mail, domain or managed customer is read from its end.
DROP INDEX log_entry_email;
CREATE INDEX log_entry_email ON log_entry (workspace_id, email_id, id) WHERE email_id IS NOT NULL;
CREATE INDEX log_entry_domain ON log_entry (workspace_id, domain_id, id) WHERE domain_id IS NOT NULL;
CREATE INDEX log_entry_tenant ON log_entry (workspace_id, tenant_id, id) WHERE tenant_id IS NOT NULL;
