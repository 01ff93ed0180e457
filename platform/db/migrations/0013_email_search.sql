-- Emails by the words in their subject and addresses, and by what else a list is filtered by (product/email).
{word_index email_search};

-- Emails that ended otherwise than most do. Usual ones never enter this index.
CREATE INDEX email_unusual ON email (workspace_id, created_at DESC, id DESC)
WHERE status IN ('scheduled', 'bounced', 'complained', 'failed', 'suppressed', 'cancelled');
