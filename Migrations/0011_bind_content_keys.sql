-- The granting keys of the licence for which a content key is wrapped: part of what its wrapping key is derived from. NULL
-- for keys that need no licence, for those wrapped before a licence was granted, and for those of earlier stores.

ALTER TABLE content_key ADD COLUMN granting_keys TEXT CHECK (length(granting_keys) > 0);
