import LectureFormats
package import LectureModel
import LectureSQLite

// Tables stream_item, stream_block, stream_use and stream_tally.

/// The rows of the streaming cache, on the connection of the store's writer and confined to its owner.
///
/// Rows come first and files follow: space is reserved by rows before a file is created, and files are deleted after
/// the commit that removes their rows. So the sum of the rows is never less than what is on disk, except for what a
/// killed process had still to delete.
package final class SQLiteStreamCache {
    /// The setting that stores the limit.
    package static let limitSetting = "stream_cache_bytes"
    /// How many of the least recently used blocks one query reads.
    static let evictionPage = 64

    let connection: Connection
    private let index: SQLiteDownloadIndex

    /// Shares the connection of the store's writer.
    ///
    /// - Parameter index: the writer.
    package init(index: SQLiteDownloadIndex) { (self.index, connection) = (index, index.connection) }

    // MARK: The limit

    /// The limit; nil where none was set.
    ///
    /// - Returns: bytes.
    /// - Throws: ``LectureError``.
    package func limit() throws -> Int64? { try index.settings.value(of: Self.limitSetting).flatMap { Int64($0) } }

    /// Sets the limit, for every process on this store.
    ///
    /// - Parameter bytes: not negative.
    /// - Throws: ``LectureError``.
    package func setLimit(_ bytes: Int64) throws { try index.settings.set(Self.limitSetting, String(bytes)) }

    /// How many blocks there are by the rows, and their bytes.
    ///
    /// - Returns: the sums.
    /// - Throws: ``LectureError``.
    package func sums() throws -> (blocks: Int, bytes: Int64) {
        try connection.first("SELECT blocks, bytes FROM stream_tally") { ($0.int(0), $0.int64(1)) } ?? (0, 0)
    }

    // MARK: Items

    /// The current version of media.
    ///
    /// - Parameter identity: of the media, 32 bytes.
    /// - Returns: nil when nothing of it was streamed.
    /// - Throws: ``LectureError``.
    package func current(_ identity: [UInt8]) throws -> StreamItem? {
        try connection.first(
            """
            SELECT id, content_key, etag, last_modified, total_bytes, wrapped FROM stream_item
            WHERE identity = ? AND is_current = 1
            """, identity
        ) { row in
            StreamItem(
                id: row.id(0), key: ContentKey(stored: row.text(1)),
                validator: Validator(
                    etag: row.optionalText(2), lastModified: row.optionalText(3),
                    total: UInt64(clamping: row.int64(4))),
                wrapped: row.blob(5))
        }
    }

    /// Makes a version current. The previous one is kept while it is being streamed.
    ///
    /// - Parameters:
    ///   - identity: of the media, 32 bytes.
    ///   - key: the lecture.
    ///   - validator: strong, with a length.
    ///   - wrapped: the key of its blocks.
    ///   - now: the wall clock.
    /// - Returns: the version.
    /// - Throws: ``LectureError``.
    package func add(
        _ identity: [UInt8], key: ContentKey, validator: Validator, wrapped: [UInt8], now: Timestamp
    ) throws -> StreamItem {
        try connection.atomically {
            try connection.execute(
                "UPDATE stream_item SET is_current = 0 WHERE identity = ? AND is_current = 1", identity)
            try connection.execute(
                """
                INSERT INTO stream_item(
                    identity, content_key, etag, last_modified, total_bytes, wrapped, made_ms, used_ms)
                VALUES (?, ?, ?, ?, ?, ?, ?7, ?7)
                """, identity, key, validator.etag, validator.lastModified, Int64(clamping: validator.total ?? 0),
                wrapped, now)
            return StreamItem(
                id: StreamItemID(connection.lastInsertedID), key: key, validator: validator, wrapped: wrapped)
        }
    }

    /// Records that an owner streams an item: nothing of it is evicted meanwhile.
    ///
    /// - Parameters:
    ///   - item: the version.
    ///   - owner: the owner.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func use(_ item: StreamItemID, by owner: OwnerID, now: Timestamp) throws {
        try connection.atomically {
            try connection.execute(SharedClaim.stream.take, item, owner)
            try connection.execute("UPDATE stream_item SET used_ms = ? WHERE id = ?", now, item)
        }
    }

    /// Records that an owner no longer streams an item.
    ///
    /// - Parameters:
    ///   - item: the version.
    ///   - owner: the owner.
    /// - Throws: ``LectureError``.
    package func release(_ item: StreamItemID, by owner: OwnerID) throws {
        try connection.execute(SharedClaim.stream.release, item, owner)
    }

    /// Whether any owner streams an item.
    ///
    /// - Parameter item: the version.
    /// - Returns: whether there is such a row.
    /// - Throws: ``LectureError``.
    package func isUsed(_ item: StreamItemID) throws -> Bool {
        try connection.first("SELECT \(SharedClaim.stream.isFree("?"))", item) { !$0.bool(0) } ?? false
    }

    // MARK: Blocks

    /// The blocks of an item.
    ///
    /// - Parameter item: the version.
    /// - Returns: their numbers.
    /// - Throws: ``LectureError``.
    package func blocks(of item: StreamItemID) throws -> Set<Int> {
        Set(try connection.query("SELECT idx FROM stream_block WHERE item_id = ?", item) { $0.int(0) })
    }

    /// Reserves space for blocks, evicting the least recently used ones that are not being streamed.
    ///
    /// - Parameters:
    ///   - wanted: the blocks, in order; those that already have space keep it.
    ///   - bound: the limit of all blocks.
    ///   - now: the wall clock.
    /// - Returns: the blocks that have space now, from the first on, and what has to be deleted.
    /// - Throws: ``LectureError``.
    package func reserve(
        _ wanted: [StreamBlock], bound: Int64, now: Timestamp
    ) throws -> (granted: Set<Int>, garbage: StreamGarbage) {
        try connection.atomically {
            var garbage = StreamGarbage()
            var granted: Set<Int> = []
            for block in wanted {
                let known = try connection.first(
                    "SELECT 1 FROM stream_block WHERE item_id = ? AND idx = ?", block.item, block.index
                ) { _ in true }
                if known == nil {
                    guard try freeSpace(for: block.bytes, bound: bound, &garbage) else { break }
                    // The item may be gone: the cache was emptied by hand while its owner was considered dead.
                    let added = try connection.execute(
                        """
                        INSERT INTO stream_block(item_id, idx, bytes, used_ms)
                        SELECT id, ?2, ?3, ?4 FROM stream_item WHERE id = ?1
                        """, block.item, block.index, block.bytes, now)
                    if added == 0 { break }
                }
                granted.insert(block.index)
            }
            return (granted, garbage)
        }
    }

    /// Evicts blocks that are not being streamed until the limit is met.
    ///
    /// - Parameter bound: in bytes.
    /// - Returns: what has to be deleted.
    /// - Throws: ``LectureError``.
    package func trim(to bound: Int64) throws -> StreamGarbage {
        try connection.atomically {
            var garbage = StreamGarbage()
            _ = try freeSpace(for: 0, bound: bound, &garbage)
            return garbage
        }
    }

    private func freeSpace(for bytes: Int64, bound: Int64, _ garbage: inout StreamGarbage) throws -> Bool {
        while case let used = try sums().bytes, used > bound - bytes {
            let page = try connection.query(Self.evictionSQL, Self.evictionPage) { row in
                StreamBlock(item: row.id(0), index: row.int(1), bytes: row.int64(2))
            }
            if page.isEmpty { return false }
            var left = used
            for block in page where left > bound - bytes {
                try remove(block)
                garbage.blocks.append(block)
                left -= block.bytes
            }
        }
        return true
    }

    /// The least recently used blocks of items that are not being streamed.
    static let evictionSQL = """
        SELECT item_id, idx, bytes FROM stream_block INDEXED BY stream_block_used
        WHERE \(SharedClaim.stream.isFree("stream_block.item_id"))
        ORDER BY used_ms, item_id, idx LIMIT ?
        """

    /// Releases the space of a block.
    ///
    /// - Parameter block: which.
    /// - Throws: ``LectureError``.
    package func remove(_ block: StreamBlock) throws {
        try connection.execute("DELETE FROM stream_block WHERE item_id = ? AND idx = ?", block.item, block.index)
    }

    /// Records that blocks were returned.
    ///
    /// - Parameters:
    ///   - blocks: their numbers.
    ///   - item: their item.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func touch(_ blocks: Set<Int>, of item: StreamItemID, now: Timestamp) throws {
        try connection.atomically {
            for block in blocks.sorted() {
                try connection.execute(
                    "UPDATE stream_block SET used_ms = ? WHERE item_id = ? AND idx = ? AND used_ms <> ?1", now, item,
                    block)
            }
            try connection.execute("UPDATE stream_item SET used_ms = ? WHERE id = ?", now, item)
        }
    }

    // MARK: Cleaning

    /// Removes every item that is not being streamed.
    ///
    /// - Parameter onlyOver: only those that no stream can use again: old versions, and those without a block.
    /// - Returns: what has to be deleted.
    /// - Throws: ``LectureError``.
    package func removeUnused(onlyOver: Bool) throws -> StreamGarbage {
        try connection.atomically {
            var garbage = StreamGarbage()
            garbage.items = try connection.query(
                """
                SELECT id FROM stream_item
                WHERE \(SharedClaim.stream.isFree("stream_item.id"))
                    AND (? = 0 OR is_current = 0
                        OR NOT EXISTS (SELECT 1 FROM stream_block WHERE item_id = stream_item.id))
                """, onlyOver
            ) { $0.id(0) }
            for item in garbage.items { try connection.execute("DELETE FROM stream_item WHERE id = ?", item) }
            return garbage
        }
    }

    /// Checks the rows against the files: removes rows without a file where no process could be about to write it.
    ///
    /// - Parameter files: for each item the numbers of the blocks on disk.
    /// - Returns: files without a row.
    /// - Throws: ``LectureError``.
    package func reconcile(_ files: [StreamItemID: Set<Int>]) throws -> StreamGarbage {
        try connection.atomically {
            var garbage = StreamGarbage()
            var known: [StreamItemID: Set<Int>] = [:]
            let rows = try connection.query("SELECT item_id, idx FROM stream_block") { row in
                (item: row.id(0, StreamItemTable.self), index: row.int(1))
            }
            for row in rows { known[row.item, default: []].insert(row.index) }
            let items = Set(try connection.query("SELECT id FROM stream_item") { $0.id(0, StreamItemTable.self) })
            for (item, indices) in known {
                let missing = indices.subtracting(files[item] ?? [])
                if try missing.isEmpty || isUsed(item) { continue }
                for index in missing { try remove(StreamBlock(item: item, index: index, bytes: 0)) }
            }
            for (item, indices) in files {
                guard items.contains(item) else {
                    garbage.items.append(item)
                    continue
                }
                for index in indices.subtracting(known[item] ?? []) {
                    garbage.blocks.append(StreamBlock(item: item, index: index, bytes: 0))
                }
            }
            return garbage
        }
    }
}
