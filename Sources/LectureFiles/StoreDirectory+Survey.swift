import Glibc
package import LectureModel

/// What reading a whole file once shows.
package struct FileSurvey: Hashable, Sendable {
    /// Its length in bytes.
    package let bytes: UInt64
    /// The beginning, as long as was requested; all of a shorter file.
    package let beginning: [UInt8]
    /// Its SHA-256.
    package let sha256: [UInt8]
    /// New proofs of all its chunks, in order.
    package let chunks: [WrittenChunk]
}

/// How a file is surveyed.
package struct SurveyPlan {
    /// The row that the file's chunks will belong to.
    let resource: ResourceID
    /// How many bytes of the beginning are returned.
    let beginning: Int
    /// The grid of a file of a length in bytes.
    let grid: (UInt64) -> ChunkGrid

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - resource: the row that the file's chunks will belong to.
    ///   - beginning: how many bytes of the beginning are returned.
    ///   - grid: the grid of a file of a length in bytes.
    package init(resource: ResourceID, beginning: Int, grid: @escaping (UInt64) -> ChunkGrid) {
        (self.resource, self.beginning, self.grid) = (resource, beginning, grid)
    }
}

extension StoreDirectory {
    /// Reads a whole unsealed file that no row describes, to make rows for it.
    ///
    /// - Parameters:
    ///   - path: the file's final path.
    ///   - plan: what the rows need.
    ///   - pace: receives the length of each read; false ends the survey.
    /// - Returns: what was read; nil when `pace` ended it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when the file
    ///   was cut short meanwhile.
    package func survey(
        path: String, _ plan: SurveyPlan, pace: (Int) -> Bool
    ) throws(LectureError) -> FileSurvey? {
        let file = try openForReading(try MediaPath(path))
        let bytes = try length(of: file, path)
        // What is on the disk counts, not what is in the page cache.
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        let (source, whole, grid) = (ReadableFile(file, path), try digests.sha256(), plan.grid(bytes))
        var (chunks, beginning): ([WrittenChunk], [UInt8]) = ([], [])
        for index in 0..<grid.count(total: bytes) {
            let range = grid.range(of: index, total: bytes)
            let proof = try digests.proof(resource: plan.resource, chunk: index)
            var position = range.lowerBound
            while position < range.upperBound {
                let count = Int(min(UInt64(ReadableFile.bufferBytes), range.upperBound - position))
                try unsafe source.read(count, at: position) { read in
                    unsafe proof.update(read)
                    unsafe whole.update(read)
                    if beginning.count < plan.beginning {
                        unsafe beginning += read.prefix(plan.beginning - beginning.count)
                    }
                }
                position += UInt64(count)
                guard pace(count) else { return nil }
            }
            chunks.append(WrittenChunk(index: index, proof: try proof.finish()))
        }
        return FileSurvey(bytes: bytes, beginning: beginning, sha256: try whole.finish(), chunks: chunks)
    }
}
