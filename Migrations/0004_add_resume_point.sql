-- Where a player goes on, and lists with folders first. docs/schema.md says what every column means.

-- A table of its own and not a column of content: a player writes it every ten seconds, and a row of content with its
-- descriptor may be many pages long. Nothing is here for a content that begins at its beginning.
CREATE TABLE resume_point (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    position_ms INTEGER NOT NULL CHECK (position_ms > 0)
) STRICT;

-- Contents in folders first, by folder and title; those at the top level last.
CREATE INDEX content_folders_first ON content (folder = '', folder, title COLLATE NOCASE);
