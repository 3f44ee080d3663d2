-- Archives: an ended room becomes a lecture. Codes of vod_state are those of LiveCodes.swift: 1 none, 2 archiving,
-- 3 archived, 4 failed.
ALTER TABLE room ADD COLUMN vod_state INTEGER NOT NULL DEFAULT 1 CHECK (vod_state BETWEEN 1 AND 4);
-- Why the last attempt has failed, as a sentence.
ALTER TABLE room ADD COLUMN vod_reason TEXT;
-- The number of the session in which it was started: those before it are no part of the lecture.
ALTER TABLE room ADD COLUMN live_session INTEGER;
CREATE INDEX room_archiving ON room(id) WHERE vod_state = 2;

-- When the media server began to record a publish; NULL where it does not.
ALTER TABLE session ADD COLUMN recorded_ms INTEGER;
-- Of what the archive has of it: when its first picture was made, and how long it is.
ALTER TABLE session ADD COLUMN media_start_ms INTEGER;
ALTER TABLE session ADD COLUMN media_ms INTEGER;

-- The content key is wrapped (RFC 3394) with a key that is not in the store.
CREATE TABLE archive (
    room_id INTEGER PRIMARY KEY REFERENCES room ON DELETE CASCADE,
    uuid TEXT NOT NULL UNIQUE,
    content_key BLOB NOT NULL CHECK (length(content_key) = 40),
    archived_ms INTEGER NOT NULL,
    byte_count INTEGER NOT NULL CHECK (byte_count > 0),
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    frames INTEGER NOT NULL CHECK (frames > 0),
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0)
) STRICT;

-- Lectures whose room, or whose owner, was deleted: players are ordered to delete theirs.
CREATE TABLE deleted_archive (
    uuid TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TRIGGER archive_deleted AFTER DELETE ON archive BEGIN
    INSERT INTO deleted_archive(uuid) VALUES (old.uuid) ON CONFLICT DO NOTHING;
END;
