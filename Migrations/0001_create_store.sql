-- The store of LectureKit: contents, their versions, resources and chunks, the queue, and who works on it.
-- Times are milliseconds UTC. Numbers of enumerations are the frozen raw values in Sources/LectureModel.
-- docs/schema.md says what every table and column means.

CREATE TABLE migration (
    identifier TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    applied_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE store_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL CHECK (length(uuid) = 36),
    created_ms INTEGER NOT NULL,
    proof_key BLOB NOT NULL CHECK (length(proof_key) = 32)
) STRICT;

-- One run of one program on this store. Its id is never used again, so it can name a byte in the lock file.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pid INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    command TEXT NOT NULL,
    started_ms INTEGER NOT NULL
) STRICT;

-- What a learner sees as one lecture. The long texts come last: SQLite reads a row from its beginning.
CREATE TABLE content (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 512),
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 7),
    stop_reason INTEGER CHECK (stop_reason BETWEEN 1 AND 8),
    desire INTEGER NOT NULL DEFAULT 0 CHECK (desire BETWEEN 0 AND 3),
    error_code INTEGER CHECK (error_code < 0),
    error_detail TEXT NOT NULL DEFAULT '',
    error_cause TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    lease_owner INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    lease_fence INTEGER NOT NULL DEFAULT 0 CHECK (lease_fence >= 0),
    priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN -100 AND 100),
    position INTEGER NOT NULL,
    bytes_total INTEGER CHECK (bytes_total >= 0),
    bytes_proven INTEGER NOT NULL DEFAULT 0 CHECK (bytes_proven >= 0),
    chunks_total INTEGER NOT NULL DEFAULT 0 CHECK (chunks_total >= 0),
    chunks_proven INTEGER NOT NULL DEFAULT 0 CHECK (chunks_proven >= 0),
    added_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    completed_ms INTEGER,
    content_type INTEGER NOT NULL DEFAULT 1 CHECK (content_type BETWEEN 0 AND 4),
    is_gateway INTEGER NOT NULL CHECK (is_gateway IN (0, 1)),
    is_loaded INTEGER NOT NULL DEFAULT 0 CHECK (is_loaded IN (0, 1)),
    source_identity BLOB NOT NULL,
    expected_sha256 BLOB CHECK (length(expected_sha256) = 32),
    expected_bytes INTEGER CHECK (expected_bytes >= 0),
    sha256 BLOB CHECK (length(sha256) = 32),
    duration_ms INTEGER CHECK (duration_ms >= 0),
    width INTEGER CHECK (width >= 0),
    height INTEGER CHECK (height >= 0),
    title TEXT NOT NULL,
    course TEXT NOT NULL DEFAULT '',
    teacher TEXT NOT NULL DEFAULT '',
    folder TEXT NOT NULL DEFAULT '',
    company TEXT NOT NULL DEFAULT '',
    source_url TEXT NOT NULL,
    description_url TEXT NOT NULL DEFAULT '',
    synopsis TEXT NOT NULL DEFAULT '',
    headers TEXT NOT NULL DEFAULT '{}' CHECK (substr(headers, 1, 1) = '{'),
    mirrors TEXT NOT NULL DEFAULT '[]' CHECK (substr(mirrors, 1, 1) = '['),
    descriptor TEXT,
    CHECK ((state = 5) = (stop_reason IS NOT NULL)),
    CHECK (state <> 6 OR error_code IS NOT NULL),
    CHECK ((state = 4) = (completed_ms IS NOT NULL)),
    CHECK (lease_owner IS NULL OR lease_fence > 0)
) STRICT;

CREATE INDEX content_identity ON content (source_identity);
CREATE INDEX content_lease ON content (lease_owner) WHERE lease_owner IS NOT NULL;

-- Every list the command offers, in every order. The id, which every index ends with, breaks ties. An index by state
-- leaves the four states out that a content only passes through: few contents are in them, and every row that is not in
-- an index is a write less at each step of a download.
CREATE INDEX content_title ON content (title COLLATE NOCASE);
CREATE INDEX content_size ON content (bytes_total DESC);
CREATE INDEX content_completed ON content (completed_ms DESC);
CREATE INDEX content_priority ON content (priority DESC, position);
CREATE INDEX content_state ON content (state);
CREATE INDEX content_state_title ON content (state, title COLLATE NOCASE)
    WHERE state = 0 OR state = 4 OR state = 5 OR state = 6;
CREATE INDEX content_state_size ON content (state, bytes_total DESC)
    WHERE state = 0 OR state = 4 OR state = 5 OR state = 6;
CREATE INDEX content_state_priority ON content (state, priority DESC, position)
    WHERE state = 0 OR state = 4 OR state = 5 OR state = 6;
CREATE INDEX content_type ON content (content_type);
CREATE INDEX content_course ON content (course, title COLLATE NOCASE);
CREATE INDEX content_folder ON content (folder, title COLLATE NOCASE);
CREATE INDEX content_removal ON content (desire) WHERE desire = 3;

-- Contents and bytes by state, kept by the triggers below, so that a question about 100,000 contents reads eight rows.
CREATE TABLE tally (
    state INTEGER PRIMARY KEY CHECK (state BETWEEN 0 AND 7),
    contents INTEGER NOT NULL DEFAULT 0 CHECK (contents >= 0),
    bytes_total INTEGER NOT NULL DEFAULT 0 CHECK (bytes_total >= 0),
    bytes_proven INTEGER NOT NULL DEFAULT 0 CHECK (bytes_proven >= 0)
) STRICT;

