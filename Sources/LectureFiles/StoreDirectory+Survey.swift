import Glibc
package import LectureModel

extension StoreDirectory {
    /// Reads a whole unsealed file that no row describes, to make rows for it.
    ///
    /// - Parameters:
    ///   - path: the file's final path.
    ///   - resource: the row that the file's chunks will belong to.
    ///   - length: how many bytes of the beginning are returned.
    ///   - grid: the grid of a file of a length in bytes.
    ///   - pace: receives the length of each read; false ends the survey.
    /// - Returns: what was read; nil when `pace` ended it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when the file
    ///   was cut short meanwhile.
    package func survey(
        path: String, resource: ResourceID, beginning length: Int, grid: (UInt64) -> ChunkGrid, pace: (Int) -> Bool
    ) throws(LectureError) -> FileSurvey? {
        let file = try openForReading(try MediaPath(path))
        let bytes = try self.length(of: file, path)
        let source = ReadableFile(onDisk: file, path, length: bytes)
        let (whole, grid) = (try digests.sha256(), grid(bytes))
        var (chunks, beginning): ([WrittenChunk], [UInt8]) = ([], [])
        for index in 0..<grid.count(total: bytes) {
            let range = grid.range(of: index, total: bytes)
            let proof = try digests.proof(resource: resource, chunk: index)
            var position = range.lowerBound
            while position < range.upperBound {
                let count = Int(min(UInt64(ReadableFile.bufferBytes), range.upperBound - position))
                try unsafe source.read(count, at: position) { read in
                    unsafe proof.update(read)
                    unsafe whole.update(read)
                    if beginning.count < length {
                        unsafe beginning += read.prefix(length - beginning.count)
                    }
                }
                position += UInt64(count)
                guard pace(count) else { return nil }
            }
            chunks.append(WrittenChunk(index: index, proof: try proof.finish()))
        }
        return FileSurvey(
            bytes: bytes, grid: grid, beginning: beginning, sha256: try whole.finish(), chunks: chunks)
    }
}
