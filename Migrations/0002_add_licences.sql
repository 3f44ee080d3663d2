-- Licences: what is granted, what was used of it, what a server must still be told, which renewals are wanted, and what
-- is remembered of the time. Sealed files: the wrapped key of each content. docs/schema.md says what every column means.

-- 0 plain; 1 sealed, and every segment that was ever sealed under the file's header is a proven chunk; 2 sealed, and more
-- may have been sealed: the next process that goes on makes a new header and a new file.
ALTER TABLE resource ADD COLUMN seal INTEGER NOT NULL DEFAULT 0 CHECK (seal BETWEEN 0 AND 2);

-- The key of a content's sealed files, wrapped for this device (RFC 3394). Purpose: 0 unlicensed, 1 licensed; each is
-- wrapped under a key of its own, so that the number cannot be changed without losing the key.
CREATE TABLE content_key (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    purpose INTEGER NOT NULL CHECK (purpose IN (0, 1)),
    wrapped BLOB NOT NULL CHECK (length(wrapped) = 40),
    made_ms INTEGER NOT NULL
) STRICT;

-- One licence a content. It belongs to the content's key and not to its row: what was used must outlive a removal.
CREATE TABLE licence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_key TEXT NOT NULL UNIQUE CHECK (length(content_key) BETWEEN 1 AND 512),
    -- The content of that key; NULL once it is gone: the licence is retired. Kept by the triggers below.
    content_id INTEGER REFERENCES content (id) ON DELETE SET NULL,
    -- Where it comes from.
    callback_url TEXT NOT NULL DEFAULT '',
    drm_key_id TEXT NOT NULL DEFAULT '',
    client_user_id TEXT NOT NULL DEFAULT '',
    user_values TEXT NOT NULL DEFAULT '{}' CHECK (substr(user_values, 1, 1) = '{'),
    -- What is granted; form is NULL while nothing is.
    form INTEGER CHECK (form IN (0, 1)),
    is_verified INTEGER NOT NULL DEFAULT 0 CHECK (is_verified IN (0, 1)),
    device_thumbprint BLOB CHECK (length(device_thumbprint) = 32),
    starts_ms INTEGER,
    expires_ms INTEGER,
    count_limit INTEGER CHECK (count_limit > 0),
    play_time_limit_ms INTEGER CHECK (play_time_limit_ms > 0),
    play_time_unit INTEGER NOT NULL DEFAULT 0 CHECK (play_time_unit IN (0, 1)),
    check_ms INTEGER,
    checks_every_play INTEGER NOT NULL DEFAULT 0 CHECK (checks_every_play IN (0, 1)),
    asks_before_renewal INTEGER NOT NULL DEFAULT 0 CHECK (asks_before_renewal IN (0, 1)),
    bookmark_scope INTEGER NOT NULL DEFAULT 0 CHECK (bookmark_scope BETWEEN 0 AND 2),
    bookmarks_are_read_only INTEGER NOT NULL DEFAULT 0 CHECK (bookmarks_are_read_only IN (0, 1)),
    -- What was used, and what a server or a clock has said since.
    count_used INTEGER NOT NULL DEFAULT 0 CHECK (count_used >= 0),
    play_time_used_ms INTEGER NOT NULL DEFAULT 0 CHECK (play_time_used_ms >= 0),
    is_force_expired INTEGER NOT NULL DEFAULT 0 CHECK (is_force_expired IN (0, 1)),
    is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1)),
    was_seen_expired INTEGER NOT NULL DEFAULT 0 CHECK (was_seen_expired IN (0, 1)),
    owes_completion INTEGER NOT NULL DEFAULT 0 CHECK (owes_completion IN (0, 1)),
    suspicion INTEGER NOT NULL DEFAULT 0 CHECK (suspicion BETWEEN 0 AND 3),
    -- The proof.
    issued_ms INTEGER,
    token_id TEXT NOT NULL DEFAULT '',
    granted_ms INTEGER,
    checked_ms INTEGER,
    -- A code over all columns above but the numbers of rows, and over the token, under the device's key.
    mac BLOB NOT NULL CHECK (length(mac) = 32),
    -- When it ends or has to be checked, whichever is sooner; 0 where only its server can make it playable again.
    deadline_ms INTEGER GENERATED ALWAYS AS (CASE WHEN form IS NULL OR is_deleted = 1 THEN NULL
        WHEN is_force_expired = 1 OR was_seen_expired = 1 OR suspicion <> 0 THEN 0
        ELSE coalesce(min(expires_ms, check_ms), expires_ms, check_ms) END) VIRTUAL,
    -- Not part of the code: how the last attempt to renew it went.
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    error_code INTEGER CHECK (error_code < 0),
    error_detail TEXT NOT NULL DEFAULT '',
    -- The raw token comes last: SQLite reads a row from its beginning.
    token TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE UNIQUE INDEX licence_content ON licence (content_id) WHERE content_id IS NOT NULL;