INSERT INTO tally (state) VALUES (0), (1), (2), (3), (4), (5), (6), (7);

CREATE TRIGGER content_tally_insert AFTER INSERT ON content BEGIN
    UPDATE tally SET contents = contents + 1, bytes_total = bytes_total + coalesce(NEW.bytes_total, 0),
        bytes_proven = bytes_proven + NEW.bytes_proven WHERE state = NEW.state;
END;

CREATE TRIGGER content_tally_delete AFTER DELETE ON content BEGIN
    UPDATE tally SET contents = contents - 1, bytes_total = bytes_total - coalesce(OLD.bytes_total, 0),
        bytes_proven = bytes_proven - OLD.bytes_proven WHERE state = OLD.state;
END;

CREATE TRIGGER content_tally_update AFTER UPDATE OF state, bytes_total, bytes_proven ON content
WHEN OLD.state <> NEW.state OR OLD.bytes_total IS NOT NEW.bytes_total OR OLD.bytes_proven <> NEW.bytes_proven BEGIN
    UPDATE tally SET contents = contents - 1, bytes_total = bytes_total - coalesce(OLD.bytes_total, 0),
        bytes_proven = bytes_proven - OLD.bytes_proven WHERE state = OLD.state;
    UPDATE tally SET contents = contents + 1, bytes_total = bytes_total + coalesce(NEW.bytes_total, 0),
        bytes_proven = bytes_proven + NEW.bytes_proven WHERE state = NEW.state;
END;

-- Bytes that belong together. State: 0 building, 1 current, 2 superseded, 3 discarded.
CREATE TABLE version (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    sha256 BLOB CHECK (length(sha256) = 32),
    created_ms INTEGER NOT NULL,
    UNIQUE (content_id, number)
) STRICT;

CREATE UNIQUE INDEX version_building ON version (content_id) WHERE state = 0;
CREATE UNIQUE INDEX version_current ON version (content_id) WHERE state = 1;
CREATE INDEX version_left ON version (state) WHERE state = 2 OR state = 3;

-- One thing to fetch for a version.
CREATE TABLE resource (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version_id INTEGER NOT NULL REFERENCES version (id) ON DELETE CASCADE,
    role INTEGER NOT NULL CHECK (role BETWEEN 0 AND 7),
    position INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 4),
    total_bytes INTEGER CHECK (total_bytes >= 0),
    chunk_bytes INTEGER NOT NULL DEFAULT 1048576 CHECK (chunk_bytes > 0),
    chunk_count INTEGER NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
    proven_count INTEGER NOT NULL DEFAULT 0 CHECK (proven_count >= 0),
    proven_bytes INTEGER NOT NULL DEFAULT 0 CHECK (proven_bytes >= 0),
    accepts_ranges INTEGER NOT NULL DEFAULT 0 CHECK (accepts_ranges IN (0, 1)),
    expected_sha256 BLOB CHECK (length(expected_sha256) = 32),
    expected_bytes INTEGER CHECK (expected_bytes >= 0),
    sha256 BLOB CHECK (length(sha256) = 32),
    name TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL DEFAULT '',
    etag TEXT,
    last_modified TEXT,
    media_type TEXT,
    CHECK (state IN (0, 4) OR file_path <> '')
) STRICT;

CREATE INDEX resource_version ON resource (version_id, role, position);
CREATE INDEX resource_planned ON resource (state, total_bytes);

-- A proven chunk; a chunk without a row is absent.
CREATE TABLE chunk (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    proof BLOB NOT NULL CHECK (length(proof) BETWEEN 1 AND 64),
    proven_ms INTEGER NOT NULL,
    PRIMARY KEY (resource_id, idx)
) STRICT, WITHOUT ROWID;

-- A URL of a resource, with its life time. State: 0 usable, 1 refused, 2 disagrees.
CREATE TABLE url_lease (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL CHECK (rank >= 0),
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 2),
    obtained_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    url TEXT NOT NULL
) STRICT;

CREATE INDEX url_lease_resource ON url_lease (resource_id, rank);

-- One request to a server, kept to answer "why"; at most 100 of a content.
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    resource_id INTEGER REFERENCES resource (id) ON DELETE SET NULL,
    at_ms INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status INTEGER,
    curl_code INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    range_first INTEGER NOT NULL,
    range_count INTEGER,
    origin TEXT NOT NULL,
    decision TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX attempt_content ON attempt (content_id);
CREATE INDEX attempt_resource ON attempt (resource_id);

-- What is remembered of a server.
CREATE TABLE origin (
    origin TEXT PRIMARY KEY NOT NULL,
    connection_limit INTEGER NOT NULL CHECK (connection_limit > 0),
    wait_until_ms INTEGER,
    wait_set_ms INTEGER,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What one running command wants. A claim looks only at the items of its own run.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    started_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX run_owner ON run (owner_id);

CREATE TABLE run_item (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    PRIMARY KEY (run_id, content_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_item_content ON run_item (content_id);

-- Where finished bytes shall also stand; the row goes when they do.
CREATE TABLE output (
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    path TEXT NOT NULL CHECK (path <> ''),
    PRIMARY KEY (content_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
    name TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
