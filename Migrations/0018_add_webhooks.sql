-- Webhooks: what happened in the store is reported to the servers of an operator. An event is written by the statement that
-- makes it true, whichever program that is, and only if an endpoint wants its kind. docs/schema.md says what every column
-- means.

-- Where events go. Kinds: a bit for each kind of event. Suspension: 1 the endpoint has answered that it is gone.
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

-- What happened. Kind: 1 lecture.completed, 2 lecture.failed, 3 lecture.removed, 4 lecture.damaged, 5 licence.renewed,
-- 6 licence.refused, 7 licence.ended, 8 licence.deleted, 9 report.dead.
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

-- An event on its way to an endpoint. State: 0 waiting, 1 dead, 2 expired; one that arrived is deleted. Those of a lane
-- (a lecture, or a report about none) go out in their order.
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

-- Each event goes to every endpoint that wants its kind.
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

-- A row that goes while it waits has arrived; one that has expired was counted when it did. An event whose last delivery
-- is over has no other use.
CREATE TRIGGER webhook_delivery_delete AFTER DELETE ON webhook_delivery BEGIN
    UPDATE webhook SET waiting = waiting - (OLD.state = 0), delivered = delivered + (OLD.state = 0),
        dead = dead - (OLD.state = 1) WHERE id = OLD.webhook_id;
    DELETE FROM webhook_event WHERE id = OLD.event_id
        AND NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE event_id = OLD.event_id);
END;

-- What happens. The table of endpoints has a few rows at most; without one that wants the kind nothing is written.
-- Not one that turned out to be still what is requested; but one whose missing file has come back.
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

-- Only a removal that was asked for: a row also goes when two sources turn out to be one lecture.
CREATE TRIGGER webhook_content_removed AFTER DELETE ON content
WHEN OLD.desire = 3 AND EXISTS (SELECT 1 FROM webhook WHERE kinds & 8 <> 0) BEGIN
    INSERT INTO webhook_event(kind, happened_ms, content_key, course, title)
    VALUES (3, OLD.updated_ms, OLD.key, OLD.course, OLD.title);
END;

-- A complete lecture that is complete no more because of an error: its file is missing or damaged.
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
