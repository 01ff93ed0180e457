-- Up to when the contents of a workspace's emails have been removed because their time was over (product/email), and the emails that
-- were passed over because they were still to be sent.
CREATE TABLE email_swept (
    workspace_id {id} PRIMARY KEY,
    until        BIGINT NOT NULL
);
CREATE TABLE email_unswept (
    email_id     {id} PRIMARY KEY,
    workspace_id {id} NOT NULL
);
CREATE INDEX email_unswept_workspace ON email_unswept (workspace_id, email_id);
