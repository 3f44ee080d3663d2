import LectureModel

/// The disk of the world. What was synced survives a crash; of what was only written a crash keeps some.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class MemoryDisk: PartFiles, @unchecked Sendable {
    /// A part file as it lies on the disk.
    final class Part {
        var synced: [UInt8] = []
        var written: [(offset: Int, bytes: [UInt8])] = []

        /// All bytes, as a running program reads them.
        func content() -> [UInt8] {
            var bytes = synced
            for write in written { Self.apply(write, to: &bytes) }
            return bytes
        }

        static func apply(_ write: (offset: Int, bytes: [UInt8]), to bytes: inout [UInt8]) {
            let end = write.offset + write.bytes.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            unsafe bytes.withUnsafeMutableBytes { to in
                unsafe write.bytes.withUnsafeBytes { from in
                    unsafe UnsafeMutableRawBufferPointer(rebasing: to[write.offset..<end]).copyMemory(from: from)
                }
            }
        }
    }

    let world: VirtualWorld
    let digests: any DigestMaker
    /// Finished files by path.
    var files: [String: [UInt8]] = [:]
    var parts: [String: Part] = [:]
    /// Paths outside the store.
    private(set) var outputs: [String: [UInt8]] = [:]
    /// The next part files to be opened fail with this.
    var openFailure: LectureError?
    /// Writes fail with this.
    var writeFailure: LectureError?
    /// Files that cannot be deleted or given out now.
    var refusal: LectureError?
    /// Paths that a living part file works on.
    var openPaths: Set<String> = []
    private(set) var program = 0

    init(world: VirtualWorld, digests: any DigestMaker) {
        self.world = world
        self.digests = digests
    }

    /// A new program works on the disk; what the one before it had not synced may be gone.
    func beginProgram(_ program: Int, losing isPowerCut: Bool) {
        self.program = program
        openPaths = []
        for part in parts.values {
            for write in part.written where !isPowerCut || world.chance(50) { Part.apply(write, to: &part.synced) }
            part.written = []
        }
    }

    func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile {
        MemoryPartFile(disk: self, program: program, receiver: receiver)
    }

    func delete(path: String) throws(LectureError) {
        if let refusal { throw refusal }
        files[path] = nil
        parts[path] = nil
    }

    func look(path: String) -> (final: UInt64?, part: UInt64?) {
        (files[path].map { UInt64($0.count) }, parts[path].map { UInt64($0.content().count) })
    }

    func verify(
        path: String, resource: ResourceID, total: UInt64, chunkBytes: UInt64, proofs: [WrittenChunk],
        pace: (Int) -> Bool
    ) throws(LectureError) -> [Int] {
        let part = path.hasSuffix(".part") ? parts[String(path.dropLast(5))]?.content() : nil
        guard let bytes = files[path] ?? part else { throw LectureError(.readFile, detail: path) }
        var damaged: [Int] = []
        for chunk in proofs {
            let start = min(bytes.count, chunk.index * Int(chunkBytes))
            let end = min(bytes.count, start + Int(chunkBytes))
            let proof = try digests.proof(repeating: chunk.proof, resource: resource, chunk: chunk.index)
            unsafe bytes.withUnsafeBytes { unsafe proof.update(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
            if try proof.finish() != chunk.proof { damaged.append(chunk.index) }
        }
        return damaged
    }

    func read(
        path: String, resource: ResourceID, total: UInt64, chunkBytes: UInt64, proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]? {
        guard let bytes = files[path] else { throw LectureError(.readFile, detail: path) }
        let start = proof.index * Int(chunkBytes)
        return Array(bytes[start..<min(bytes.count, start + Int(chunkBytes))])
    }

    func publish(path: String, to output: String) throws(LectureError) {
        if let refusal { throw refusal }
        guard let bytes = files[path] else { throw LectureError(.readFile, detail: path) }
        outputs[output] = bytes
    }

    func freeBytes() throws(LectureError) -> UInt64 { 1 << 40 }

    func listing() throws(LectureError) -> [String] { (files.keys + parts.keys.map { "\($0).part" }).sorted() }
}
