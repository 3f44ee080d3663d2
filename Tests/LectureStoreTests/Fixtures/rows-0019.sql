-- Rows for every table of schema 0013: one content in each state that rests, and one in flight.
INSERT INTO store_identity VALUES (1, '6f0c2a54-8d1b-4c3e-9a77-0123456789ab', 1700000000001, randomblob(32));
INSERT INTO owner(id, pid, boot_id, command, started_ms) VALUES (1, 4711, 'boot-1', 'precache', 1700000000002);
INSERT INTO run(id, owner_id, command, started_ms) VALUES (1, 1, 'precache', 1700000000003);

INSERT INTO content(id, key, state, position, added_ms, updated_ms, is_gateway, source_identity, title, source_url)
VALUES (1, 'queued', 0, 1024, 1700000000010, 1700000000010, 0, x'01', 'A queued lecture', 'http://127.0.0.1/1.mp4');

INSERT INTO content(id, key, state, position, added_ms, updated_ms, is_gateway, is_loaded, source_identity, title, source_url,
    lease_owner, lease_fence, headers, mirrors, course, teacher, folder)
VALUES (2, 'downloading', 2, 2048, 1700000000011, 1700000000012, 0, 1, x'02', 'Linear algebra 2', 'http://127.0.0.1/2.mp4',
    1, 3, '{"X-Course":"7"}', '["http://127.0.0.2/2.mp4"]', 'Linear algebra', 'E. Noether', 'maths/first year');

INSERT INTO content(id, key, state, position, added_ms, updated_ms, completed_ms, is_gateway, is_loaded, source_identity,
    title, source_url, sha256, expected_sha256, expected_bytes, duration_ms, width, height, company, synopsis,
    description_url, descriptor)
VALUES (3, 'completed', 4, 3072, 1700000000013, 1700000000014, 1700000000015, 1, 1, x'03', '강의 3',
    'http://127.0.0.1/si?key=3', zeroblob(32), zeroblob(32), 2000, 3600000, 1920, 1080, 'A company', 'About it',
    'http://127.0.0.1/about', '{"version":1,"unknown":true}');

INSERT INTO content(id, key, state, stop_reason, error_code, error_detail, attempts, next_attempt_ms, wait_set_ms, position,
    added_ms, updated_ms, is_gateway, source_identity, title, source_url, content_type, priority, desire)
VALUES (4, 'stopped', 5, 6, -8503, '127.0.0.1', 2, 1700000060000, 1700000000016, 4096, 1700000000016, 1700000000016, 0,
    x'04', 'A stopped sample', 'http://127.0.0.1/4.mp4', 2, 100, 0);

INSERT INTO content(id, key, state, error_code, position, added_ms, updated_ms, is_gateway, source_identity, title, source_url)
VALUES (5, 'failed', 6, -8404, 5120, 1700000000017, 1700000000017, 0, x'05', 'A failed lecture', 'http://127.0.0.1/5.mp4');

INSERT INTO version(id, content_id, number, state, created_ms) VALUES (1, 2, 1, 0, 1700000000020);
INSERT INTO version(id, content_id, number, state, created_ms) VALUES (2, 3, 1, 2, 1700000000021);
INSERT INTO version(id, content_id, number, state, sha256, created_ms) VALUES (3, 3, 2, 1, zeroblob(32), 1700000000022);

INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count, proven_count,
    proven_bytes, accepts_ranges, file_path, etag)
VALUES (1, 1, 0, 0, 1, 2500, 1000, 3, 2, 2000, 1, 'media/2', '"abc"');
INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count, proven_count,
    proven_bytes, accepts_ranges, file_path, last_modified, sha256, media_type)
VALUES (2, 3, 0, 0, 3, 2000, 1000, 2, 2, 2000, 1, 'media/3', 'Tue, 14 Nov 2023 22:13:20 GMT', zeroblob(32), 'video/mp4');
INSERT INTO resource(id, version_id, role, position, state, file_path) VALUES (3, 2, 0, 0, 0, 'media/3-old');

