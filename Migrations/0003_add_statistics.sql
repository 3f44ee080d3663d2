-- Learning reports on their way to the LMS: targets, sessions, requests whose end is not known, reports, and the account
-- by which none disappears. docs/schema.md says what every column means.

-- Where reports go. Two targets differ in any of the four first columns; format: 0 kollus, 1 json, 2 xapi.
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

-- A request whose first byte may have gone out and whose end is not known. Under its uuid these bytes go out and no
-- others. Reports of the request that are in no bytes yet are leased by its owner, and pending once that is gone.
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

-- What keeps its order: the reports of one session of one learner for one target. NULL waits for a target. A request
-- holds a lane as long as it has reports of it, so that nothing overtakes them.
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
-- The lanes from which a request may be made.
CREATE INDEX lms_lane_ready ON lms_lane (target_id, (open > 0 AND flight_id IS NULL));
CREATE INDEX lms_lane_flight ON lms_lane (flight_id) WHERE flight_id IS NOT NULL;

-- A report. State: 0 pending, 1 leased, 2 delivered, 3 dead, 4 superseded, 5 expired. The long texts come last: SQLite
-- reads a row from its beginning.
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
-- What may be deleted once its time is over, the oldest first.
CREATE INDEX report_ended ON report (changed_ms) WHERE state IN (2, 4, 5);
CREATE INDEX report_flight ON report (flight_id, lane_id) WHERE flight_id IS NOT NULL;
-- Every row of a lane, for the next number and for an erasure.
CREATE INDEX report_session ON report (lane_id, sequence);
CREATE INDEX report_uncorrected ON report (boot_id) WHERE corrected_ms IS NULL AND boot_id IS NOT NULL;

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

-- A lane is held by a request exactly as long as that has a report of it.
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

-- Nobody has the request any more, because its owner gave it back or is gone: what its bytes hold waits with it, the rest
-- is free. One whose bytes hold nothing that waits is over.
CREATE TRIGGER lms_flight_orphan AFTER UPDATE OF owner_id ON lms_flight WHEN NEW.owner_id IS NULL BEGIN
    UPDATE report SET state = 0, flight_id = NULL WHERE flight_id = NEW.id AND is_sealed = 0;
    UPDATE report SET state = 0 WHERE flight_id = NEW.id AND state = 1;
    DELETE FROM lms_flight WHERE id = NEW.id AND NOT EXISTS (SELECT 1 FROM report WHERE flight_id = NEW.id);
END;

-- created = the rows of report + pruned + erased.
CREATE TABLE lms_account (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    created INTEGER NOT NULL DEFAULT 0 CHECK (created >= 0),
    pruned INTEGER NOT NULL DEFAULT 0 CHECK (pruned >= 0),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased >= 0)
) STRICT;

INSERT INTO lms_account (id) VALUES (1);

-- Where copies of this store were put, so that an erasure finds them.
CREATE TABLE backup_copy (
    path TEXT PRIMARY KEY,
    made_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
