package import LectureModel

/// The operations on the disk that can fail.
package enum DiskOperation: String, Codable, Sendable, CaseIterable {
    /// A part file is created or opened, and its space reserved.
    case open
    /// A block is written.
    case write
    /// Bytes are made durable.
    case sync
    /// A file gets its final name.
    case place
    /// A file is deleted.
    case delete
    /// A finished file is copied to an output.
    case publish
}

/// The disk of the world. Synced data survives everything; of unsynced writes a power cut keeps some, block by block
/// and name by name, and a kill keeps all, since they are in the kernel.
///
/// `@unchecked Sendable`: used by the one thread of its test.
package final class MemoryDisk: PartFiles, @unchecked Sendable {
    /// The bytes of one file, under any number of names.
    final class Node {
        /// The bytes as a running program reads them.
        var bytes: [UInt8]
        /// Ranges that were written and not synced.
        var dirty: [Range<Int>] = []

        /// The identifier of a sealed file's header.
        var header = 0
        /// What was sealed under the header, in all openings: the plaintext itself, since the world needs no
        /// ciphertext, and whether it was the last segment.
        var sealed: [Int: Sealed] = [:]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// A file of zeros.
        convenience init(zeros count: Int) { self.init(blankBytes(count)) }

        func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
            let end = offset + source.count
            // Writing the same bytes again loses nothing durable.
            if unsafe holds(source, at: offset) { return }
            if bytes.count < end { bytes += blankBytes(end - bytes.count) }
            unsafe bytes.withUnsafeMutableBytes { to in
                unsafe UnsafeMutableRawBufferPointer(rebasing: to[offset..<end]).copyMemory(from: source)
            }
            dirty.append(offset..<end)
        }

        private func holds(_ source: UnsafeRawBufferPointer, at offset: Int) -> Bool {
            let end = offset + source.count
            guard end <= bytes.count, let from = source.baseAddress else { return false }
            return unsafe bytes.withUnsafeBytes { held in
                guard let held = held.baseAddress else { return false }
                return unsafe isSame(held + offset, from, source.count)
            }
        }

        /// Cuts the file to a length.
        func cut(to count: Int) {
            if bytes.count > count { bytes.removeLast(bytes.count - count) }
        }
    }

    /// A segment; the same as a chunk in files as small as the world's.
    struct Sealed: Hashable {
        var bytes: [UInt8]
        var isLast: Bool
    }

    /// A change of names that a power cut may undo.
    private enum NameChange {
        case made(String)
        case renamed(from: String, to: String)
        case removed(String, Node)
    }

    /// Blocks that a power cut keeps or loses as a whole; one may be torn in its middle.
    private static let blockBytes = 1 << 16

    let world: VirtualWorld
    /// A part file is synced by itself once so many bytes of whole chunks were written.
    package var syncsAfter: UInt64 = 4 << 20
    /// Makes proofs and digests, as with the store's key.
    package let digests: any DigestMaker
    /// Names; part files with their suffix.
    private var names: [String: Node] = [:]
    /// Changes of names whose directory has not been synced since.
    private var pending: [NameChange] = []
    /// Files outside the store, by path.
    package private(set) var outputs: [String: [UInt8]] = [:]
    private var outputFacts: [String: OutputFacts] = [:]
    /// The next part files to be opened fail with this.
    package var openFailure: LectureError?
    /// Writes fail with this.
    package var writeFailure: LectureError?
    /// Deleting or copying a file fails with this.
    package var refusal: LectureError?
    /// Lets an operation fail; gets the path.
    package var fault: (DiskOperation, String) -> LectureError? = { _, _ in nil }
    /// Called before a file is deleted.
    var onDelete: (String) -> Void = { _ in }
    /// How many headers were generated for sealed files.
    package private(set) var headers = 0
    /// How many of them were used again by another opening.
    package var headersUsedOn = 0
    /// Paths of open part files, with their programs.
    package internal(set) var openPaths: [String: Int] = [:]

    init(world: VirtualWorld, digests: any DigestMaker) {
        self.world = world
        self.digests = digests
    }

    /// A sealed file gets a new header; kept segments are sealed again under it.
    func renew(_ node: Node, keeping kept: (Int) -> Bool) {
        headers += 1
        node.header = headers
        node.sealed = node.sealed.filter { kept($0.key) }
    }

    // MARK: The end of programs

    /// A program has died: its files are closed.
    func close(program: Int) { openPaths = openPaths.filter { $0.value != program } }

    /// The power fails: some unsynced data is lost. Every program has died.
    func cutPower() {
        openPaths = [:]
        undoNames()
        for name in names.keys.sorted() {
            guard let node = names[name] else { continue }
            for range in node.dirty { lose(some: range, of: node) }
            node.dirty = []
        }
    }

    /// Of a file's unsynced names a power cut keeps the first ones: file systems keep the order of one directory's
    /// entries, and different files are independent here, which is weaker than any file system.
    private func undoNames() {
        var kept: [String: Int] = [:]
        for change in pending { kept[Self.base(of: change), default: 0] += 1 }
        for base in kept.keys.sorted() { kept[base] = world.some(0...(kept[base] ?? 0)) }
        var seen: [String: Int] = [:]
        var undone: [NameChange] = []
        for change in pending {
            let base = Self.base(of: change)
            seen[base, default: 0] += 1
            if seen[base] ?? 0 > kept[base] ?? 0 { undone.append(change) }
        }
        for change in undone.reversed() {
            switch change {
            case .made(let name): names[name] = nil
            case .renamed(let old, let new): names[old] = names.removeValue(forKey: new)
            case .removed(let name, let node): names[name] = node
            }
        }
        pending = []
    }

    private static func base(of change: NameChange) -> String {
        switch change {
        case .made(let name), .removed(let name, _), .renamed(let name, _): MemoryDisk.final(of: name)
        }
    }

    /// What a power cut or a failed sync leaves of a range: each block or not, and one of them torn.
    func lose(some range: Range<Int>, of node: Node) {
        if world.chance(30) { return }
        let losesAll = world.chance(30)
        var position = range.lowerBound
        while position < range.upperBound {
            let end = min(range.upperBound, position + Self.blockBytes)
            if losesAll || world.chance(50) {
                let start = world.chance(10) ? position + (end - position) / 2 : position
                blank(start..<end, of: node)
            }
            position = end
        }
    }

    private func blank(_ range: Range<Int>, of node: Node) {
        let end = min(range.upperBound, node.bytes.count)
        guard range.lowerBound < end else { return }
        unsafe node.bytes.withUnsafeMutableBytes { bytes in
            let lost = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range.lowerBound..<end])
            _ = unsafe lost.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    // MARK: Names

    static let suffix = ".part"

    static func final(of name: String) -> String {
        name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    }

    /// Whether a power cut leaves a name as it is.
    func isDurable(_ path: String) -> Bool { !pending.contains { Self.base(of: $0) == path } }

    func node(_ name: String) -> Node? { names[name] }

    /// Creates a file, or gives it a name.
    func make(_ name: String, _ node: Node) {
        names[name] = node
        pending.append(.made(name))
    }

    func rename(_ old: String, to new: String) {
        names[new] = names.removeValue(forKey: old)
        pending.append(.renamed(from: old, to: new))
    }

    func remove(_ name: String) {
        guard let node = names.removeValue(forKey: name) else { return }
        pending.append(.removed(name, node))
    }

    /// Makes the names of a path's directory durable.
    func syncNames(of path: String) {
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        pending.removeAll { Self.base(of: $0).hasPrefix(directory) }
    }

    /// Finished files by path.
    package var files: [String: [UInt8]] { names.filter { !$0.key.hasSuffix(Self.suffix) }.mapValues(\.bytes) }

    /// Part files by the path of the finished file; setting removes those that are left out.
    package var parts: [String: [UInt8]] {
        get {
            var parts: [String: [UInt8]] = [:]
            for (name, node) in names where name.hasSuffix(Self.suffix) { parts[Self.final(of: name)] = node.bytes }
            return parts
        }
        set {
            for name in names.keys where name.hasSuffix(Self.suffix) && newValue[Self.final(of: name)] == nil {
                names[name] = nil
            }
        }
    }

    /// Changes a durable byte, as a bad disk does unnoticed.
    ///
    /// - Parameters:
    ///   - offset: in the only part file.
    ///   - mask: the bits that flip.
    package func spoilPart(at offset: Int, mask: UInt8) {
        for (name, node) in names where name.hasSuffix(Self.suffix) { node.bytes[offset] ^= mask }
    }

    // MARK: The port

    /// A part file of the running program.
    package func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile {
        MemoryPartFile(disk: self, program: 0, receiver: receiver)
    }

    /// Deletes a file and its part file.
    package func delete(path: String) throws(LectureError) {
        if let error = refusal ?? fault(.delete, path) { throw error }
        onDelete(path)
        remove(path)
        if !path.hasSuffix(Self.suffix) { remove(path + Self.suffix) }
        syncNames(of: path)
    }

    /// The lengths of a file and its part file.
    package func status(path: String) -> (final: UInt64?, part: UInt64?) {
        (names[path].map { UInt64($0.bytes.count) }, names[path + Self.suffix].map { UInt64($0.bytes.count) })
    }

    /// Reads chunks again and checks them against their proofs.
    package func verify(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proofs: [WrittenChunk], pace: (Int) -> Bool
    ) throws(LectureError) -> [Int] {
        guard let node = names[path] else { throw LectureError(.readFile, detail: path) }
        let bytes = node.bytes
        var damaged: [Int] = []
        for chunk in proofs {
            let place = grid.range(of: chunk.index, total: UInt64(bytes.count))
            let (start, end) = (Int(place.lowerBound), Int(place.upperBound))
            let proof = try (cipher?.digests ?? digests).proof(
                repeating: chunk.proof, resource: resource, chunk: chunk.index)
            unsafe bytes.withUnsafeBytes { unsafe proof.update(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
            if try proof.finish() != chunk.proof { damaged.append(chunk.index) }
        }
        return damaged
    }

    /// Reads one chunk.
    package func read(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]? {
        guard let bytes = names[path]?.bytes else { throw LectureError(.readFile, detail: path) }
        let place = grid.range(of: proof.index, total: UInt64(bytes.count))
        return Array(bytes[Int(place.lowerBound)..<Int(place.upperBound)])
    }

    /// What is at a path outside the store.
    package func status(output: String) throws(LectureError) -> OutputFacts? { outputFacts[output] }

    /// Copies a finished file out of the store.
    package func publish(
        path: String, isSealed: Bool, to output: String, replacing right: OutputRight
    ) throws(LectureError) -> OutputFacts {
        if isSealed { throw LectureError(.isSealed, detail: path) }
        if let error = refusal ?? fault(.publish, path) { throw error }
        guard let bytes = names[path]?.bytes else { throw LectureError(.readFile, detail: path) }
        if let there = outputFacts[output] {
            if outputs[output] == bytes { return there }
            guard right.allows(there) else { throw LectureError(.outputExists, detail: output) }
        }
        let facts = OutputFacts(
            inode: Int64(outputFacts.count), bytes: Int64(bytes.count), modifiedNanoseconds: Int64(outputs.count))
        (outputs[output], outputFacts[output]) = (bytes, facts)
        return facts
    }

    /// Whether there is no file.
    package func isEmpty() throws(LectureError) -> Bool { names.isEmpty }

    /// The share of the time in which received bytes wait for the disk.
    package var waitingShare = 0.0

    /// How long they have waited.
    package var blockedTime: Duration { .nanoseconds(Int64(waitingShare * Double(world.boot))) }

    /// More than any test needs.
    package func freeBytes() throws(LectureError) -> UInt64 { 1 << 40 }

    /// All files, part files with their suffix.
    package func listing() throws(LectureError) -> [String] { names.keys.sorted() }
}

/// The disk as one program sees it: its calls are the program's actions, and end with it.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class ProgramFiles: PartFiles, @unchecked Sendable {
    private let disk: MemoryDisk
    private let program: Int

    init(_ disk: MemoryDisk, program: Int) {
        self.disk = disk
        self.program = program
    }

    func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile {
        MemoryPartFile(disk: disk, program: program, receiver: receiver)
    }

    private func acting<Result>(
        _ what: @autoclosure () -> String, _ work: () throws(LectureError) -> Result
    ) throws(LectureError) -> Result {
        guard disk.world.beginAction(program, what()) else { throw LectureError(.closing) }
        defer { _ = disk.world.endAction(program) }
        return try work()
    }

    func delete(path: String) throws(LectureError) {
        try acting("deletes \(path)") { () throws(LectureError) in try disk.delete(path: path) }
    }

    func status(path: String) -> (final: UInt64?, part: UInt64?) { disk.status(path: path) }

    func verify(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proofs: [WrittenChunk], pace: (Int) -> Bool
    ) throws(LectureError) -> [Int] {
        try disk.verify(
            path: path, resource: resource, total: total, grid: grid, cipher: cipher, proofs: proofs, pace: pace)
    }

    func read(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]? {
        try disk.read(path: path, resource: resource, total: total, grid: grid, cipher: cipher, proof: proof)
    }

    func status(output: String) throws(LectureError) -> OutputFacts? { try disk.status(output: output) }

    func publish(
        path: String, isSealed: Bool, to output: String, replacing right: OutputRight
    ) throws(LectureError) -> OutputFacts {
        try acting("gives out \(path)") { () throws(LectureError) in
            try disk.publish(path: path, isSealed: isSealed, to: output, replacing: right)
        }
    }

    func isEmpty() throws(LectureError) -> Bool { try disk.isEmpty() }

    func freeBytes() throws(LectureError) -> UInt64 { try disk.freeBytes() }

    var blockedTime: Duration { disk.blockedTime }

    func listing() throws(LectureError) -> [String] {
        try acting("lists its files") { () throws(LectureError) in try disk.listing() }
    }
}

/// So many zeros; written one by one they would take a debug build most of its time.
func blankBytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        if let memory = buffer.baseAddress { unsafe UnsafeMutableRawPointer(memory).zero(count) }
        filled = count
    }
}
