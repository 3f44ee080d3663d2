import Glibc
import LectureCrypto
import LectureModel
import Testing

@testable import LectureFiles

/// Writes past the page cache, mixed with those through it.
@Suite(.timeLimit(.minutes(1))) struct MediaWriterTests {
    private static let total = 9 << 20

    /// A file of its own, reserved as a part file is.
    private func withFile(_ body: (Descriptor, Scratch) throws -> Void) throws {
        let scratch = try Scratch()
        let directory = unsafe Descriptor(takingOwnership: open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        let file = try directory.open("file", O_RDWR | O_CREAT | O_EXCL)
        try systemCall { posix_fallocate(file.number, 0, off_t(Self.total)) == 0 ? 0 : -1 }
        try body(file, scratch)
    }

    /// How many bytes of the first `count` are in the page cache.
    private func cached(_ file: Descriptor, _ count: Int) throws -> Int {
        let memory = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, file.number, 0)
        defer { unsafe munmap(memory, count) }
        var pages = [UInt8](repeating: 0, count: (count + 4095) / 4096)
        try systemCall { unsafe mincore(memory, count, &pages) }
        return pages.count { $0 & 1 != 0 } * 4096
    }

    private func write(_ bytes: [UInt8], to writer: inout MediaWriter, at offset: Int) throws {
        // As in a download: from the memory of a block.
        try unsafe filled(bytes, at: offset).withBytes { (bytes) throws(SystemError) in
            try unsafe writer.write(bytes, at: UInt64(offset))
        }
    }

    @Test func `Whole pages are not kept in the page cache, neither written nor read again`() throws {
        try withFile { file, scratch in
            var writer = MediaWriter(file, total: UInt64(Self.total))
            // A file system without O_DIRECT has nothing to prove here; the bytes are compared below.
            guard writer.isDirect else { return }
            try write(sample(1 << 20), to: &writer, at: 0)
            try systemCall { fdatasync(file.number) }
            // A file system in memory takes the flag and has only its cache.
            let isInMemory = try cached(file, 1 << 20) > 0
            let reader = ReadableFile(file, "file", direct: writer.direct)
            var found: [UInt8] = []
            try unsafe reader.read(1 << 20, at: 0) { unsafe found.append(contentsOf: $0) }
            #expect(found == sample(1 << 20))
            #expect(try cached(file, 1 << 20) == (isInMemory ? 1 << 20 : 0))
        }
    }

    /// Bytes of both kinds of writes, at every kind of place, up to an end inside a page.
    @Test func `What was written past the page cache is read as it is`() throws {
        try withFile { file, scratch in
            let length = Self.total - 1000
            try systemCall { ftruncate(file.number, off_t(length)) }
            var writer = MediaWriter(file, total: UInt64(length))
            let bytes = sample(length)
            for start in stride(from: 0, to: length, by: 1_000_003) {
                try write(Array(bytes[start..<min(length, start + 1_000_003)]), to: &writer, at: start)
            }
            let reader = ReadableFile(file, "file", direct: writer.direct)
            for (start, count) in [
                (0, 1), (0, 1 << 20), (4096, 5000), (4097, 5000), (1 << 20, (1 << 20) - 1), (length - 3096, 3096),
                (length - 1, 1), ((length >> 12) << 12, length & 4095),
            ] {
                var found: [UInt8] = []
                try unsafe reader.read(count, at: UInt64(start)) { unsafe found.append(contentsOf: $0) }
                #expect(found == Array(bytes[start..<(start + count)]), "\(count) bytes at \(start)")
            }
            let error = #expect(throws: LectureError.self) {
                try unsafe reader.read(8192, at: UInt64((length >> 12) << 12)) { _ in }
            }
            #expect(error?.code == .damaged)
        }
    }

    @Test func `Every place and length is written as it is`() throws {
        try withFile { file, scratch in
            var writer = MediaWriter(file, total: UInt64(Self.total))
            var due = [UInt8](repeating: 0, count: Self.total)
            let pieces = [
                (0, 4096), (8192, 70_000), (100_001, 50_000), (1 << 20, (1 << 20) + 1), (3 << 20, 4095),
                (4 << 20, 1), ((5 << 20) - 40, 300_000), (Self.total - 5000, 5000), (8192, 4096),
            ]
            for (number, piece) in pieces.enumerated() {
                let bytes = sample(piece.1, seed: UInt64(number + 10))
                try write(bytes, to: &writer, at: piece.0)
                due.replaceSubrange(piece.0..<(piece.0 + piece.1), with: bytes)
            }
            #expect(try scratch.read("file") == due)
        }
    }

    /// From memory that begins where a page does, and where none does.
    @Test(arguments: [0, 1])
    func `Strips of every length are written as one piece`(shift: Int) throws {
        try withFile { file, scratch in
            var writer = MediaWriter(file, total: UInt64(Self.total))
            var due = [UInt8](repeating: 0, count: Self.total)
            let lengths = [
                [8192, 8192, 8192], [4096, 5000, 4096], [100, 8192], [8192, 1], [8192], [1 << 17, 1 << 17, 70_001],
                [12_288, 4096, 4095, 4096, 8192],
            ]
            var start = 0
            for (number, lengths) in lengths.enumerated() {
                let whole = sample(lengths.reduce(0, +), seed: UInt64(number + 20))
                var rest = whole[...]
                var memory: [UnsafeMutableRawBufferPointer] = unsafe []
                for length in lengths {
                    let strip = UnsafeMutableRawBufferPointer.allocate(byteCount: length + shift, alignment: 4096)
                    unsafe UnsafeMutableRawBufferPointer(rebasing: strip[shift...]).copyBytes(from: rest.prefix(length))
                    rest = rest.dropFirst(length)
                    unsafe memory.append(strip)
                }
                defer { for index in unsafe memory.indices { unsafe memory[index].deallocate() } }
                let strips = unsafe memory.map { unsafe UnsafeRawBufferPointer(rebasing: $0[shift...]) }
                try unsafe writer.write(strips, at: UInt64(start))
                due.replaceSubrange(start..<(start + whole.count), with: whole)
                start += 1 << 20
            }
            #expect(try scratch.read("file") == due)
        }
    }

    @Test(arguments: [0, 1, 4096, 8191, 8192, 8193, 12_288])
    func `After a short write the rest is left`(written: Int) throws {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 12_288, alignment: 4096)
        defer { unsafe bytes.deallocate() }
        let start = try unsafe #require(bytes.baseAddress)
        var rest = unsafe [
            iovec(iov_base: start, iov_len: 8192), iovec(iov_base: start + 8192, iov_len: 4096),
        ]
        unsafe MediaWriter.drop(written, from: &rest)
        #expect(unsafe rest.reduce(0) { unsafe $0 + Int($1.iov_len) } == 12_288 - written)
        var place = written
        for index in unsafe rest.indices {
            #expect(unsafe rest[index].iov_base == start + place)
            unsafe place += Int(rest[index].iov_len)
        }
        #expect(place == 12_288)
    }

    @Test func `What cannot be opened directly is written through the cache`() throws {
        // The kernel refuses O_DIRECT for a device without it.
        let null = unsafe Descriptor(takingOwnership: open("/dev/null", O_WRONLY | O_CLOEXEC))
        var writer = MediaWriter(null, total: UInt64(Self.total))
        #expect(!writer.isDirect)
        try write(sample(1 << 20), to: &writer, at: 0)
        // Neither a small file nor one of unknown length.
        try withFile { file, _ in
            let least = MediaWriter.leastBytes
            #expect(!MediaWriter(file, total: least - 1).isDirect && !MediaWriter(file, total: nil).isDirect)
        }
    }

    @Test func `An error of a direct write is not hidden by another write`() throws {
        try withFile { file, _ in
            var writer = MediaWriter(file, total: UInt64(Self.total))
            guard writer.isDirect else { return }
            // Beyond what a file system can store.
            let error = #expect(throws: SystemError.self) { try write(sample(4096), to: &writer, at: 1 << 62) }
            #expect(error?.number == EFBIG && writer.isDirect)
        }
    }

    /// Blocks in order and out of order, with and without a digest: the file has the bytes.
    @Test(arguments: [false, true], [nil, 3])
    func `A large part file has the bytes, proofs and digest of the lecture`(
        digest: Bool, turned: Int?
    ) async throws {
        let store = try TestStore(budget: DiskBudget(blocksPerFile: 32))
        let bytes = sample(Self.total + 12_345)
        let plan = plan(bytes.count, chunk: 1 << 20, digest: digest)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let starts = Array(stride(from: 0, to: bytes.count, by: 1 << 20))
        let middle = turned ?? 0
        var chunks: [WrittenChunk] = []
        for start in starts[middle...] + starts[..<middle] {
            let end = min(start + (1 << 20), bytes.count)
            #expect(part.send(Array(bytes[start..<end]), at: start, part.newTransfer()))
            part.file.flush()
            chunks += try await part.flushed()
        }
        if digest {
            part.file.digest(total: UInt64(bytes.count))
            #expect(try await part.digest() == store.digests.sha256(of: bytes))
        }
        try await part.finish(total: bytes.count)
        #expect(try store.root.read(plan.path) == bytes)
        #expect(try store.damage(plan, chunks.sorted { $0.index < $1.index }) == [])
    }

    /// Small files are received so. A block may end a chunk and begin another one.
    @Test(arguments: [false, true], [1 << 20, 400_000])
    func `A file received in strips has the bytes, proofs and digest of the lecture`(
        digest: Bool, chunk: Int
    ) async throws {
        let store = try TestStore()
        let bytes = sample((3 << 20) + 12_345)
        let plan = plan(bytes.count, chunk: chunk, digest: digest)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfer = part.newTransfer()
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            let piece = Array(bytes[start..<min(bytes.count, start + (1 << 20))])
            let block = Block(offset: UInt64(start), capacity: piece.count, strips: 1 << 17)
            #expect(unsafe piece.withUnsafeBytes { unsafe block.append($0) } == piece.count)
            #expect(part.file.submit(block, from: transfer, endsObject: false))
        }
        part.file.flush()
        let chunks = try await part.flushed()
        #expect(chunks.map(\.index) == Array(0..<(bytes.count + chunk - 1) / chunk))
        if digest {
            part.file.digest(total: UInt64(bytes.count))
            #expect(try await part.digest() == store.digests.sha256(of: bytes))
        }
        try await part.finish(total: bytes.count)
        #expect(try store.root.read(plan.path) == bytes)
        #expect(try store.damage(plan, chunks) == [])
    }

    @Test func `Verifying and surveying read a large file from the disk and leave the page cache alone`() async throws {
        let store = try TestStore()
        let bytes = sample(Self.total + 12_345)
        let plan = plan(bytes.count, chunk: 1 << 20, digest: false)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfer = part.newTransfer()
        var chunks: [WrittenChunk] = []
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            #expect(part.send(Array(bytes[start..<min(start + (1 << 20), bytes.count)]), at: start, transfer))
            part.file.flush()
            chunks += try await part.flushed()
        }
        try await part.finish(total: bytes.count)
        let path = "\(store.root.path)/\(plan.path)"
        let file = unsafe Descriptor(takingOwnership: open(path, O_RDONLY | O_CLOEXEC))
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        // A file system in memory has only its cache.
        let isOnDisk = try cached(file, bytes.count) == 0 && file.openDirect(O_RDONLY) != nil
        #expect(try store.damage(plan, chunks) == [])
        #expect(try !isOnDisk || cached(file, bytes.count) == 0)
        let survey = try store.files.survey(
            path: plan.path, resource: plan.resource, beginning: 5, grid: { _ in plan.grid }, pace: { _ in true })
        #expect(try survey?.sha256 == store.digests.sha256(of: bytes))
        #expect(survey?.beginning == Array(bytes[..<5]) && survey?.bytes == UInt64(bytes.count))
        #expect(try !isOnDisk || cached(file, bytes.count) == 0)
    }

    @Test func `A large sealed file opens to the lecture`() async throws {
        let store = try SealedStore()
        let bytes = SealedStore.media(SealedStore.length(9, 12_345))
        let plan = store.plan(bytes.count)
        let part = try await store.began(plan)
        var proofs: [WrittenChunk] = []
        for chunk in 0..<10 {
            #expect(part.send(bytes, plan, from: store.range(chunk, plan, bytes)))
            part.file.flush()
            proofs += try await part.flushed()
        }
        try await part.finish(total: bytes.count)
        #expect(try store.damaged(bytes, proofs) == [] && store.unreadable(bytes, proofs) == [])
        #expect(store.ledger.broken == [] && store.ledger.count == 10)
    }
}
