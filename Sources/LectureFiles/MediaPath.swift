package import LectureModel

/// A checked path of a file of the store: `media/<bucket>/<name>`, relative to the store.
///
/// Paths come from the store's own rows; this is the second line of defence, so that a damaged or hostile row cannot
/// name a file outside. Together with `openat` and `O_NOFOLLOW` no component can lead elsewhere.
package struct MediaPath: Hashable, Sendable {
    /// The suffix of a part file's name.
    static let partSuffix = ".part"
    /// The suffix of a file that is about to replace a part file.
    static let replacementSuffix = ".new"
    /// The directory of the store that holds the media.
    static let mediaDirectory = "media"

    /// The directory below `media`.
    let bucket: String
    /// The final name.
    package let name: String
    /// Whether the text named the part file. ``name`` has no suffix even then.
    package let isPart: Bool

    /// The part file's name.
    var partName: String { name + Self.partSuffix }

    /// The name of the file that is about to replace the part file.
    var replacementName: String { name + Self.replacementSuffix }

    /// The path of the final file, for messages.
    package var text: String { "\(Self.mediaDirectory)/\(bucket)/\(name)" }

    /// Checks a path.
    ///
    /// - Parameter text: `media/<bucket>/<name>`, with or without `.part`.
    /// - Throws: ``LectureError`` with ``LectureError/Code/nameRefused``.
    package init(_ text: String) throws(LectureError) {
        // By bytes: a slash followed by a combining mark is one character, not a separator, to `String`.
        let components = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard components.count == 3, components[0] == Self.mediaDirectory,
            components.dropFirst().allSatisfy(Self.isUsable)
        else { throw Self.refusal(text) }
        bucket = components[1]
        let last = components[2].utf8
        isPart = Self.ends(components[2], with: Self.partSuffix)
        name = isPart ? String(Substring(last.dropLast(Self.partSuffix.utf8.count))) : components[2]
        // A final name with the suffix of a part file would be another file's part file.
        guard Self.isUsable(name), !Self.ends(name, with: Self.partSuffix),
            !Self.ends(name, with: Self.replacementSuffix)
        else { throw Self.refusal(text) }
    }

    private static func ends(_ name: String, with suffix: String) -> Bool {
        name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// A component that names something in its directory; 250 bytes leave space for the suffix below `NAME_MAX`.
    private static func isUsable(_ component: String) -> Bool {
        let isPlain = component.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isPlain && !component.isEmpty && component != "." && component != ".." && component.utf8.count <= 250
    }

    /// The name under which a file is listed: the file about to replace a part file belongs to that one, and is deleted
    /// with it.
    ///
    /// - Parameter name: of a file in a bucket.
    /// - Returns: the name, or the part file's.
    static func listed(_ name: String) -> String {
        guard ends(name, with: replacementSuffix) else { return name }
        return String(Substring(name.utf8.dropLast(replacementSuffix.utf8.count))) + partSuffix
    }

    private static func refusal(_ text: String) -> LectureError {
        // Only the start: the text may be anything, and very long.
        LectureError(.nameRefused, detail: String(text.prefix(80)), cause: "expected media/BUCKET/NAME")
    }
}
