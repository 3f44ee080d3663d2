import LectureFormats
import LectureHTTP

/// Which bytes of an archive a request is answered with (RFC 9110, sections 13.1.5 and 14.2).
enum ArchiveRange: Hashable {
    /// Everything, with 200.
    case whole
    /// These bytes, at least one, with 206.
    case part(Range<Int>)
    /// None, with 416.
    case unsatisfiable

    /// Reads `Range` and `If-Range`. What is not understood, and several ranges, mean everything, as the RFC permits;
    /// so does a condition that names another version, or no strong tag.
    ///
    /// - Parameters:
    ///   - head: of the request.
    ///   - byteCount: of the media, at least 1.
    ///   - tag: of the media, a strong one.
    init(_ head: HTTPRequestHead, byteCount: Int, tag: EntityTag) {
        self = .whole
        let values = head.values("range")
        guard values.count == 1, values[0].lowercased().hasPrefix("bytes=") else { return }
        if let condition = head.value("if-range"), EntityTag(condition) != tag { return }
        let ends = values[0].dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        // A number that does not fit is after every end.
        let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        switch (numbers[0], numbers[1]) {
        case (nil, nil): return
        case (nil, let last?):
            let count = min(last, byteCount)
            self = count > 0 ? .part(byteCount - count..<byteCount) : .unsatisfiable
        case (let first?, let last):
            if let last, last < first { return }
            self = first < byteCount ? .part(first..<min(last ?? .max, byteCount - 1) + 1) : .unsatisfiable
        }
    }
}
