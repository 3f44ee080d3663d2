import Glibc
import LectureModel

/// A sealed part file: gathers the plaintext of each transfer in whole segments, seals each once and writes it at its
/// offset. Used by one thread at a time. The rules are in docs/sealed-file.md.
///
/// A segment that arrives in one piece is sealed where it is. With a second buffer sealing takes up to twice the time:
/// a direct write takes a buffer out of the processor's caches, and sealing into it brings it back.
///
/// The nonce invariant: under one header a segment is sealed once. `sealed` records which ones were; after reopening
/// that is known only if the file was closed cleanly. Where a segment arrives again with other bytes, or the file was
/// not closed cleanly, the chunks worth keeping are opened and sealed again under a new header into another file, which
/// replaces the part file when it is durable.
@safe final class SealedPart {
    /// A segment whose plaintext is being received.
    private struct Stream {
        let segment: Int
        let range: Range<Int>
        var text: [UInt8] = []
        var isFull: Bool { text.count == range.count }
    }

    /// The open file; another one after a renewal.
    var file: Descriptor { output.file }
    private var output: MediaWriter
    /// Reads the plaintext of what was written.
    private(set) var reader: SealedReader
    private let paths: PartFilePaths
    private let media: MediaDirectory
    private let plan: PartFilePlan
    private let seal: SealPlan
    private let continues: () -> Bool
    private var sealer: any SegmentSealing
    private var layout: SealedLayout
    private var isEndKnown: Bool { layout != .endless }
    /// The segments that were ever sealed under the header.
    private var sealed: Set<Int>
    private var last: Int?
    /// Chunks of which all bytes are in the file.
    private var whole: Set<Int>
    private var streams: [TransferID: Stream] = [:]
    /// Chunks whose bytes have all been received, by their ends, and whose last segment is not written yet.
    private var ending: [Int: ChunkAssembler.Finished] = [:]
    /// Takes a segment whose text has no space for a tag. Allocated when it is first needed.
    private var box: UnsafeMutableRawBufferPointer?

    /// Creates the file, or opens it and renews its header where the nonce invariant requires it.
    ///
    /// - Parameters:
    ///   - plan: a plan with a seal.
    ///   - seal: the plan's.
    ///   - paths: where the file is.
    ///   - media: knows the free space.
    ///   - continues: called between segments that are sealed again; false ends that.
    /// - Returns: nil when it was ended.
    /// - Throws: ``LectureError``, with ``LectureError/Code/damaged`` when nothing of an existing file can be relied
    ///   on.
    static func open(
        _ plan: PartFilePlan, _ seal: SealPlan, _ paths: PartFilePaths, _ media: MediaDirectory,
        while continues: @escaping () -> Bool
    ) throws(LectureError) -> SealedPart? {
        let length = try plan.total.map { total throws(LectureError) in try SealedFormat.fileLength(total: total) }
        guard plan.resumes else {
            let file = try paths.create()
            do throws(LectureError) {
                try paths.reserve(file, length: length ?? 0, reserve: plan.reserveBytes, in: media)
                let header = try seal.cipher.newHeader()
                try Self.write(header, to: file, plan.path)
                return try SealedPart(plan, seal, paths, media, file, header, continues)
            } catch {
                // No half-made file: a new file without space is deleted. Its error matters more than that of the
                // deletion.
                try? paths.deletePart()
                throw error
            }
        }
        let file = try paths.reopen(total: length)
        let header = try SealedReader.header(of: ReadableFile(file, plan.path), seal.cipher).bytes
        let part = try SealedPart(plan, seal, paths, media, file, header, continues)
        if seal.isClean, try !part.hasStrays() {
            try paths.reserve(file, length: length ?? 0, reserve: plan.reserveBytes, in: media)
            return part
        }
        return try part.renew(keeping: part.sealed) ? part : nil
    }

