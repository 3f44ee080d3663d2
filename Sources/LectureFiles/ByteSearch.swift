import Glibc
package import LectureModel

/// Searches for texts in the raw bytes of a file of any kind.
package enum ByteSearch {
    private static let pieceBytes = 1 << 20

    /// How often any of the texts occurs in a file.
    ///
    /// - Parameters:
    ///   - texts: each of at least one byte; empty ones are skipped.
    ///   - path: the file.
    /// - Returns: the number of places; nil when there is no such file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package static func count(of texts: [[UInt8]], in path: String) throws(LectureError) -> Int? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0 {
            if errno == ENOENT { return nil }
            throw FileIntent.read.error(SystemError(number: errno), path)
        }
        let file = Descriptor(takingOwnership: number)
        let texts = texts.filter { !$0.isEmpty }
        let longest = texts.map(\.count).max() ?? 0
        var buffer = [UInt8](repeating: 0, count: pieceBytes + longest)
        // The end of the last piece is put before the next one, so that no text is cut in two.
        var (kept, offset, found) = (0, UInt64(0), 0)
        while true {
            let got: Int
            do throws(SystemError) {
                got = try read(file, into: &buffer, behind: kept, at: offset)
            } catch {
                throw FileIntent.read.error(error, path)
            }
            if got == 0 { return found }
            let end = kept + got
            for text in texts { found += places(of: text, in: buffer[..<end], endingBehind: kept) }
            offset += UInt64(got)
            let rest = min(end, max(0, longest - 1))
            buffer.replaceSubrange(..<rest, with: Array(buffer[end - rest..<end]))
            kept = rest
        }
    }

    /// How often any of the texts occurs in some bytes.
    ///
    /// - Parameters:
    ///   - texts: empty ones are skipped.
    ///   - bytes: where to search.
    /// - Returns: the number of places.
    package static func count(of texts: [[UInt8]], in bytes: [UInt8]) -> Int {
        texts.reduce(0) { $0 + ($1.isEmpty ? 0 : places(of: $1, in: bytes[...], endingBehind: 0)) }
    }

    private static func read(
        _ file: Descriptor, into buffer: inout [UInt8], behind kept: Int, at offset: UInt64
    ) throws(SystemError) -> Int {
        var failure: SystemError?
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            do throws(SystemError) {
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[kept..<kept + pieceBytes])
                return try unsafe file.read(target, at: offset)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Only places that end after `kept` are new.
    private static func places(of text: [UInt8], in bytes: ArraySlice<UInt8>, endingBehind kept: Int) -> Int {
        unsafe bytes.withUnsafeBytes { haystack in
            guard haystack.count >= text.count, let base = haystack.baseAddress else { return 0 }
            var (found, index) = (0, 0)
            let last = haystack.count - text.count
            while index <= last {
                guard let next = unsafe memchr(base + index, Int32(text[0]), last - index + 1) else { break }
                index = unsafe base.distance(to: UnsafeRawPointer(next))
                if index + text.count > kept, unsafe memcmp(base + index, text, text.count) == 0 { found += 1 }
                index += 1
            }
            return found
        }
    }
}
