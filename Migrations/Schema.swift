// swift-format-ignore-file

extension MigrationCatalogue {
    /// What all migrations together make of an empty database. Made by Tools/make-schema; not to be edited.
    package static let schema = #"""
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
CREATE TABLE owner (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pid INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    command TEXT NOT NULL,
    started_ms INTEGER NOT NULL
) STRICT;
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
    descriptor TEXT, deadline_ms INTEGER, selection TEXT NOT NULL DEFAULT '',
    CHECK ((state = 5) = (stop_reason IS NOT NULL)),
    CHECK (state <> 6 OR error_code IS NOT NULL),
    CHECK ((state = 4) = (completed_ms IS NOT NULL)),
    CHECK (lease_owner IS NULL OR lease_fence > 0)
) STRICT;
CREATE INDEX content_identity ON content (source_identity);
CREATE INDEX content_lease ON content (lease_owner) WHERE lease_owner IS NOT NULL;
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
CREATE TABLE tally (
    state INTEGER PRIMARY KEY CHECK (state BETWEEN 0 AND 7),
    contents INTEGER NOT NULL DEFAULT 0 CHECK (contents >= 0),
    bytes_total INTEGER NOT NULL DEFAULT 0 CHECK (bytes_total >= 0),
    bytes_proven INTEGER NOT NULL DEFAULT 0 CHECK (bytes_proven >= 0)
) STRICT;
CREATE TABLE version (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    sha256 BLOB CHECK (length(sha256) = 32),
    created_ms INTEGER NOT NULL, source_url TEXT NOT NULL DEFAULT '', source_identity BLOB NOT NULL DEFAULT x'', completed_ms INTEGER, is_outdated INTEGER NOT NULL DEFAULT 0 CHECK (is_outdated IN (0, 1)),
    UNIQUE (content_id, number)
) STRICT;
CREATE UNIQUE INDEX version_building ON version (content_id) WHERE state = 0;
CREATE UNIQUE INDEX version_current ON version (content_id) WHERE state = 1;
CREATE INDEX version_left ON version (state) WHERE state = 2 OR state = 3;
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
    media_type TEXT, seal INTEGER NOT NULL DEFAULT 0 CHECK (seal BETWEEN 0 AND 2), base_url TEXT,
    CHECK (state IN (0, 4) OR file_path <> '')
) STRICT;
CREATE INDEX resource_version ON resource (version_id, role, position);
CREATE INDEX resource_planned ON resource (state, total_bytes);
CREATE TABLE chunk (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    proof BLOB NOT NULL CHECK (length(proof) BETWEEN 1 AND 64),
    proven_ms INTEGER NOT NULL,
    PRIMARY KEY (resource_id, idx)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE origin (
    origin TEXT PRIMARY KEY NOT NULL,
    connection_limit INTEGER NOT NULL CHECK (connection_limit > 0),
    wait_until_ms INTEGER,
    wait_set_ms INTEGER,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE output (
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    path TEXT NOT NULL CHECK (path <> ''), may_replace INTEGER NOT NULL DEFAULT 0 CHECK (may_replace IN (0, 1)),
    PRIMARY KEY (content_id, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE setting (
    name TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE content_key (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    purpose INTEGER NOT NULL CHECK (purpose IN (0, 1)),
    wrapped BLOB NOT NULL CHECK (length(wrapped) = 40),
    made_ms INTEGER NOT NULL
, granting_keys TEXT CHECK (length(granting_keys) > 0)) STRICT;
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
, granting_keys TEXT CHECK (length(granting_keys) > 0)) STRICT;
CREATE UNIQUE INDEX licence_content ON licence (content_id) WHERE content_id IS NOT NULL;
CREATE INDEX licence_deadline ON licence (deadline_ms, content_id) WHERE content_id IS NOT NULL;
CREATE INDEX content_deadline ON content (coalesce(deadline_ms, 9223372036854775807));
CREATE TABLE renewal_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    selection TEXT NOT NULL,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX renewal_run_open ON renewal_run (selection) WHERE ended_ms IS NULL;
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
CREATE INDEX renewal_fresh ON renewal (run_id, urgency_ms)
    WHERE state = 0 AND owner_id IS NULL AND next_attempt_ms IS NULL;
CREATE INDEX renewal_waiting ON renewal (run_id, next_attempt_ms, wait_set_ms)
    WHERE state = 0 AND owner_id IS NULL AND next_attempt_ms IS NOT NULL;
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
CREATE TABLE lms_target (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('GET', 'POST')),
    format INTEGER NOT NULL CHECK (format BETWEEN 0 AND 2),
    -- The channel's parameters with their macros, as an object in its order.
    parameters TEXT NOT NULL DEFAULT '{}' CHECK (substr(parameters, 1, 1) = '{'),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    suspension INTEGER CHECK (suspension BETWEEN 1 AND 3),
    bytes_limit INTEGER CHECK (bytes_limit > 0),
    -- How many reports for it are pending or leased; kept by the triggers below.
    open INTEGER NOT NULL DEFAULT 0 CHECK (open >= 0),
    trouble_ms INTEGER,
    trouble_status INTEGER,
    trouble_reason INTEGER CHECK (trouble_reason BETWEEN 1 AND 9),
    trouble_text TEXT NOT NULL DEFAULT '',
    UNIQUE (url, method, format, parameters),
    CHECK ((next_attempt_ms IS NULL) = (wait_set_ms IS NULL))
) STRICT;
CREATE TABLE lms_flight (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id INTEGER NOT NULL REFERENCES lms_target (id),
    owner_id INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    uuid TEXT NOT NULL CHECK (length(uuid) > 0),
    method TEXT NOT NULL CHECK (method IN ('GET', 'POST')),
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    bounded_tries INTEGER NOT NULL DEFAULT 0 CHECK (bounded_tries >= 0),
    sealed_ms INTEGER NOT NULL,
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    trouble_ms INTEGER,
    trouble_status INTEGER,
    trouble_reason INTEGER CHECK (trouble_reason BETWEEN 1 AND 9),
    trouble_text TEXT NOT NULL DEFAULT '',
    media_type TEXT NOT NULL DEFAULT '',
    encoding TEXT NOT NULL DEFAULT '',
    query TEXT NOT NULL DEFAULT '',
    body BLOB NOT NULL,
    CHECK ((next_attempt_ms IS NULL) = (wait_set_ms IS NULL))
) STRICT;
CREATE INDEX lms_flight_target ON lms_flight (target_id, owner_id, next_attempt_ms, wait_set_ms);
CREATE INDEX lms_flight_owner ON lms_flight (owner_id) WHERE owner_id IS NOT NULL;
CREATE TABLE lms_lane (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id INTEGER REFERENCES lms_target (id),
    flight_id INTEGER REFERENCES lms_flight (id) ON DELETE SET NULL,
    -- How many of its reports are pending or leased; kept by the triggers below.
    open INTEGER NOT NULL DEFAULT 0 CHECK (open >= 0),
    client_user_id TEXT NOT NULL,
    session TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX lms_lane_session ON lms_lane (client_user_id, session, coalesce(target_id, 0));
CREATE INDEX lms_lane_ready ON lms_lane (target_id, (open > 0 AND flight_id IS NULL));
CREATE INDEX lms_lane_flight ON lms_lane (flight_id) WHERE flight_id IS NOT NULL;
CREATE TABLE report (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    lane_id INTEGER NOT NULL REFERENCES lms_lane (id),
    -- The target it had first, once it was given another; only compared with.
    first_target INTEGER,
    sequence INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 5),
    -- Whether the bytes of its request hold it.
    is_sealed INTEGER NOT NULL DEFAULT 0 CHECK (is_sealed IN (0, 1)),
    is_cumulative INTEGER NOT NULL DEFAULT 0 CHECK (is_cumulative IN (0, 1)),
    flight_id INTEGER REFERENCES lms_flight (id),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    dead_reason INTEGER CHECK (dead_reason BETWEEN 1 AND 4),
    changed_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    boot_ns INTEGER,
    corrected_ms INTEGER,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 256),
    boot_id TEXT,
    content TEXT NOT NULL DEFAULT '',
    course TEXT,
    answer_ms INTEGER,
    answer_status INTEGER,
    answer_text TEXT,
    note TEXT,
    "values" TEXT NOT NULL CHECK (substr("values", 1, 1) = '{'),
    CHECK ((state = 3) = (dead_reason IS NOT NULL)),
    CHECK (is_sealed = 0 OR flight_id IS NOT NULL),
    CHECK (state < 2 OR flight_id IS NULL)
) STRICT;
CREATE INDEX report_lane ON report (lane_id, sequence, id) WHERE state < 2;
CREATE INDEX report_state ON report (state);
CREATE INDEX report_ended ON report (changed_ms) WHERE state IN (2, 4, 5);
CREATE INDEX report_flight ON report (flight_id, lane_id) WHERE flight_id IS NOT NULL;
CREATE INDEX report_session ON report (lane_id, sequence);
CREATE INDEX report_uncorrected ON report (boot_id) WHERE corrected_ms IS NULL AND boot_id IS NOT NULL;
CREATE TABLE lms_account (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    created INTEGER NOT NULL DEFAULT 0 CHECK (created >= 0),
    pruned INTEGER NOT NULL DEFAULT 0 CHECK (pruned >= 0),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased >= 0)
) STRICT;
CREATE TABLE backup_copy (
    path TEXT PRIMARY KEY,
    made_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE resume_point (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    position_ms INTEGER NOT NULL CHECK (position_ms > 0)
) STRICT;
CREATE INDEX content_folders_first ON content (folder = '', folder, title COLLATE NOCASE);
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
CREATE TABLE stream_block (
    item_id INTEGER NOT NULL REFERENCES stream_item (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    used_ms INTEGER NOT NULL,
    PRIMARY KEY (item_id, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX stream_block_used ON stream_block (used_ms, item_id, idx, bytes);
CREATE TABLE stream_use (
    item_id INTEGER NOT NULL REFERENCES stream_item (id) ON DELETE CASCADE,
    owner_id INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE,
    PRIMARY KEY (item_id, owner_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stream_use_owner ON stream_use (owner_id);
CREATE TABLE stream_tally (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    blocks INTEGER NOT NULL DEFAULT 0 CHECK (blocks >= 0),
    bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0)
) STRICT;
CREATE INDEX version_outdated ON version (content_id) WHERE state = 1 AND is_outdated = 1;
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
CREATE TABLE chunk_piece (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL CHECK (idx >= 0),
    start INTEGER NOT NULL CHECK (start >= 0),
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    box BLOB NOT NULL CHECK (length(box) = bytes + 28),
    UNIQUE (resource_id, idx, start)
) STRICT;
CREATE INDEX licence_granting ON licence(granting_keys) WHERE content_id IS NOT NULL AND form IS NOT NULL;
CREATE INDEX content_error ON content (error_code) WHERE error_code IS NOT NULL;
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
CREATE TABLE bookmark_list (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- When the server was asked last.
    synced_ms INTEGER,
    content_key TEXT NOT NULL,
    client_user_id TEXT NOT NULL,
    UNIQUE (content_key, client_user_id)
) STRICT;
CREATE TABLE bookmark (
    list_id INTEGER NOT NULL REFERENCES bookmark_list (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
    position_ms INTEGER NOT NULL CHECK (position_ms >= 0),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
    changed_ms INTEGER,
    -- The report that says this change, and every other one of the list.
    report_uuid TEXT,
    value TEXT NOT NULL DEFAULT '',
    label TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (list_id, kind, position_ms),
    CHECK (state = 0 OR kind = 0),
    CHECK (state <> 0 OR report_uuid IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX bookmark_report ON bookmark (report_uuid) WHERE report_uuid IS NOT NULL;
CREATE TABLE playlist (
    id INTEGER PRIMARY KEY,
    version_id INTEGER NOT NULL REFERENCES version (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    text TEXT NOT NULL,
    UNIQUE (version_id, position)
) STRICT;
CREATE TABLE pin (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    pinned_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE last_play (
    content_id INTEGER PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    played_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE webhook (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE CHECK (length(url) > 0),
    kinds INTEGER NOT NULL CHECK (kinds > 0),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    suspension INTEGER CHECK (suspension = 1),
    -- How many deliveries were made for it, and what has become of them; kept by the triggers below.
    created INTEGER NOT NULL DEFAULT 0 CHECK (created >= 0),
    waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    dead INTEGER NOT NULL DEFAULT 0 CHECK (dead >= 0),
    delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered >= 0),
    expired INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
    delivered_ms INTEGER,
    answer_ms INTEGER,
    answer_status INTEGER,
    CHECK ((next_attempt_ms IS NULL) = (wait_set_ms IS NULL))
) STRICT;
CREATE TABLE webhook_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 9),
    happened_ms INTEGER NOT NULL,
    content_key TEXT NOT NULL DEFAULT '',
    course TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    bytes INTEGER,
    error_code INTEGER CHECK (error_code < 0),
    report_uuid TEXT,
    dead_reason INTEGER CHECK (dead_reason BETWEEN 1 AND 4),
    status INTEGER
) STRICT;
CREATE TABLE webhook_delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id INTEGER NOT NULL REFERENCES webhook_event (id) ON DELETE CASCADE,
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 2),
    owner_id INTEGER REFERENCES owner (id) ON DELETE SET NULL,
    happened_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    refusals INTEGER NOT NULL DEFAULT 0 CHECK (refusals >= 0),
    next_attempt_ms INTEGER,
    wait_set_ms INTEGER,
    answer_ms INTEGER,
    answer_status INTEGER,
    lane TEXT NOT NULL DEFAULT '',
    CHECK (owner_id IS NULL OR state = 0),
    CHECK ((next_attempt_ms IS NULL) = (wait_set_ms IS NULL))
) STRICT;
CREATE INDEX webhook_delivery_endpoint ON webhook_delivery (webhook_id, state, id);
CREATE INDEX webhook_delivery_lane ON webhook_delivery (webhook_id, lane, id) WHERE state = 0;
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (webhook_id, next_attempt_ms)
    WHERE state = 0 AND next_attempt_ms IS NOT NULL;
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);
CREATE INDEX webhook_delivery_owner ON webhook_delivery (owner_id) WHERE owner_id IS NOT NULL;
CREATE TABLE viewer_resume_point (
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    client_user_id TEXT NOT NULL CHECK (length(client_user_id) > 0),
    position_ms INTEGER NOT NULL CHECK (position_ms >= 0),
    PRIMARY KEY (content_id, client_user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX viewer_resume_point_user ON viewer_resume_point (client_user_id);
INSERT INTO tally VALUES (0, 0, 0, 0);
INSERT INTO tally VALUES (1, 0, 0, 0);
INSERT INTO tally VALUES (2, 0, 0, 0);
INSERT INTO tally VALUES (3, 0, 0, 0);
INSERT INTO tally VALUES (4, 0, 0, 0);
INSERT INTO tally VALUES (5, 0, 0, 0);
INSERT INTO tally VALUES (6, 0, 0, 0);
INSERT INTO tally VALUES (7, 0, 0, 0);
INSERT INTO lms_account VALUES (1, 0, 0, 0);
INSERT INTO stream_tally VALUES (1, 0, 0);
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
CREATE TRIGGER renewal_wait AFTER UPDATE OF next_attempt_ms, wait_set_ms ON licence
WHEN OLD.next_attempt_ms IS NOT NEW.next_attempt_ms OR OLD.wait_set_ms IS NOT NEW.wait_set_ms BEGIN
    UPDATE renewal SET next_attempt_ms = NEW.next_attempt_ms, wait_set_ms = NEW.wait_set_ms
    WHERE licence_id = NEW.id AND state = 0;
END;
CREATE TRIGGER renewal_retired AFTER UPDATE OF content_id ON licence WHEN NEW.content_id IS NULL BEGIN
    DELETE FROM renewal WHERE licence_id = NEW.id AND state = 0;
END;
CREATE TRIGGER time_ledger_is_append_only BEFORE UPDATE ON time_ledger BEGIN
    SELECT raise(ABORT, 'the time ledger is only appended to');
END;
CREATE TRIGGER report_insert AFTER INSERT ON report BEGIN
    UPDATE lms_account SET created = created + 1;
    UPDATE lms_lane SET open = open + 1 WHERE id = NEW.lane_id AND NEW.state < 2;
END;
CREATE TRIGGER report_open AFTER UPDATE OF state, lane_id ON report
WHEN (OLD.state < 2) <> (NEW.state < 2) OR OLD.lane_id <> NEW.lane_id BEGIN
    UPDATE lms_lane SET open = open - 1 WHERE id = OLD.lane_id AND OLD.state < 2;
    UPDATE lms_lane SET open = open + 1 WHERE id = NEW.lane_id AND NEW.state < 2;
END;
CREATE TRIGGER report_delete AFTER DELETE ON report WHEN OLD.state < 2 BEGIN
    UPDATE lms_lane SET open = open - 1 WHERE id = OLD.lane_id;
END;
CREATE TRIGGER lms_lane_open AFTER UPDATE OF open ON lms_lane WHEN NEW.target_id IS NOT NULL BEGIN
    UPDATE lms_target SET open = open + NEW.open - OLD.open WHERE id = NEW.target_id;
END;
CREATE TRIGGER report_flight_enter AFTER UPDATE OF flight_id, lane_id ON report
WHEN NEW.flight_id IS NOT NULL AND (OLD.flight_id IS NOT NEW.flight_id OR OLD.lane_id <> NEW.lane_id) BEGIN
    UPDATE lms_lane SET flight_id = NEW.flight_id WHERE id = NEW.lane_id AND flight_id IS NOT NEW.flight_id;
END;
CREATE TRIGGER report_flight_leave AFTER UPDATE OF flight_id, lane_id ON report
WHEN OLD.flight_id IS NOT NULL AND (OLD.flight_id IS NOT NEW.flight_id OR OLD.lane_id <> NEW.lane_id) BEGIN
    UPDATE lms_lane SET flight_id = NULL WHERE id = OLD.lane_id AND flight_id = OLD.flight_id
        AND NOT EXISTS (SELECT 1 FROM report WHERE flight_id = OLD.flight_id AND lane_id = OLD.lane_id);
END;
CREATE TRIGGER report_flight_delete AFTER DELETE ON report WHEN OLD.flight_id IS NOT NULL BEGIN
    UPDATE lms_lane SET flight_id = NULL WHERE id = OLD.lane_id AND flight_id = OLD.flight_id
        AND NOT EXISTS (SELECT 1 FROM report WHERE flight_id = OLD.flight_id AND lane_id = OLD.lane_id);
END;
CREATE TRIGGER lms_flight_orphan AFTER UPDATE OF owner_id ON lms_flight WHEN NEW.owner_id IS NULL BEGIN
    UPDATE report SET state = 0, flight_id = NULL WHERE flight_id = NEW.id AND is_sealed = 0;
    UPDATE report SET state = 0 WHERE flight_id = NEW.id AND state = 1;
    DELETE FROM lms_flight WHERE id = NEW.id AND NOT EXISTS (SELECT 1 FROM report WHERE flight_id = NEW.id);
END;
CREATE TRIGGER stream_block_added AFTER INSERT ON stream_block BEGIN
    UPDATE stream_tally SET blocks = blocks + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER stream_block_gone AFTER DELETE ON stream_block BEGIN
    UPDATE stream_tally SET blocks = blocks - 1, bytes = bytes - OLD.bytes;
END;
CREATE TRIGGER stream_block_resized AFTER UPDATE OF bytes ON stream_block BEGIN
    UPDATE stream_tally SET bytes = bytes - OLD.bytes + NEW.bytes;
END;
CREATE TRIGGER chunk_piece_proven AFTER INSERT ON chunk BEGIN
    DELETE FROM chunk_piece WHERE resource_id = NEW.resource_id AND idx = NEW.idx;
END;
CREATE TRIGGER bookmark_delivered AFTER UPDATE OF state ON report
WHEN NEW.state = 2 AND OLD.state <> 2 AND NEW.uuid GLOB 'bookmarks-*' BEGIN
    DELETE FROM bookmark WHERE report_uuid = NEW.uuid AND state = 2;
    UPDATE bookmark SET state = 0, report_uuid = NULL WHERE report_uuid = NEW.uuid;
END;
CREATE TRIGGER bookmark_content_gone AFTER DELETE ON content BEGIN
    DELETE FROM bookmark_list WHERE content_key = OLD.key
        AND NOT EXISTS (SELECT 1 FROM bookmark WHERE list_id = bookmark_list.id AND state <> 0);
END;
CREATE TRIGGER bookmark_content_renamed AFTER UPDATE OF key ON content WHEN NEW.key <> OLD.key BEGIN
    UPDATE OR IGNORE bookmark_list SET content_key = NEW.key WHERE content_key = OLD.key;
END;
CREATE TRIGGER webhook_event_insert AFTER INSERT ON webhook_event BEGIN
    INSERT INTO webhook_delivery(webhook_id, event_id, happened_ms, lane)
    SELECT id, NEW.id, NEW.happened_ms, iif(NEW.content_key = '', coalesce(NEW.report_uuid, ''), NEW.content_key)
    FROM webhook WHERE kinds & (1 << NEW.kind) <> 0;
END;
CREATE TRIGGER webhook_delivery_insert AFTER INSERT ON webhook_delivery BEGIN
    UPDATE webhook SET created = created + 1, waiting = waiting + (NEW.state = 0) WHERE id = NEW.webhook_id;
END;
CREATE TRIGGER webhook_delivery_state AFTER UPDATE OF state ON webhook_delivery WHEN OLD.state <> NEW.state BEGIN
    UPDATE webhook SET waiting = waiting - (OLD.state = 0) + (NEW.state = 0),
        dead = dead - (OLD.state = 1) + (NEW.state = 1), expired = expired + (NEW.state = 2)
    WHERE id = NEW.webhook_id;
END;
CREATE TRIGGER webhook_delivery_delete AFTER DELETE ON webhook_delivery BEGIN
    UPDATE webhook SET waiting = waiting - (OLD.state = 0), delivered = delivered + (OLD.state = 0),
        dead = dead - (OLD.state = 1) WHERE id = OLD.webhook_id;
    DELETE FROM webhook_event WHERE id = OLD.event_id
        AND NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE event_id = OLD.event_id);
END;
CREATE TRIGGER webhook_content_completed AFTER UPDATE OF state ON content
WHEN NEW.state = 4 AND OLD.state <> 4 AND (NEW.completed_ms = NEW.updated_ms OR OLD.error_code IS NOT NULL)
    AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 2 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, bytes)
    VALUES (1, NEW.updated_ms, NEW.key, NEW.course, NEW.title, NEW.bytes_proven);
END;
CREATE TRIGGER webhook_content_failed AFTER UPDATE OF state ON content
WHEN NEW.state = 6 AND OLD.state NOT IN (4, 6) AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 4 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, error_code)
    VALUES (2, NEW.updated_ms, NEW.key, NEW.course, NEW.title, NEW.error_code);
END;
CREATE TRIGGER webhook_content_removed AFTER DELETE ON content
WHEN OLD.desire = 3 AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 8 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title)
    VALUES (3, OLD.updated_ms, OLD.key, OLD.course, OLD.title);
END;
CREATE TRIGGER webhook_content_damaged AFTER UPDATE OF state ON content
WHEN OLD.state = 4 AND NEW.state IN (0, 6) AND NEW.error_code IS NOT NULL
    AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 16 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, error_code)
    VALUES (4, NEW.updated_ms, NEW.key, NEW.course, NEW.title, NEW.error_code);
END;
CREATE TRIGGER webhook_licence_renewed AFTER UPDATE OF state ON renewal
WHEN NEW.state = 1 AND OLD.state <> 1 AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 32 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title)
    SELECT 5, max(coalesce(licence.checked_ms, 0), coalesce(licence.granted_ms, 0)), licence.content_key,
        coalesce(content.course, ''), coalesce(content.title, '')
    FROM licence LEFT JOIN content ON content.id = licence.content_id WHERE licence.id = NEW.licence_id;
END;
CREATE TRIGGER webhook_licence_refused AFTER INSERT ON licence_attempt
WHEN NEW.outcome = 'refused' AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 64 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, error_code)
    SELECT 6, NEW.at_ms + NEW.duration_ms, licence.content_key, coalesce(content.course, ''),
        coalesce(content.title, ''), NEW.error_code
    FROM licence LEFT JOIN content ON content.id = licence.content_id WHERE licence.id = NEW.licence_id;
END;
CREATE TRIGGER webhook_licence_ended AFTER INSERT ON licence_attempt
WHEN NEW.outcome = 'ended' AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 128 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, error_code)
    SELECT 7, NEW.at_ms + NEW.duration_ms, licence.content_key, coalesce(content.course, ''),
        coalesce(content.title, ''), NEW.error_code
    FROM licence LEFT JOIN content ON content.id = licence.content_id WHERE licence.id = NEW.licence_id;
END;
CREATE TRIGGER webhook_licence_deleted AFTER INSERT ON licence_attempt
WHEN NEW.outcome = 'deleted' AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 256 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title, error_code)
    SELECT 8, NEW.at_ms + NEW.duration_ms, licence.content_key, coalesce(content.course, ''),
        coalesce(content.title, ''), NEW.error_code
    FROM licence LEFT JOIN content ON content.id = licence.content_id WHERE licence.id = NEW.licence_id;
END;
CREATE TRIGGER webhook_report_dead AFTER UPDATE OF state ON report
WHEN NEW.state = 3 AND OLD.state <> 3 AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 512 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, report_uuid, dead_reason, status)
    VALUES (9, NEW.changed_ms, NEW.content, coalesce(NEW.course, ''), NEW.uuid, NEW.dead_reason, NEW.answer_status);
END;
"""#
}
