-- Broadcasts whose mail is called back (product/email). Whoever is about to begin a conversation looks here, so that nothing leaves after
-- a cancel was answered, however much waits in the queue.
CREATE TABLE email_called_back (
    broadcast_id {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    called_at    BIGINT NOT NULL
);
CREATE INDEX email_called_back_old ON email_called_back (called_at);
