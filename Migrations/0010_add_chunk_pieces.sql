-- What was received of chunks that are not whole yet, so that a short run on a slow line loses nothing. docs/schema.md
-- says what every column means.

CREATE TABLE chunk_piece (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    start INTEGER NOT NULL CHECK (start >= 0),
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    box BLOB NOT NULL CHECK (length(box) = bytes + 28),
    UNIQUE (resource_id, idx, start)
) STRICT;

CREATE TRIGGER chunk_piece_proven AFTER INSERT ON chunk BEGIN
    DELETE FROM chunk_piece WHERE resource_id = NEW.resource_id AND idx = NEW.idx;
END;

-- Header fields may be credentials; a complete lecture does not need them.
UPDATE content SET headers = '{}' WHERE state = 4 AND headers <> '{}';
