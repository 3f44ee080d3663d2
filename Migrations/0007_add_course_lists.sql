-- Which lectures a course list names, so that what has left it can be removed. docs/schema.md says what every column
-- means.

CREATE TABLE course_list (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    read_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE course_entry (
    list_id INTEGER NOT NULL REFERENCES course_list (id) ON DELETE CASCADE,
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    gone_ms INTEGER,
    PRIMARY KEY (list_id, content_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX course_entry_content ON course_entry (content_id);
