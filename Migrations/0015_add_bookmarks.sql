-- Bookmarks of learners, and the teacher's index: what the server had at the last look, and what was changed here since.
-- A change goes out as a learning report, whose delivery settles it. docs/schema.md says what every column means.

-- The bookmarks of one lecture for one learner. It begins with a copy of those that came with the lecture.
CREATE TABLE bookmark_list (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- When the server was asked last.
    synced_ms INTEGER,
    content_key TEXT NOT NULL,
    client_user_id TEXT NOT NULL,
    UNIQUE (content_key, client_user_id)
) STRICT;

-- Kind: 0 the learner's, 1 the teacher's. State: 0 as the server has it, 1 added here, 2 removed here.
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

CREATE TRIGGER bookmark_delivered AFTER UPDATE OF state ON report
WHEN NEW.state = 2 AND OLD.state <> 2 AND NEW.uuid GLOB 'bookmarks-*' BEGIN
    DELETE FROM bookmark WHERE report_uuid = NEW.uuid AND state = 2;
    UPDATE bookmark SET state = 0, report_uuid = NULL WHERE report_uuid = NEW.uuid;
END;

-- What was not delivered yet stays when its lecture is removed.
CREATE TRIGGER bookmark_content_gone AFTER DELETE ON content BEGIN
    DELETE FROM bookmark_list WHERE content_key = OLD.key
        AND NOT EXISTS (SELECT 1 FROM bookmark WHERE list_id = bookmark_list.id AND state <> 0);
END;

-- A lecture that was requested by its URL gets the key that the gateway names.
CREATE TRIGGER bookmark_content_renamed AFTER UPDATE OF key ON content WHEN NEW.key <> OLD.key BEGIN
    UPDATE OR IGNORE bookmark_list SET content_key = NEW.key WHERE content_key = OLD.key;
END;