CREATE INDEX licence_deadline ON licence (deadline_ms, content_id) WHERE content_id IS NOT NULL;

-- A copy for lists of contents in the order of deadlines, those without one last.
ALTER TABLE content ADD COLUMN deadline_ms INTEGER;
CREATE INDEX content_deadline ON content (coalesce(deadline_ms, 9223372036854775807));

-- A licence finds its content whenever that comes, goes or learns its key.
CREATE TRIGGER content_licence_insert AFTER INSERT ON content BEGIN
    UPDATE licence SET content_id = NEW.id WHERE content_key = NEW.key;
END;

CREATE TRIGGER content_licence_key AFTER UPDATE OF key ON content WHEN OLD.key <> NEW.key BEGIN
    UPDATE licence SET content_id = NULL WHERE content_id = NEW.id;
    UPDATE content SET deadline_ms = NULL WHERE id = NEW.id;
    UPDATE licence SET content_id = NEW.id WHERE content_key = NEW.key;
END;

CREATE TRIGGER licence_deadline_insert AFTER INSERT ON licence WHEN NEW.content_id IS NOT NULL BEGIN
    UPDATE content SET deadline_ms = NEW.deadline_ms WHERE id = NEW.content_id;
END;

CREATE TRIGGER licence_deadline_update
AFTER UPDATE OF content_id, form, is_deleted, is_force_expired, was_seen_expired, suspicion, expires_ms, check_ms
ON licence
WHEN NEW.content_id IS NOT NULL
    AND (OLD.deadline_ms IS NOT NEW.deadline_ms OR OLD.content_id IS NOT NEW.content_id) BEGIN
    UPDATE content SET deadline_ms = NEW.deadline_ms WHERE id = NEW.content_id;
END;

CREATE TRIGGER licence_deadline_delete AFTER DELETE ON licence WHEN OLD.content_id IS NOT NULL BEGIN
    UPDATE content SET deadline_ms = NULL WHERE id = OLD.content_id;
END;

-- A batch renewal that was asked for. It is ended when all that it wants is done; one that is not is gone on with.
CREATE TABLE renewal_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    selection TEXT NOT NULL,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;

CREATE UNIQUE INDEX renewal_run_open ON renewal_run (selection) WHERE ended_ms IS NULL;

-- What a batch renewal wants. State: 0 wanted, 1 renewed, 2 failed. A row without an owner is nobody's work.
CREATE TABLE renewal (
    run_id INTEGER NOT NULL REFERENCES renewal_run (id) ON DELETE CASCADE,
    licence_id INTEGER NOT NULL REFERENCES licence (id) ON DELETE CASCADE,
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 2),
    owner_id INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    -- The licence's deadline when it was wanted; the end of all time for none.
    urgency_ms INTEGER NOT NULL,
    -- The licence's own, kept by a trigger, so that what waits is passed by without reading it.
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    error_code INTEGER CHECK (error_code < 0),
    error_detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, licence_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX renewal_licence ON renewal (licence_id);
