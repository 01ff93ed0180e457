-- Whether the person said so, by a link in a mail: an upsert or an import does not turn that round (product/audience).
ALTER TABLE contact_topic ADD COLUMN own BOOLEAN NOT NULL DEFAULT FALSE;
