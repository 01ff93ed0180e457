-- Imports ask whether somebody they name was forgotten meanwhile.
CREATE INDEX contact_erasure_address ON contact_erasure (workspace_id, address);
