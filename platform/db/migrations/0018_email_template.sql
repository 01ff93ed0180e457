-- The template an email was made from (product/email).
ALTER TABLE email ADD COLUMN template_id {id};
ALTER TABLE email ADD COLUMN template_version BIGINT NOT NULL DEFAULT 0;
