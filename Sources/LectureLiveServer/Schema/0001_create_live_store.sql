-- The store of the live server. Times are milliseconds since 1970, UTC. Codes are those of LiveCodes.swift.
CREATE TABLE migration (
    identifier TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    applied_ms INTEGER NOT NULL
) STRICT;

-- Secrets of this store: 1 signs playback links.
CREATE TABLE secret (
    id INTEGER PRIMARY KEY,
    value BLOB NOT NULL CHECK (length(value) = 32)
) STRICT;

CREATE TABLE member (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL UNIQUE CHECK (length(user_id) BETWEEN 1 AND 50),
    user_name TEXT NOT NULL,
    profile_url TEXT NOT NULL,
    email TEXT NOT NULL,
    custom_type TEXT NOT NULL,
    custom_data TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL
) STRICT;

-- Kinds: 1 access, 2 streaming. Only digests (SHA-256) are stored.
CREATE TABLE token (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind IN (1, 2)),
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_by_member ON token(member_id, expires_ms);
CREATE INDEX token_by_expiry ON token(expires_ms);

-- The API hands a key out to its member again and again, so that it is stored besides its digest.
CREATE TABLE stream_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id INTEGER NOT NULL UNIQUE REFERENCES member ON DELETE CASCADE,
    key TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 6),
    issued_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE room (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    scheduled_ms INTEGER,
    created_ms INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    live_started_ms INTEGER,
    live_ended_ms INTEGER,
    cancelled_ms INTEGER,
    slow_seconds INTEGER NOT NULL DEFAULT 0 CHECK (slow_seconds BETWEEN 0 AND 3600),
    last_session INTEGER NOT NULL DEFAULT 0,
    last_message INTEGER NOT NULL DEFAULT 0,
    is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1))
) STRICT;
-- A member has one broadcast at a time.
CREATE UNIQUE INDEX room_open ON room(member_id) WHERE state IN (1, 2, 3);
CREATE INDEX room_by_member ON room(member_id, is_deleted, id);

-- One for each publish. The number is the room's; a feed that came before its room has none yet.
CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    room_id INTEGER REFERENCES room ON DELETE CASCADE,
    number INTEGER,
    name TEXT NOT NULL UNIQUE,
    began_ms INTEGER NOT NULL,
    playable_ms INTEGER,
    ended_ms INTEGER,
    UNIQUE (room_id, number),
    CHECK ((room_id IS NULL) = (number IS NULL))
) STRICT;
CREATE UNIQUE INDEX session_open ON session(member_id) WHERE ended_ms IS NULL;

-- Who is in a channel. A channel has the number of its room.
CREATE TABLE membership (
    channel_id INTEGER NOT NULL REFERENCES room ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    joined_message INTEGER NOT NULL,
    PRIMARY KEY (channel_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_by_member ON membership(member_id);

-- When a member wrote last, for slow mode; kept when the member leaves.
CREATE TABLE last_post (
    channel_id INTEGER NOT NULL REFERENCES room ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    sent_ms INTEGER NOT NULL,
    PRIMARY KEY (channel_id, member_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    channel_id INTEGER NOT NULL REFERENCES room ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    sent_ms INTEGER NOT NULL,
    origin INTEGER NOT NULL CHECK (origin BETWEEN 1 AND 3),
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    custom_type TEXT NOT NULL,
    text TEXT NOT NULL,
    participants INTEGER,
    room_state INTEGER,
    key_state INTEGER,
    session INTEGER,
    hides INTEGER,
    PRIMARY KEY (channel_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE hidden_message (
    channel_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hidden_ms INTEGER NOT NULL,
    PRIMARY KEY (channel_id, number),
    FOREIGN KEY (channel_id, number) REFERENCES message ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE ban (
    channel_id INTEGER NOT NULL REFERENCES room ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    banned_ms INTEGER NOT NULL,
    PRIMARY KEY (channel_id, member_id)
) STRICT, WITHOUT ROWID;
