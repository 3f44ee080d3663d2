/// Knows a page for people by its first bytes, since captive portals give theirs any media type or none.
///
/// No format of sound or film begins with `<`, so nothing that is media can be taken for a page.
package enum PageSniffer {
    /// How many bytes are looked at.
    package static let length = 256

    private static let beginnings = ["<!doctype html", "<html"].map { Array($0.utf8) }

    /// Whether a body begins as HTML does, behind a byte order mark and white space.
    ///
    /// - Parameter bytes: the first bytes of a body.
    /// - Returns: true for a page.
    package static func isPage(_ bytes: [UInt8]) -> Bool {
        var text = bytes.prefix(length)
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        // A capital letter of ASCII differs from the small one in one bit.
        let small = text.prefix(16).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return beginnings.contains { small.starts(with: $0) }
    }
}