    private init(
        _ plan: PartFilePlan, _ seal: SealPlan, _ paths: PartFilePaths, _ media: MediaDirectory, _ file: Descriptor,
        _ header: [UInt8], _ continues: @escaping () -> Bool
    ) throws(LectureError) {
        self.plan = plan
        self.seal = seal
        self.paths = paths
        self.media = media
        output = MediaWriter(file, total: plan.total)
        self.continues = continues
        let known = plan.total.flatMap { Int(exactly: $0) }.flatMap { SealedLayout(plaintextLength: $0) }
        let layout = known ?? .endless
        whole = plan.resumes ? Set(seal.committed) : []
        let segments = whole.flatMap { Self.segments(of: $0, plan, layout) }
        sealed = Set(segments)
        last = known.flatMap { [sealed] in sealed.contains($0.lastSegment) ? $0.lastSegment : nil }
        self.layout = layout
        sealer = try seal.cipher.sealer(header: header, sealedBefore: sealed)
        reader = SealedReader(
            ReadableFile(file, plan.path, direct: output.direct), opener: try seal.cipher.opener(header: header),
            layout: layout, last: last, damage: .readsAsZeros)
    }

    deinit { unsafe box?.deallocate() }

    /// The box, as long as a segment of this text.
    private func box(_ text: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let whole =
            unsafe box ?? .allocate(byteCount: SealedFormat.segmentBytes, alignment: MediaWriter.page)
        unsafe box = whole
        return unsafe UnsafeMutableRawBufferPointer(rebasing: whole[..<(text.count + SealedFormat.tagBytes)])
    }

    private static func segments(of chunk: Int, _ plan: PartFilePlan, _ layout: SealedLayout) -> Range<Int> {
        let range = plan.grid.range(of: chunk, total: plan.total)
        guard let start = Int(exactly: range.lowerBound), let end = Int(exactly: range.upperBound) else { return 0..<0 }
        return layout.segments(covering: start..<end)
    }

    /// Whether every segment that was sealed under the header belongs to a chunk that is whole.
    var isClean: Bool {
        var left = sealed
        for chunk in whole { left.subtract(Self.segments(of: chunk, plan, layout)) }
        return left.isEmpty || layout.plaintextLength == 0
    }

    /// Whether there are bytes where no chunk is committed. A file that was closed cleanly has none; one that is newer
    /// than its rows (the database was restored from a copy) has some.
    private func hasStrays() throws(LectureError) -> Bool {
        let length: UInt64
        do { length = try file.status().byteCount } catch { throw FileIntent.read.error(error, plan.path) }
        let reader = ReadableFile(file, plan.path)
        for segment in 0..<layout.segmentCount where !sealed.contains(segment) {
            let start = UInt64(layout.ciphertextRange(ofSegment: segment).lowerBound)
            guard start < length else { break }
            var isBlank = true
            try unsafe reader.read(Int(min(64, length - start)), at: start) { bytes in
                isBlank = unsafe bytes.allSatisfy { $0 == 0 }
            }
            if !isBlank { return true }
        }
        return false
    }

    // MARK: Bytes

