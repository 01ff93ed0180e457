-- The labels that tracking links of a domain had before, newest first, with spaces between: links in old mail go on to lead there.
ALTER TABLE domain ADD COLUMN tracking_former TEXT NOT NULL DEFAULT '';
