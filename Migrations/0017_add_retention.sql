-- What rules of retention go by: which lectures are pinned, and when each was last played. docs/schema.md says what
-- every column means.

CREATE TABLE pin (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    pinned_ms INTEGER NOT NULL
) STRICT;

-- Beside content and not in it: a player writes while it plays, and changing a row of content rewrites all of it.
CREATE TABLE last_play (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    played_ms INTEGER NOT NULL
) STRICT;
