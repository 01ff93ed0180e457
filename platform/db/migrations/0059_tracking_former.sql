-- The labels that tracking links of a domain had before, newest first, with spaces between: links in old mail go on to lead there.
ALTER TABLE domain ADD COLUMN tracking_former TEXT NOT NULL DEFAULT '';
-- Whose tracking host a name is, asked for every host that strangers ask a certificate for.
CREATE INDEX domain_once_verified ON domain (name, verified_at DESC) WHERE verified_at IS NOT NULL;
