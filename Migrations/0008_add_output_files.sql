-- Which files outside the store LectureKit itself has written, so that a new version may replace them and no other file.
-- docs/schema.md says what every column means.

ALTER TABLE output ADD COLUMN may_replace INTEGER NOT NULL DEFAULT 0 CHECK (may_replace IN (0, 1));

CREATE TABLE output_file (
    path TEXT PRIMARY KEY NOT NULL CHECK (path <> ''),
    content_key TEXT NOT NULL,
    inode INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    written_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX output_file_content ON output_file (content_key);
CREATE INDEX output_file_inode ON output_file (inode);