INSERT INTO chunk VALUES (1, 0, zeroblob(28), 1700000000030), (1, 1, zeroblob(28), 1700000000031);
INSERT INTO chunk VALUES (2, 0, zeroblob(28), 1700000000032), (2, 1, zeroblob(28), 1700000000033);
UPDATE content SET bytes_total = 2500, bytes_proven = 2000, chunks_total = 3, chunks_proven = 2 WHERE id = 2;
UPDATE content SET bytes_total = 2000, bytes_proven = 2000, chunks_total = 2, chunks_proven = 2 WHERE id = 3;

INSERT INTO url_lease(resource_id, rank, state, obtained_ms, expires_ms, url)
VALUES (1, 0, 0, 1700000000040, 1700003600000, 'http://127.0.0.1/2.mp4'), (1, 1, 2, 1700000000041, NULL, 'http://127.0.0.2/2.mp4');
INSERT INTO attempt(content_id, resource_id, at_ms, duration_ms, status, curl_code, bytes, range_first, range_count, origin,
    decision, detail)
VALUES (2, 1, 1700000000050, 12, 206, 0, 2000, 0, 2500, 'http://127.0.0.1', 'retry', 'cut'),
    (5, NULL, 1700000000051, 3, 404, 0, 0, 0, NULL, 'http://127.0.0.1', 'failed', '');
INSERT INTO origin VALUES ('http://127.0.0.1', 4, 1700000060000, 1700000000016, 1700000000060);
INSERT INTO run_item VALUES (1, 1), (1, 2), (1, 4);
INSERT INTO output VALUES (2, '/tmp/lectures/2.mp4', 1);
INSERT INTO output_file VALUES ('/tmp/lectures/3.mp4', 'completed', 4711, 2000, 1700000000015000000, 1700000000061);
INSERT INTO setting VALUES ('paused', '0');

-- Licences. The codes are those of no device: what counts here is that the rows stay.
UPDATE resource SET seal = 1, chunk_bytes = 1000 WHERE id = 2;
INSERT INTO content_key VALUES (3, 1, zeroblob(40), 1700000000070, 'a b/c');
INSERT INTO licence(id, content_key, content_id, callback_url, drm_key_id, client_user_id, user_values, form, is_verified,
    device_thumbprint, starts_ms, expires_ms, count_limit, play_time_limit_ms, check_ms, count_used, issued_ms, granted_ms,
    checked_ms, mac, attempts, next_attempt_ms, wait_set_ms, error_code, error_detail, token)
VALUES (1, 'completed', 3, 'https://drm.example/callback', 'main', 'learner', '{"uservalue0":"7"}', 0, 1, zeroblob(32),
    1700000000000, 1800000000000, 5, 600000, 1750000000000, 2, 1700000000071, 1700000000072, 1700000000073, zeroblob(32),
    1, 1700000090000, 1700000030000, -9503, 'drm.example', 'a.b.c');
INSERT INTO licence(id, content_key, callback_url, form, expires_ms, is_force_expired, mac)
VALUES (2, 'a lecture that is gone', 'https://drm.example/callback', 0, 1800000000000, 1, zeroblob(32));
INSERT INTO licence(id, content_key, content_id, callback_url, mac)
VALUES (3, 'queued', 1, 'https://drm.example/callback', zeroblob(32));
INSERT INTO renewal_run VALUES (1, 'expired', 1700000000080, NULL);
INSERT INTO renewal(run_id, licence_id, state, owner_id, urgency_ms, next_attempt_ms, wait_set_ms)
VALUES (1, 1, 0, 1, 1750000000000, 1700000090000, 1700000030000);
INSERT INTO debt(content_key, kind, created_ms, attempts, next_attempt_ms, wait_set_ms, error_code)
VALUES ('completed', 2, 1700000000081, 1, 1700000090000, 1700000030000, -9503);
INSERT INTO licence_attempt(licence_id, at_ms, duration_ms, kind, status, outcome)
VALUES (1, 1700000000082, 12, 1, 200, 'permitted');
INSERT INTO time_ledger VALUES (1, 1, zeroblob(32), 1700000000090, 1700000000091, -5, 1, 0, NULL, 1700000000092, 93, 'boot-1',
    zeroblob(32), zeroblob(32), zeroblob(32));

