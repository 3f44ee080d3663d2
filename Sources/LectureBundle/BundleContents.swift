package import LectureModel

/// What a bundle must consist of, by its manifest and its catalogue: every file of the archive, its length and its
/// place. Anything else is refused.
package struct BundleContents: Sendable, Hashable {
    /// The lectures in their order; the number of the first one is 1.
    package let lectures: [BundledLecture]
    private let partBytes: UInt64
    /// The index of each lecture's first file in the archive.
    private let starts: [Int]
    /// The files in the order of the archive, without catalogue and manifest.
    private let files: [(name: BundleName, count: UInt64)]

    /// Takes the lines of the catalogue.
    ///
    /// - Parameters:
    ///   - catalogue: its bytes, whose digest was compared.
    ///   - manifest: whose signature was verified.
    ///   - limits: how large a bundle may be.
    /// - Throws: ``LectureError`` with `bundleRefused`.
    package init(
        catalogue: [UInt8], _ manifest: BundleManifest, limits: BundleLimits = BundleLimits()
    ) throws(LectureError) {
        guard catalogue.isEmpty || catalogue.last == 0x0A else { throw .refusedBundle("the catalogue is cut off") }
        var lectures: [BundledLecture] = []
        for line in catalogue.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty, catalogue.isEmpty { break }
            guard lectures.count < manifest.lectureCount else {
                throw .refusedBundle("it has more lectures than signed")
            }
            lectures.append(try BundledLecture(line: Array(line), limits: limits))
        }
        guard lectures.count == manifest.lectureCount else { throw .refusedBundle("it has fewer lectures than signed") }
        guard Set(lectures.map { Array($0.key.text.utf8) }).count == lectures.count else {
            throw .refusedBundle("a lecture is in it twice")
        }
        try self.init(lectures: lectures, partBytes: manifest.partBytes, limits: limits)
    }

    private init(lectures: [BundledLecture], partBytes: UInt64, limits: BundleLimits) throws(LectureError) {
        (self.lectures, self.partBytes) = (lectures, partBytes)
        var (starts, files): ([Int], [(name: BundleName, count: UInt64)]) = ([], [])
        for (number, lecture) in lectures.enumerated() {
            starts.append(files.count)
            for (index, file) in lecture.files.enumerated() {
                let parts = Self.parts(of: file, partBytes)
                guard parts.count <= limits.parts else { throw .refusedBundle("a file has too many parts") }
                for (part, count) in parts.enumerated() {
                    files.append((.part(lecture: number + 1, file: index, part: part), count))
                }
            }
            files.append((.digests(lecture: number + 1), UInt64(lecture.chunkCount * BundleFormat.digestBytes)))
            guard files.count <= limits.entries else { throw .refusedBundle("it has too many files") }
        }
        (self.starts, self.files) = (starts, files)
    }

    /// How a sealed file is divided into files of the archive.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - partBytes: the length of a part in bytes.
    /// - Returns: the lengths of the parts in bytes, at least one.
    package static func parts(of file: BundledFile, _ partBytes: UInt64) -> [UInt64] {
        var (parts, left): ([UInt64], UInt64) = ([], file.sealedCount)
        while left > 0 {
            parts.append(min(left, partBytes))
            left -= min(left, partBytes)
        }
        return parts
    }

    /// The files that the archive must have, in this order, without catalogue and manifest.
    package var expected: [(name: BundleName, count: UInt64)] { files }

    /// Where the digests of a lecture are.
    ///
    /// - Parameter lecture: its index, from 0.
    /// - Returns: the index of the file in the archive.
    package func digestsIndex(lecture: Int) -> Int {
        (lecture + 1 < starts.count ? starts[lecture + 1] : files.count) - 1
    }

    /// Where a chunk is.
    ///
    /// - Parameters:
    ///   - lecture: the index of its lecture, from 0.
    ///   - file: the index of its file, from 0.
    ///   - chunk: its index in the file, from 0.
    /// - Returns: the index of the file in the archive, where the chunk is in it, and which of the lecture's digests is
    ///   its own; nil for a chunk that does not exist.
    package func place(lecture: Int, file: Int, chunk: Int) -> (index: Int, range: Range<UInt64>, digest: Int)? {
        guard lectures.indices.contains(lecture), lectures[lecture].files.indices.contains(file) else { return nil }
        let files = lectures[lecture].files
        guard (0..<files[file].chunkCount).contains(chunk) else { return nil }
        var index = starts[lecture]
        for before in files[..<file] { index += Self.parts(of: before, partBytes).count }
        let start = UInt64(chunk) * BundleFormat.chunkBytes
        let end = min(start + BundleFormat.chunkBytes, files[file].sealedCount)
        let (part, offset) = start.quotientAndRemainder(dividingBy: partBytes)
        let digest = files[..<file].reduce(0) { $0 + $1.chunkCount } + chunk
        return (index + Int(part), offset..<(offset + end - start), digest)
    }

    /// Compares values.
    package static func == (left: Self, right: Self) -> Bool {
        left.lectures == right.lectures && left.partBytes == right.partBytes
    }

    /// Hashes what is compared.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(lectures)
        hasher.combine(partBytes)
    }
}