    /// Takes the next bytes of a transfer, after the assembler has found them in order.
    ///
    /// - Parameters:
    ///   - memory: the bytes, and after them ``SealedFormat/tagBytes`` more; stays until this returns. What it contains
    ///     then is undefined.
    ///   - offset: their place in the resource.
    ///   - transfer: where they came from.
    ///   - endsObject: whether the object ends after them.
    ///   - finished: the chunks completed by them.
    ///   - written: called for every chunk when its last segment is written, also for one that was held back.
    /// - Returns: false when the file is about to be closed and nothing more needs to be written.
    /// - Throws: ``LectureError``.
    func take(
        _ memory: UnsafeMutableRawBufferPointer, at offset: UInt64, from transfer: TransferID, endsObject: Bool,
        finished: [ChunkAssembler.Finished], written: (ChunkAssembler.Finished) throws(LectureError) -> Void
    ) throws(LectureError) -> Bool {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory.dropLast(SealedFormat.tagBytes))
        for chunk in finished { ending[Int(chunk.range.upperBound)] = chunk }
        var position = Int(offset)
        let end = position + bytes.count
        while position < end {
            var stream = streams.removeValue(forKey: transfer)
            if let full = stream, full.isFull {
                // Held back while the length was unknown; more bytes show that it is not the last one.
                guard try put(full, isLast: false, written) else { return false }
                stream = nil
            }
            var started = stream ?? begin(at: position)
            guard position < started.range.upperBound else {
                throw LectureError(.bug, detail: plan.path, cause: "bytes at \(position) came after the end")
            }
            let stop = min(end, started.range.upperBound)
            let piece = unsafe UnsafeRawBufferPointer(
                rebasing: bytes[(position - Int(offset))..<(stop - Int(offset))])
            position = stop
            if isEndKnown, started.text.isEmpty, piece.count == started.range.count {
                // The usual case: a block is a segment.
                let isLast = stop == layout.plaintextLength
                let space = unsafe piece.count == bytes.count ? memory : nil
                guard try unsafe put(started.segment, started.range, piece, in: space, isLast: isLast, written) else {
                    return false
                }
                continue
            }
            unsafe started.text.append(contentsOf: piece)
            if isEndKnown, started.isFull {
                guard try put(started, isLast: stop == layout.plaintextLength, written) else { return false }
            } else {
                streams[transfer] = started
            }
        }
        guard endsObject, let stream = streams.removeValue(forKey: transfer) else { return true }
        return try put(stream, isLast: true, written)
    }

    private func begin(at position: Int) -> Stream {
        let segment = layout.segment(at: position)
        // A transfer that was cut at the end of a segment has left it held back. It now belongs to this transfer.
        for (id, stream) in streams where stream.segment == segment { streams[id] = nil }
        return Stream(segment: segment, range: layout.plaintextRange(ofSegment: segment))
    }

    /// Drops what was received of a transfer's segment.
    ///
    /// - Parameter transfer: the transfer.
    func abandon(_ transfer: TransferID) {
        if let stream = streams.removeValue(forKey: transfer) { ending[stream.range.upperBound] = nil }
    }

    /// Seals the only segment of an empty resource.
    ///
    /// - Throws: ``LectureError``.
    func sealNothing() throws(LectureError) {
        guard !sealed.contains(0) else { return }
        _ = try unsafe put(0, 0..<0, UnsafeRawBufferPointer(start: nil, count: 0), in: nil, isLast: true) { _ in }
    }

    private func put(
        _ stream: Stream, isLast: Bool, _ written: (ChunkAssembler.Finished) throws(LectureError) -> Void
    ) throws(LectureError) -> Bool {
        let range = stream.range.lowerBound..<(stream.range.lowerBound + stream.text.count)
        var result = Result<Bool, LectureError>.success(false)
        unsafe stream.text.withUnsafeBytes { text in
            do throws(LectureError) {
                result = .success(try unsafe put(stream.segment, range, text, in: nil, isLast: isLast, written))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Seals a segment and writes it, under a new header where necessary.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - range: its place in the resource.
    ///   - text: its text.
    ///   - space: the text and space for a tag, if it may be sealed there.
    ///   - isLast: whether the file ends with it.
    ///   - written: called for the chunk that ends with it.
    /// - Returns: false when the file is about to be closed.
    /// - Throws: ``LectureError``.
    private func put(
        _ segment: Int, _ range: Range<Int>, _ text: UnsafeRawBufferPointer, in space: UnsafeMutableRawBufferPointer?,
        isLast: Bool, _ written: (ChunkAssembler.Finished) throws(LectureError) -> Void
    ) throws(LectureError) -> Bool {
        if isLast, !isEndKnown, let known = SealedLayout(plaintextLength: range.upperBound) {
            layout = known
        }
        let end = last ?? (isLast ? segment : .max)
        let contradicts = isLast ? end != segment || sealed.contains { $0 > segment } : segment >= end
        if sealed.contains(segment) || contradicts, try unsafe !isThere(segment, text, isLast: isLast) {
            let kept = sealed.filter { $0 != segment && !(contradicts && ($0 > segment || $0 == last)) }
            guard try renew(keeping: kept) else { return false }
        }
        if !sealed.contains(segment) { try unsafe write(segment, text, in: space, isLast: isLast) }
        guard let chunk = ending.removeValue(forKey: range.upperBound) else { return true }
        whole.insert(chunk.chunk.index)
        try written(chunk)
        return true
    }

    /// Whether exactly these bytes are sealed there already, so that nothing needs to be done.
    private func isThere(
        _ segment: Int, _ text: UnsafeRawBufferPointer, isLast: Bool
    ) throws(LectureError) -> Bool {
        guard sealed.contains(segment), (last == segment) == isLast else { return false }
        do throws(LectureError) {
            var isSame = false
            try unsafe reader.open(segment) { there in
                guard there.count == text.count else { return }
                guard let left = there.baseAddress, let right = text.baseAddress else {
                    isSame = unsafe text.isEmpty
                    return
                }
                isSame = unsafe memcmp(left, right, text.count) == 0
            }
            return isSame
        } catch {
            if error.code == .damaged { return false }
            throw error
        }
    }

    private func write(
        _ segment: Int, _ text: UnsafeRawBufferPointer, in space: UnsafeMutableRawBufferPointer?, isLast: Bool
    ) throws(LectureError) {
        let buffer = unsafe space ?? box(text)
        // Before anything is sealed: whatever fails after this, the nonce is used up.
        sealed.insert(segment)
        if isLast { last = segment }
        reader.forget(layout: layout, last: last)
        try unsafe sealer.seal(segment: segment, isLast: isLast, text, into: buffer)
        do throws(SystemError) {
            let start = UInt64(layout.ciphertextRange(ofSegment: segment).lowerBound)
            try unsafe output.write(UnsafeRawBufferPointer(buffer), at: start)
        } catch {
            throw FileIntent.write.error(error, plan.path)
        }
    }

    private static func write(_ header: [UInt8], to file: Descriptor, _ path: String) throws(LectureError) {
        var failure: SystemError?
        unsafe header.withUnsafeBytes { bytes in
            do throws(SystemError) { try unsafe file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw FileIntent.write.error(failure, path) }
    }

    // MARK: Another header

    /// Opens what is to be kept, seals it under a new header into another file, and moves that into place, durably.
    /// What does not open is left out: checking its chunk's proof will find it.
    ///
    /// - Parameter kept: segments of the current file.
    /// - Returns: false when it was ended; then the current file is unchanged.
    /// - Throws: ``LectureError``, with ``LectureError/Code/storageFull`` when there is no space for both files.
    private func renew(keeping kept: Set<Int>) throws(LectureError) -> Bool {
        let fresh = try paths.createReplacement()
        do throws(LectureError) {
            let end = kept.max().map { layout.ciphertextRange(ofSegment: $0).upperBound } ?? SealedFormat.headerBytes
            let length = isEndKnown ? layout.ciphertextLength : end
            try paths.reserve(fresh, length: UInt64(length), reserve: plan.reserveBytes, in: media)
            let header = try seal.cipher.newHeader()
            try Self.write(header, to: fresh, plan.path)
            let under = try seal.cipher.sealer(header: header, sealedBefore: [])
            guard let carried = try carry(kept.sorted(), into: fresh, under) else {
                try? paths.clearReplacement()
                return false
            }
            let opener = try seal.cipher.opener(header: header)
            try paths.install(fresh)
            output = MediaWriter(fresh, total: plan.total)
            sealer = under
            sealed = carried
            last = last.flatMap { carried.contains($0) ? $0 : nil }
            reader = SealedReader(
                ReadableFile(fresh, plan.path, direct: output.direct), opener: opener, layout: layout, last: last,
                damage: .readsAsZeros)
            return true
        } catch {
            try? paths.clearReplacement()
            throw error
        }
    }

    private func carry(
        _ segments: [Int], into fresh: Descriptor, _ under: any SegmentSealing
    ) throws(LectureError) -> Set<Int>? {
        var carried: Set<Int> = []
        reader.forget(layout: layout, last: last)
        for segment in segments {
            guard continues() else { return nil }
            var failure: LectureError?
            do throws(LectureError) {
                try unsafe reader.open(segment) { text in
                    do throws(LectureError) {
                        try unsafe carry(segment, text, into: fresh, under)
                    } catch {
                        failure = error
                    }
                }
            } catch {
                if error.code == .damaged { continue }
                throw error
            }
            if let failure { throw failure }
            carried.insert(segment)
        }
        return carried
    }

    private func carry(
        _ segment: Int, _ text: UnsafeRawBufferPointer, into fresh: Descriptor, _ under: any SegmentSealing
    ) throws(LectureError) {
        let buffer = unsafe box(text)
        try unsafe under.seal(segment: segment, isLast: segment == last, text, into: buffer)
        do throws(SystemError) {
            let start = UInt64(layout.ciphertextRange(ofSegment: segment).lowerBound)
            try unsafe fresh.write(UnsafeRawBufferPointer(buffer), at: start)
        } catch {
            throw FileIntent.write.error(error, plan.path)
        }
    }
}