-- Reports: one in each state, one of them in the bytes of a request.
INSERT INTO lms_target(id, url, method, format, parameters, failures, next_attempt_ms, wait_set_ms, suspension, bytes_limit,
    trouble_ms, trouble_status, trouble_reason, trouble_text)
VALUES (1, 'http://127.0.0.1/lms', 'POST', 0, '{"data":"{JSON_DATA}"}', 2, 1700000090000, 1700000030000, 1, 65536,
    1700000000100, 401, 4, 'who are you?');
INSERT INTO lms_flight(id, target_id, owner_id, uuid, method, tries, bounded_tries, sealed_ms, next_attempt_ms, wait_set_ms,
    trouble_ms, trouble_status, trouble_reason, trouble_text, media_type, body)
VALUES (1, 1, 1, '018bcfe5-6800-7000-8000-000000000002', 'POST', 1, 0, 1700000000101, NULL, NULL, 1700000000102, 500, 4, 'oh',
    'application/x-www-form-urlencoded', x'64617461');
INSERT INTO lms_lane(id, target_id, client_user_id, session) VALUES (1, 1, 'learner', '1700000000'), (2, 1, 'learner', 'old');
INSERT INTO report(id, lane_id, sequence, state, is_cumulative, attempts, changed_ms, wall_ms, boot_ns, corrected_ms, bytes,
    uuid, boot_id, content, course, note, "values")
VALUES (1, 1, 1, 0, 1, 0, 1700000000110, 1700000000110, 1000000, 1700000001110, 40, '018bcfe5-6800-7000-8000-000000000001',
    'boot-1', 'completed', 'maths', 'a note', '{"playtime":7}');
INSERT INTO report(id, lane_id, sequence, state, changed_ms, wall_ms, boot_ns, bytes, uuid, boot_id, content, "values")
VALUES (2, 2, 2, 0, 1700000000111, 1700000000111, 2000000, 40, '018bcfe5-6800-7000-8000-000000000002', 'boot-1', 'completed',
    '{"playtime":8}');
UPDATE report SET state = 1, is_sealed = 1, flight_id = 1 WHERE id = 2;
INSERT INTO report(id, lane_id, sequence, state, attempts, changed_ms, wall_ms, bytes, uuid, content, "values")
VALUES (3, 1, 3, 2, 1, 1700000000112, 1700000000112, 40, '018bcfe5-6800-7000-8000-000000000003', 'completed', '{}');
INSERT INTO report(id, lane_id, sequence, state, attempts, dead_reason, changed_ms, wall_ms, bytes, uuid, content, answer_ms,
    answer_status, answer_text, "values")
VALUES (4, 1, 4, 3, 1, 2, 1700000000113, 1700000000113, 40, '018bcfe5-6800-7000-8000-000000000004', 'completed',
    1700000000113, 413, 'too large', '{"playtime":9}');
INSERT INTO report(id, lane_id, sequence, state, is_cumulative, changed_ms, wall_ms, bytes, uuid, content, "values")
VALUES (5, 1, 5, 4, 1, 1700000000114, 1700000000114, 40, '018bcfe5-6800-7000-8000-000000000005', 'completed', '{}'),
    (6, 2, 6, 5, 0, 1700000000115, 1700000000115, 40, '018bcfe5-6800-7000-8000-000000000006', 'completed', '{}');
UPDATE lms_account SET created = created + 3, pruned = 2, erased = 1;
INSERT INTO backup_copy VALUES ('/backup/a.db', 1700000000130);

-- The picture of the complete lecture, and where it was left.
INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count, proven_count,
    proven_bytes, file_path)
