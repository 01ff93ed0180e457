-- What went wrong, and what is not mail, a request or a post, is little among much: people look for it, and a whole log was read to find it.
CREATE INDEX log_entry_trouble ON log_entry (workspace_id, id) WHERE level <> 'info';
CREATE INDEX log_entry_rare ON log_entry (workspace_id, kind, id) WHERE kind NOT IN ('api_request', 'smtp_submission', 'email', 'webhook');
