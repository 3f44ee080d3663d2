-- Plays that are being recorded, to the second. The reports of one are made from sums in memory; when its program is
-- killed, the next one makes the last report from these rows. docs/schema.md says what every column means.

CREATE TABLE play_session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL once the program is gone: the last report is due.
    owner_id INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    start_s INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    blocks INTEGER NOT NULL CHECK (blocks BETWEEN 1 AND 10000),
    updated_ms INTEGER NOT NULL,
    session TEXT NOT NULL UNIQUE CHECK (length(session) > 0),
    content_key TEXT NOT NULL,
    client_user_id TEXT NOT NULL,
    -- What is the same in all of its reports.
    source TEXT NOT NULL CHECK (substr(source, 1, 1) = '{'),
    -- Where they go, an array; NULL for the channels of its lecture.
    targets TEXT CHECK (substr(targets, 1, 1) = '[')
) STRICT;

CREATE INDEX play_session_owner ON play_session (owner_id);

-- What happened, in order; one that goes on is extended and not followed by another. Activity: 1 play, 2 pause, 3 seek,
-- 4 stop.
CREATE TABLE play_interval (
    session_id INTEGER NOT NULL REFERENCES play_session (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    activity INTEGER NOT NULL CHECK (activity BETWEEN 1 AND 4),
    from_ms INTEGER NOT NULL CHECK (from_ms >= 0),
    to_ms INTEGER NOT NULL CHECK (to_ms >= 0),
    speed_permille INTEGER NOT NULL CHECK (speed_permille >= 0),
    lasting_ns INTEGER NOT NULL CHECK (lasting_ns >= 0),
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;