VALUES (10, 3, 6, 0, 3, 100, 1000, 1, 1, 100, 'media/3-still');
INSERT INTO chunk VALUES (10, 0, zeroblob(28), 1700000000060);
UPDATE content SET bytes_total = 2100, bytes_proven = 2100, chunks_total = 3, chunks_proven = 3 WHERE id = 3;
INSERT INTO resume_point VALUES (3, 125000);

-- Streams: a version that is streamed, and an old one.
INSERT INTO stream_item(id, identity, content_key, is_current, etag, last_modified, total_bytes, wrapped, made_ms, used_ms)
VALUES (1, zeroblob(32), 'completed', 0, NULL, 'Tue, 14 Nov 2023 22:13:20 GMT', 2000000, x'01', 1700000000140, 1700000000141),
    (2, zeroblob(32), 'completed', 1, '"b"', NULL, 3000000, x'02', 1700000000142, 1700000000143);
INSERT INTO stream_block VALUES (1, 0, 1048576, 1700000000144), (2, 0, 1048576, 1700000000145), (2, 1, 1048616, 1700000000146);
INSERT INTO stream_use VALUES (2, 1);

-- The complete lecture plays an older version than the one that is wanted; the other one knows its source.
UPDATE version SET source_url = 'http://127.0.0.1/si?key=3', source_identity = x'03', completed_ms = 1700000000015 WHERE id = 3;
UPDATE version SET source_url = 'http://127.0.0.1/2.mp4', source_identity = x'02' WHERE id = 1;
INSERT INTO content(id, key, state, position, added_ms, updated_ms, is_gateway, is_loaded, source_identity, title, source_url)
VALUES (6, 'outdated', 0, 6144, 1700000000150, 1700000000151, 0, 0, x'06', 'An outdated lecture', 'http://127.0.0.1/6.mp4');
INSERT INTO version(id, content_id, number, state, created_ms, source_url, source_identity, completed_ms, is_outdated)
VALUES (4, 6, 1, 1, 1700000000152, 'http://127.0.0.1/6.mp4', x'06', 1700000000153, 1);
INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count, proven_count,
    proven_bytes, file_path)
VALUES (11, 4, 0, 0, 3, 100, 1000, 1, 1, 100, 'media/6');
INSERT INTO chunk VALUES (11, 0, zeroblob(28), 1700000000154);
UPDATE content SET bytes_total = 100, bytes_proven = 100, chunks_total = 1, chunks_proven = 1 WHERE id = 6;

-- Two lists: one that still names the complete lecture, and one that the stopped sample has left. The list without a
-- name is that of lectures that were requested one by one.
INSERT INTO course_list VALUES (1, '/srv/lists/algebra.jsonl', 1700000000160), (2, '', 1700000000161);
INSERT INTO course_entry VALUES (1, 3, NULL), (1, 4, 1700000000162), (2, 5, NULL);

-- The completed lecture's licence was granted by a callback, and a file of one issuer would count as well.
UPDATE licence SET granting_keys = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' WHERE id = 1;

-- What was received of the chunk that the downloading lecture is in.
INSERT INTO chunk_piece(resource_id, idx, start, bytes, box) VALUES (1, 2, 2000, 5, zeroblob(33));

-- A play that is going on, and one whose program was killed.
INSERT INTO play_session(id, owner_id, start_s, duration_ms, blocks, updated_ms, session, content_key, client_user_id, source, targets)
VALUES (1, 1, 1700000000, 600000, 100, 1700000000170, '1700000000-a', 'completed', 'kim', '{"device":"linux"}', NULL),
    (2, NULL, 1700000001, 0, 10, 1700000000171, '1700000001-b', 'streamed', 'lee', '{}',
     '[{"url":"http://127.0.0.1/lms","method":"POST","format":"kollus","parameters":{}}]');
INSERT INTO play_interval VALUES (1, 0, 1, 0, 30000, 1000, 30000000000), (2, 0, 1, 0, 20000, 2000, 10000000000),
    (2, 1, 2, 20000, 20000, 1000, 5000000000);

