-- Opens and clicks of people, counted for lists of emails (product/email).
ALTER TABLE email ADD COLUMN opens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE email ADD COLUMN clicks BIGINT NOT NULL DEFAULT 0;

-- What is known of one recipient's opens and clicks. There is a row once there was one: mail that is not tracked, or not read, has
-- none, and delivery never writes here. Times are those of people; programs are only counted.
CREATE TABLE email_tracking (
    recipient_id     {id} PRIMARY KEY,
    workspace_id     {id} NOT NULL,
    email_id         {id} NOT NULL,
    opens            BIGINT NOT NULL,
    clicks           BIGINT NOT NULL,
    automated_opens  BIGINT NOT NULL,
    automated_clicks BIGINT NOT NULL,
    first_opened_at  BIGINT,
    last_opened_at   BIGINT,
    first_clicked_at BIGINT,
    last_clicked_at  BIGINT
);
CREATE INDEX email_tracking_email ON email_tracking (email_id);
