-- Adaptive lectures (HLS, DASH): what is kept of them, and the playlists that play them from the store. docs/schema.md
-- says what every column means.

-- What a request selects of the streams, JSON; empty for the best picture and its own sound.
ALTER TABLE content ADD COLUMN selection TEXT NOT NULL DEFAULT '';

-- The URL that answered a playlist, after redirects: its references are relative to it.
ALTER TABLE resource ADD COLUMN base_url TEXT;

-- The playlists of a version, with names of its files in place of URLs. Position 0 is the multivariant one.
CREATE TABLE playlist (
    id INTEGER PRIMARY KEY,
    version_id INTEGER NOT NULL REFERENCES version (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    text TEXT NOT NULL,
    UNIQUE (version_id, position)
) STRICT;