-- The bookmarks of a learner: two as the server has them, one added and one removed here.
INSERT INTO bookmark_list VALUES (1, 1700000000180, 'completed', 'kim');
INSERT INTO bookmark(list_id, kind, position_ms, state, changed_ms, report_uuid, value, label)
VALUES (1, 1, 30000, 0, NULL, NULL, '', 'Definition'), (1, 0, 40000, 0, 1700000000000, NULL, 'ask', ''),
    (1, 0, 95000, 1, 1700000000181, 'bookmarks-1', 'the proof', ''), (1, 0, 97500, 2, 1700000000182, 'bookmarks-1', '', '');

-- An adaptive lecture: its playlist, a finished segment, one that is missing and one that is still to come.
INSERT INTO content(id, key, state, position, added_ms, updated_ms, is_gateway, is_loaded, source_identity, title, source_url,
    content_type, selection, bytes_total, bytes_proven, chunks_total, chunks_proven)
VALUES (90, 'adaptive', 0, 92160, 1700000000190, 1700000000191, 0, 1, x'90', 'An adaptive lecture',
    'http://127.0.0.1/90.m3u8', 4, '{"max_height":720}', 1100, 1100, 3, 2);
INSERT INTO version(id, content_id, number, state, created_ms) VALUES (90, 90, 1, 0, 1700000000192);
INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count, proven_count,
    proven_bytes, file_path, media_type, base_url, name)
VALUES (90, 90, 0, 0, 3, 100, 1000, 1, 1, 100, 'media/90', 'application/vnd.apple.mpegurl', 'http://127.0.0.1/90.m3u8', ''),
    (91, 90, 2, 1, 3, 1000, 1000, 1, 1, 1000, 'media/91', 'video/mp2t', NULL, '1.ts'),
    (92, 90, 2, 2, 4, NULL, 1000, 0, 0, 0, '', NULL, NULL, '2.ts'), (93, 90, 2, 3, 0, NULL, 1000, 1, 0, 0, '', NULL, NULL, '3.ts');
INSERT INTO chunk VALUES (90, 0, zeroblob(28), 1700000000193), (91, 0, zeroblob(28), 1700000000194);
INSERT INTO playlist VALUES (1, 90, 0, '#EXTM3U');

-- The complete lecture is pinned, and was played.
INSERT INTO pin VALUES (3, 1700000000200);
INSERT INTO last_play VALUES (3, 1700000000201);

-- Two endpoints: one that is asked for everything and waits, one that is gone. Three things happened since.
INSERT INTO webhook(url, kinds) VALUES ('http://127.0.0.1/hook', 1022);
INSERT INTO webhook_event(kind, happened_ms, content_key, title, error_code)
VALUES (2, 1700000000211, 'failed', 'A failed lecture', -8404), (4, 1700000000212, 'completed', 'A completed lecture', -20008);
INSERT INTO webhook(url, kinds, suspension, answer_ms, answer_status)
VALUES ('http://127.0.0.1/gone', 8, 1, 1700000000213, 410);
INSERT INTO webhook_event(kind, happened_ms, content_key, course, title) VALUES (3, 1700000000214, 'removed', 'Algebra', 'A removed lecture');
UPDATE webhook SET failures = 2, next_attempt_ms = 1700000003213, wait_set_ms = 1700000000213, answer_ms = 1700000000213,
    answer_status = 503 WHERE id = 1;
UPDATE webhook_delivery SET attempts = 2, answer_ms = 1700000000213, answer_status = 503 WHERE id = 1;
UPDATE webhook_delivery SET state = 1, attempts = 10, refusals = 10, answer_ms = 1700000000213, answer_status = 400 WHERE id = 2;
UPDATE webhook_delivery SET owner_id = 1 WHERE id = 3;

-- Two viewers of the complete lecture: one in the middle, one at its beginning.
INSERT INTO viewer_resume_point VALUES (3, 'kim', 61000), (3, 'lee', 0);
