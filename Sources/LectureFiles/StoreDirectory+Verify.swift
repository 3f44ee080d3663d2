import Glibc
package import LectureModel

extension StoreDirectory {
    /// The final file, else the part file.
    private func openForReading(_ path: MediaPath) throws(LectureError) -> Descriptor {
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

    /// Holds chunks against their proofs, reading from the disk and not from the page cache.
    package func verify(
        path text: String, resource: ResourceID, total: UInt64, chunkBytes: UInt64, proofs: [WrittenChunk],
        pace: (Int) -> Bool
    ) throws(LectureError) -> [Int] {
        let file = try openForReading(try MediaPath(text))
        // What is on the disk is due, not what the page cache still holds. Dirty pages stay, so this never harms.
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        let check = ChunkCheck(
            file: ReadableFile(file, text), digests: digests, resource: resource, total: total,
            chunkBytes: chunkBytes)
        var damaged: [Int] = []
        for chunk in proofs.sorted(by: { $0.index < $1.index }) {
            switch try unsafe check.look(at: chunk, pace) {
            case .intact: continue
            case .damaged: damaged.append(chunk.index)
            case .stopped: return damaged
            }
        }
        // Bytes behind the end belong to no chunk; the last one does not end where it should.
        if total > 0, let last = Int(exactly: (total - 1) / chunkBytes), damaged.last != last,
            proofs.contains(where: { $0.index == last }), try length(of: file, text) > total
        {
            damaged.append(last)
        }
        return damaged
    }

    private func length(of file: Descriptor, _ text: String) throws(LectureError) -> UInt64 {
        do {
            return try file.status().byteCount
        } catch {
            throw FileIntent.read.error(error, text)
        }
    }
}

extension StoreDirectory {
    /// Reads one chunk and hands it out only when it has its proof.
    package func read(
        path text: String, resource: ResourceID, total: UInt64, chunkBytes: UInt64, proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]? {
        let file = try openForReading(try MediaPath(text))
        let check = ChunkCheck(
            file: ReadableFile(file, text), digests: digests, resource: resource, total: total,
            chunkBytes: chunkBytes)
        var bytes: [UInt8] = []
        let outcome = try unsafe check.look(at: proof, { _ in true }, keeping: { unsafe bytes.append(contentsOf: $0) })
        return outcome == .intact ? bytes : nil
    }
}

/// Holds chunks of one file against their proofs.
private struct ChunkCheck {
    /// What became of one chunk.
    enum Outcome {
        /// The bytes have the proof.
        case intact
        /// They have not, or cannot be read.
        case damaged
        /// The caller wants no more.
        case stopped
    }

    let file: ReadableFile
    let digests: any DigestMaker
    let resource: ResourceID
    let total: UInt64
    let chunkBytes: UInt64

    /// Re-reads one chunk. A sector that cannot be read and a file that ends early are damage of the chunk, not a
    /// reason to give up: the others may be whole.
    func look(
        at chunk: WrittenChunk, _ pace: (Int) -> Bool, keeping keep: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws(LectureError) -> Outcome {
        guard let range = range(of: chunk.index) else { return .damaged }
        do {
            let proof = try digests.proof(repeating: chunk.proof, resource: resource, chunk: chunk.index)
            var position = range.lowerBound
            while position < range.upperBound {
                let length = Int(min(UInt64(ReadableFile.bufferBytes), range.upperBound - position))
                try unsafe file.read(length, at: position) { bytes in
                    unsafe proof.update(bytes)
                    unsafe keep(bytes)
                }
                position += UInt64(length)
                guard pace(length) else { return .stopped }
            }
            return digests.equal(try proof.finish(), chunk.proof) ? .intact : .damaged
        } catch {
            if error.code == .damaged || error.code == .readFile { return .damaged }
            throw error
        }
    }

    /// The chunk's place in the file; nil for an index that no chunk of this file has.
    private func range(of index: Int) -> Range<UInt64>? {
        guard let index = UInt64(exactly: index) else { return nil }
        let (start, overflow) = index.multipliedReportingOverflow(by: chunkBytes)
        guard !overflow, start < total else { return nil }
        return start..<(start + min(chunkBytes, total - start))
    }
}