CREATE INDEX renewal_state ON renewal (run_id, state);
CREATE INDEX renewal_owner ON renewal (owner_id) WHERE owner_id IS NOT NULL;
-- What may be claimed: at once, the most urgent first; and what waits, the soonest first.
CREATE INDEX renewal_fresh ON renewal (run_id, urgency_ms)
    WHERE state = 0 AND owner_id IS NULL AND next_attempt_ms IS NULL;
CREATE INDEX renewal_waiting ON renewal (run_id, next_attempt_ms, wait_set_ms)
    WHERE state = 0 AND owner_id IS NULL AND next_attempt_ms IS NOT NULL;

CREATE TRIGGER renewal_wait AFTER UPDATE OF next_attempt_ms, wait_set_ms ON licence
WHEN OLD.next_attempt_ms IS NOT NEW.next_attempt_ms OR OLD.wait_set_ms IS NOT NEW.wait_set_ms BEGIN
    UPDATE renewal SET next_attempt_ms = NEW.next_attempt_ms, wait_set_ms = NEW.wait_set_ms
    WHERE licence_id = NEW.id AND state = 0;
END;

-- Nobody renews the licence of a lecture that is gone.
CREATE TRIGGER renewal_retired AFTER UPDATE OF content_id ON licence WHEN NEW.content_id IS NULL BEGIN
    DELETE FROM renewal WHERE licence_id = NEW.id AND state = 0;
END;

-- What a server must still be told. Kind: 2 the download is complete.
CREATE TABLE debt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_key TEXT NOT NULL CHECK (length(content_key) BETWEEN 1 AND 512),
    kind INTEGER NOT NULL CHECK (kind = 2),
    owner_id INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    created_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    error_code INTEGER CHECK (error_code < 0),
    error_detail TEXT NOT NULL DEFAULT '',
    UNIQUE (content_key, kind)
) STRICT;

CREATE INDEX debt_owner ON debt (owner_id) WHERE owner_id IS NOT NULL;
CREATE INDEX debt_next_attempt ON debt (next_attempt_ms, wait_set_ms) WHERE owner_id IS NULL;

-- One question to a licence server, kept for `why`. At most 20 of a licence.
CREATE TABLE licence_attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    licence_id INTEGER NOT NULL REFERENCES licence (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 3),
    status INTEGER,
    outcome TEXT NOT NULL,
    error_code INTEGER CHECK (error_code < 0),
    detail TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX licence_attempt_licence ON licence_attempt (licence_id, id);

-- What is remembered of the time and of the licences together: a chain, each row with a code over itself and the row
-- before. The newest code is also kept beside the device's key. Rows are only appended; old ones are pruned.
-- The sum of the licences' codes is covered: who could read it could look for old rows that make up the same sum.
CREATE TABLE time_ledger (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL CHECK (source BETWEEN 0 AND 3),
    device BLOB NOT NULL CHECK (length(device) = 32),
    proven_ms INTEGER,
    estimate_ms INTEGER,
    offset_ms INTEGER NOT NULL,
    is_anchored INTEGER NOT NULL CHECK (is_anchored IN (0, 1)),
    has_leapt INTEGER NOT NULL CHECK (has_leapt IN (0, 1)),
    doubt INTEGER CHECK (doubt BETWEEN 1 AND 6),
    wall_ms INTEGER NOT NULL,
    boot_ns INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    licence_sum BLOB NOT NULL CHECK (length(licence_sum) = 32),
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    code BLOB NOT NULL CHECK (length(code) = 32)
) STRICT;

CREATE TRIGGER time_ledger_is_append_only BEFORE UPDATE ON time_ledger BEGIN
    SELECT raise(ABORT, 'the time ledger is only appended to');
END;
