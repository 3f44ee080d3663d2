-- The thumbprints of the keys whose signatures count for a licence; NULL before the first verified grant, and in the rows
-- of earlier stores. docs/schema.md says what it looks like.

ALTER TABLE licence ADD COLUMN granting_keys TEXT CHECK (length(granting_keys) > 0);
