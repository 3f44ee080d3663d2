-- Lectures with an error. How many are damaged is asked by each overview, and among a million lectures that wait to be
-- downloaded only the index finds them. Most rows have no error and are not in it.

CREATE INDEX content_error ON content (error_code) WHERE error_code IS NOT NULL;
