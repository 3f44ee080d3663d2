-- The keys that have granted the licences of existing lectures. Every answer of a licence server, and every licence file,
-- asks whether any was granted by another key: the index has the few different values one behind the other.

CREATE INDEX licence_granting ON licence(granting_keys) WHERE content_id IS NOT NULL AND form IS NOT NULL;
