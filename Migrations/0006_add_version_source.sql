-- Where the bytes of a version came from, and whether it is still what is wanted. docs/schema.md says what every column
-- means.

-- A content knows what was asked for last; only its version knows what its bytes are.
ALTER TABLE version ADD COLUMN source_url TEXT NOT NULL DEFAULT '';
ALTER TABLE version ADD COLUMN source_identity BLOB NOT NULL DEFAULT x'';
ALTER TABLE version ADD COLUMN completed_ms INTEGER;
ALTER TABLE version ADD COLUMN is_outdated INTEGER NOT NULL DEFAULT 0 CHECK (is_outdated IN (0, 1));

UPDATE version SET (source_url, source_identity, completed_ms) = (
    SELECT source_url, source_identity, completed_ms FROM content WHERE content.id = version.content_id)
WHERE state IN (0, 1);

-- Which contents play an older version than the one that is wanted.
CREATE INDEX version_outdated ON version (content_id) WHERE state = 1 AND is_outdated = 1;
