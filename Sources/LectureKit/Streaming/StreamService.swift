import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureStore

/// A stream's place in the cache: the version it reads, the cipher of its blocks, and its item.
struct StreamPlace: Sendable {
    let item: StreamItem
    let cipher: any ContentCipher
    let owner: OwnerID
    let files: CacheFiles
    /// The blocks that had a row when the place was taken.
    let blocks: Set<Int>
}

/// The active streaming cache: rows on the store's connection, files beside it, and the streams of this manager.
/// Confined to the core queue.
final class StreamService {
    let cache: SQLiteStreamCache
    let files: CacheFiles
    private let index: SQLiteDownloadIndex
    private let session: StoreSession
    private let clock: any LectureClock
    private let reserve: Int64
    private let freeBytes: () throws -> UInt64
    private let makeVault: () throws -> any ContentVault
    private var vault: (any ContentVault)?
    /// How many streams of this manager read an item.
    private var uses: [StreamItemID: Int] = [:]
    private var streams: [ObjectIdentifier: WeakStream] = [:]

    private struct WeakStream {
        weak var stream: LectureStream?
    }

    /// Opens the cache, and cleans up after killed processes.
    ///
    /// - Parameters:
    ///   - index: the store's writer.
    ///   - files: the blocks.
    ///   - session: this program's place at the store.
    ///   - clock: wall time for the rows.
    ///   - reserve: bytes that stay free on the disk.
    ///   - freeBytes: the free bytes of the disk.
    ///   - vault: opens the device's key, when it is needed.
    /// - Throws: ``LectureError`` of the store; a disk that cannot be read is reported by the first stream.
    init(
        index: SQLiteDownloadIndex, files: CacheFiles, session: StoreSession, clock: any LectureClock, reserve: Int64,
        freeBytes: @escaping () throws -> UInt64, vault: @escaping () throws -> any ContentVault
    ) throws {
        (self.index, self.files, self.session, self.clock, self.reserve) = (index, files, session, clock, reserve)
        (self.freeBytes, makeVault) = (freeBytes, vault)
        cache = SQLiteStreamCache(index: index)
        try StreamCleaning(index: index, cache: cache, files: files, locks: session.locks, now: clock.now()).run()
    }

    // MARK: Streams

    /// Registers a stream, so that it is ended with the manager.
    func add(_ stream: LectureStream) {
        streams = streams.filter { $0.value.stream != nil }
        streams[ObjectIdentifier(stream)] = WeakStream(stream: stream)
    }

    /// The open streams.
    var open: [LectureStream] { streams.values.compactMap(\.stream) }

    /// Forgets the streams.
    func forgetStreams() { streams = [:] }

    // MARK: Places

    /// Takes a place for a version; cached blocks of another one are not used for it.
    ///
    /// - Parameters:
    ///   - identity: of the media, 32 bytes.
    ///   - key: the lecture.
    ///   - validator: of the version, strong, with its length.
    /// - Returns: the place.
    /// - Throws: ``LectureError`` of the store, the device's key or the disk.
    func join(_ identity: [UInt8], key: ContentKey, validator: Validator) throws -> StreamPlace {
        let vault = try vault ?? makeVault()
        self.vault = vault
        let now = clock.now()
        let place: StreamPlace = try index.transaction { transaction in
            let cache = transaction.streams
            let (item, cipher) = try version(identity, key: key, validator: validator, vault, now: now, cache)
            try cache.use(item.id, by: session.owner, now: now)
            return StreamPlace(
                item: item, cipher: cipher, owner: session.owner, files: files, blocks: try cache.blocks(of: item.id))
        }
        uses[place.item.id, default: 0] += 1
        try files.delete(try cache.removeUnused(onlyOver: true))
        return place
    }

    private func version(
        _ identity: [UInt8], key: ContentKey, validator: Validator, _ vault: any ContentVault, now: Timestamp,
        _ cache: SQLiteStreamCache
    ) throws -> (StreamItem, any ContentCipher) {
        if let known = try cache.current(identity), known.key == key,
            StreamVersion.isSame(known.validator, validator)
        {
            do {
                return (known, try vault.cipher(WrappedKey(wrapped: known.wrapped, purpose: .licensed), for: key))
            } catch {
                // Of another device, or damaged: its blocks cannot be opened, so they count as missing.
                guard error.code == .sealedElsewhere else { throw error }
            }
        }
        // The cache cannot know what needs a licence, so everything is treated as licensed.
        let (cipher, made) = try vault.newCipher(for: key, purpose: .licensed, boundTo: nil)
        let item = try cache.add(identity, key: key, validator: validator, wrapped: made.wrapped, now: now)
        return (item, cipher)
    }

    /// Releases a place. With the last one of an item its bytes become evictable, or are deleted.
    func leave(_ item: StreamItemID) throws {
        guard let count = uses[item] else { return }
        uses[item] = count > 1 ? count - 1 : nil
        if count > 1 { return }
        try cache.release(item, by: session.owner)
        try files.delete(try cache.removeUnused(onlyOver: try cache.limit() != 0))
        try trim()
    }

    // MARK: Space

    /// Reserves space for blocks.
    ///
    /// - Parameter wanted: the blocks, in order.
    /// - Returns: which have space, and whether the disk is full for the others.
    /// - Throws: ``LectureError`` of the store or the disk.
    func reserveSpace(_ wanted: [StreamBlock]) throws -> (granted: Set<Int>, isDiskFull: Bool) {
        let limit = try cache.limit() ?? StreamLimit.standard
        let used = try cache.sums().bytes
        let bound = StreamLimit.bound(limit: limit, used: used, free: try freeBytes(), reserve: reserve)
        let (granted, garbage) = try cache.reserve(wanted, bound: bound, now: clock.now())
        if !garbage.isEmpty { try files.delete(garbage) }
        let isDiskFull = granted.count < wanted.count && bound < (limit > 0 ? limit : StreamLimit.standard)
        return (granted, isDiskFull)
    }

    /// Releases unused space.
    func releaseSpace(_ blocks: [StreamBlock]) throws {
        try index.transaction { transaction in
            for block in blocks { try transaction.streams.remove(block) }
        }
    }

    /// Records which blocks were returned.
    func touch(_ blocks: Set<Int>, of item: StreamItemID) throws {
        try cache.touch(blocks, of: item, now: clock.now())
    }

    private func trim() throws {
        let limit = try cache.limit() ?? StreamLimit.standard
        guard limit > 0 else { return }
        let garbage = try cache.trim(to: limit)
        if !garbage.isEmpty { try files.delete(garbage) }
    }
}

/// Makes rows and files of the streaming cache consistent after processes were killed. Needs no stream.
struct StreamCleaning {
    let index: SQLiteDownloadIndex
    let cache: SQLiteStreamCache
    let files: CacheFiles
    let locks: OwnerLocks
    let now: Timestamp

    /// Dismisses dead owners, and deletes their drafts, files without a row, rows without a file, and old versions.
    ///
    /// - Throws: ``LectureError`` of the store or the disk.
    func run() throws {
        try dismissDead()
        // The files first: a file is created after its row, so one without a row now is an orphan.
        let found = try files.inspect { locks.isAlive($0) }
        try files.delete(try cache.reconcile(found))
        try files.delete(try cache.removeUnused(onlyOver: try cache.limit() != 0))
    }

    /// Ends the streams of killed programs.
    func dismissDead() throws {
        try index.transaction { transaction in
            let index = transaction.index
            for owner in try index.owners.all() where !locks.isAlive(owner) {
                try index.owners.dismissOwner(owner, now: now)
            }
        }
    }
}
