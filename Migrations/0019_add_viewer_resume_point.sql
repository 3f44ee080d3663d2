-- Where each viewer goes on, on a server that many people watch on. docs/schema.md says what every column means.

-- Beside resume_point, which is that of the players of this machine and of viewers who have none of their own. Zero is a
-- place too: who is at the beginning does not go on where another one has stopped.
CREATE TABLE viewer_resume_point (
    content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    client_user_id TEXT NOT NULL CHECK (length(client_user_id) > 0),
    position_ms INTEGER NOT NULL CHECK (position_ms >= 0),
    PRIMARY KEY (content_id, client_user_id)
) STRICT, WITHOUT ROWID;

-- A learner is erased everywhere.
CREATE INDEX viewer_resume_point_user ON viewer_resume_point (client_user_id);
