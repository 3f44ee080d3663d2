import Glibc
package import LectureModel

extension StoreDirectory {
    /// The final file, else the part file.
    func openForReading(_ path: MediaPath) throws(LectureError) -> Descriptor {
        do {
            if let bucket = try media.bucket(of: path, creating: false) {
                for name in path.isPart ? [path.partName] : [path.name, path.partName]
                where try bucket.status(of: name)?.isRegular == true {
                    return try bucket.open(name, O_RDONLY)
                }
            }
        } catch {
            throw FileIntent.read.error(error, path.text)
        }
        throw FileIntent.read.error(SystemError(number: ENOENT), path.text)
    }

    /// Checks chunks against their proofs, reading from the disk and not from the page cache.
    package func verify(
        path text: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proofs: [WrittenChunk], pace: (Int) -> Bool
    ) throws(LectureError) -> [Int] {
        let file = try openForReading(try MediaPath(text))
        let length = cipher == nil ? total : try SealedFormat.fileLength(total: total)
        let raw = ReadableFile(onDisk: file, text, length: length)
        guard let source = try source(raw, total: total, cipher) else {
            // Without a header nothing can be opened.
            return total == 0 ? [0] : proofs.map(\.index).sorted()
        }
        let check = ChunkCheck(
            source: source, digests: cipher?.digests ?? digests, resource: resource, total: total, grid: grid)
        var damaged: [Int] = []
        for chunk in proofs.sorted(by: { $0.index < $1.index }) {
            switch try check.inspect(at: chunk, pace) {
            case .intact: continue
            case .damaged: damaged.append(chunk.index)
            case .stopped: return damaged
            }
        }
        if total == 0, let sealed = source as? SealedReader {
            guard try isEmpty(sealed) else { return [0] }
            return try self.length(of: file, text) == length ? [] : [0]
        }
        // Bytes past the end belong to no chunk; the last chunk does not end where it should.
        let last = grid.count(total: total) - 1
        if last >= 0, damaged.last != last, proofs.contains(where: { $0.index == last }),
            try self.length(of: file, text) > length
        {
            damaged.append(last)
        }
        return damaged
    }

    /// Reads the bytes of a file in clear; nil for a sealed file without a header.
    private func source(
        _ raw: ReadableFile, total: UInt64, _ cipher: (any ContentCipher)?
    ) throws(LectureError) -> (any ByteSource)? {
        guard let cipher else { return raw }
        guard let length = Int(exactly: total), let layout = SealedLayout(plaintextLength: length) else { return nil }
        do throws(LectureError) {
            let opener = try SealedReader.header(of: raw, cipher).opener
            return SealedReader(raw, opener: opener, layout: layout, last: layout.lastSegment, damage: .isRefused)
        } catch {
            if error.code == .damaged || error.code == .readFile { return nil }
            throw error
        }
    }

    /// Whether the only segment of an empty sealed resource opens.
    private func isEmpty(_ reader: SealedReader) throws(LectureError) -> Bool {
        do throws(LectureError) {
            try unsafe reader.open(0)
            return true
        } catch {
            if error.code == .damaged || error.code == .readFile { return false }
            throw error
        }
    }

    func length(of file: Descriptor, _ text: String) throws(LectureError) -> UInt64 {
        do {
            return try file.status().byteCount
        } catch {
            throw FileIntent.read.error(error, text)
        }
    }
}

extension StoreDirectory {
    /// Reads one chunk and returns it only if it matches its proof.
    package func read(
        path text: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]? {
        let file = try openForReading(try MediaPath(text))
        guard let source = try source(ReadableFile(file, text), total: total, cipher) else { return nil }
        let check = ChunkCheck(
            source: source, digests: cipher?.digests ?? digests, resource: resource, total: total, grid: grid)
        return try check.bytes(of: proof)
    }
}

/// Checks chunks of one file against their proofs.
private struct ChunkCheck {
    /// The result for one chunk.
    enum Outcome {
        /// The bytes match the proof.
        case intact
        /// They do not, or cannot be read.
        case damaged
        /// The caller stopped the check.
        case stopped
    }

    let source: any ByteSource
    let digests: any DigestMaker
    let resource: ResourceID
    let total: UInt64
    let grid: ChunkGrid

    /// Re-reads one chunk. A sector that cannot be read and a file that ends early are damage of the chunk, not a
    /// reason to stop: the others may be intact.
    func inspect(at chunk: WrittenChunk, _ pace: (Int) -> Bool) throws(LectureError) -> Outcome {
        guard (0..<grid.count(total: total)).contains(chunk.index) else { return .damaged }
        let range = grid.range(of: chunk.index, total: total)
        do {
            let proof = try digests.proof(repeating: chunk.proof, resource: resource, chunk: chunk.index)
            var position = range.lowerBound
            while position < range.upperBound {
                let length = Int(min(UInt64(ReadableFile.bufferBytes), range.upperBound - position))
                try unsafe source.read(length, at: position) { bytes in unsafe proof.update(bytes) }
                position += UInt64(length)
                guard pace(length) else { return .stopped }
            }
            return digests.equal(try proof.finish(), chunk.proof) ? .intact : .damaged
        } catch {
            if error.code == .damaged || error.code == .readFile { return .damaged }
            throw error
        }
    }

    /// Reads one chunk to where it stays, without another copy.
    ///
    /// - Parameter chunk: its number and its proof.
    /// - Returns: its bytes; nil when they do not match the proof, or cannot be read.
    /// - Throws: what is no damage of the chunk.
    func bytes(of chunk: WrittenChunk) throws(LectureError) -> [UInt8]? {
        guard (0..<grid.count(total: total)).contains(chunk.index) else { return nil }
        let range = grid.range(of: chunk.index, total: total)
        var failure: LectureError?
        var isIntact = false
        // Not filled with zeros before: that costs as much as reading from the page cache.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { storage, count in
            do throws(LectureError) {
                let target = unsafe UnsafeMutableRawBufferPointer(start: storage.baseAddress, count: range.count)
                try unsafe source.read(into: target, at: range.lowerBound)
                let proof = try digests.proof(repeating: chunk.proof, resource: resource, chunk: chunk.index)
                unsafe proof.update(UnsafeRawBufferPointer(target))
                isIntact = digests.equal(try proof.finish(), chunk.proof)
                count = isIntact ? range.count : 0
            } catch { failure = error }
        }
        if let failure, failure.code != .damaged, failure.code != .readFile { throw failure }
        return isIntact ? bytes : nil
    }
}
