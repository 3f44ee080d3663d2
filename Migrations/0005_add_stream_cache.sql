-- The streaming cache: media that was read without being kept. The rows say what may lie below cache/, every block in a
-- file of its own; a row whose file is missing or does not open counts as missing. docs/schema.md says what every column
-- means.

-- One version of one media. The validator is that of the bytes, and strong; a version that is over is not current.
CREATE TABLE stream_item (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity BLOB NOT NULL CHECK (length(identity) = 32),
    content_key TEXT NOT NULL,
    is_current INTEGER NOT NULL DEFAULT 1 CHECK (is_current IN (0, 1)),
    etag TEXT,
    last_modified TEXT,
    total_bytes INTEGER NOT NULL CHECK (total_bytes > 0),
    wrapped BLOB NOT NULL CHECK (length(wrapped) > 0),
    made_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    CHECK (etag IS NOT NULL OR last_modified IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX stream_item_current ON stream_item (identity) WHERE is_current = 1;

-- A block that was fetched, or is about to be written: the room is taken before the file is made.
CREATE TABLE stream_block (
    item_id INTEGER NOT NULL REFERENCES stream_item (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    used_ms INTEGER NOT NULL,
    PRIMARY KEY (item_id, idx)
) STRICT, WITHOUT ROWID;

-- The longest unused first; with what an eviction asks for.
CREATE INDEX stream_block_used ON stream_block (used_ms, item_id, idx, bytes);

-- Who is streaming what. Goes with its owner, so that a killed process holds nothing.
CREATE TABLE stream_use (
    item_id INTEGER NOT NULL REFERENCES stream_item (id) ON DELETE CASCADE,
    owner_id INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE,
    PRIMARY KEY (item_id, owner_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX stream_use_owner ON stream_use (owner_id);

-- The sums of all blocks; one row, kept by the triggers below.
CREATE TABLE stream_tally (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    blocks INTEGER NOT NULL DEFAULT 0 CHECK (blocks >= 0),
    bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0)
) STRICT;

INSERT INTO stream_tally(id) VALUES (1);

CREATE TRIGGER stream_block_added AFTER INSERT ON stream_block BEGIN
    UPDATE stream_tally SET blocks = blocks + 1, bytes = bytes + NEW.bytes;
END;

CREATE TRIGGER stream_block_gone AFTER DELETE ON stream_block BEGIN
    UPDATE stream_tally SET blocks = blocks - 1, bytes = bytes - OLD.bytes;
END;

CREATE TRIGGER stream_block_resized AFTER UPDATE OF bytes ON stream_block BEGIN
    UPDATE stream_tally SET bytes = bytes - OLD.bytes + NEW.bytes;
END;
