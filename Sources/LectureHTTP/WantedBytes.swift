package import LectureFormats

/// Which bytes of a file a request is answered with (RFC 9110, sections 13.1.5 and 14.2).
package enum WantedBytes: Hashable, Sendable {
    /// Everything, with 200.
    case whole
    /// These bytes, at least one, with 206.
    case part(Range<Int64>)
    /// None, with 416.
    case unsatisfiable

    /// Reads `Range` and `If-Range`. What is not understood, and several ranges, mean everything, as the RFC permits;
    /// so does a condition that names another version, or no strong tag.
    ///
    /// - Parameters:
    ///   - head: of the request.
    ///   - byteCount: of the file.
    ///   - tag: of the file, a strong one; nil for a file without: then every condition means everything.
    package init(_ head: HTTPRequestHead, byteCount: Int64, tag: EntityTag? = nil) {
        self = .whole
        let values = head.values("range")
        guard values.count == 1, values[0].lowercased().hasPrefix("bytes=") else { return }
        if let condition = head.value("if-range"), tag == nil || EntityTag(condition) != tag { return }
        let ends = values[0].dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        // A number that does not fit is after every end.
        let numbers = ends.map { $0.isEmpty ? nil : Int64($0) ?? .max }
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
