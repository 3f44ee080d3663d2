import LectureFormats
package import LectureModel

/// A link that opens an application. Values are percent-encoded, and a `+` is taken literally.
///
/// | link | requests |
/// | --- | --- |
/// | `kollus://download?url=…&folder=…` | downloading: any number of URLs, each followed by its virtual folder |
/// | `kollus://download_play?url=…` | downloading and playing |
/// | `kollus://path?url=…&folder=…` | playing |
/// | `kollus://list?folder=…` | the list; without a folder, all of it |
package enum KollusLink: Hashable, Sendable {
    /// One lecture of a link.
    package struct Item: Hashable, Sendable {
        /// Its URL, decoded.
        package let url: String
        /// The virtual folder that follows the URL, decoded; nil without one.
        package let folder: String?

        /// Makes an item.
        package init(url: String, folder: String?) { (self.url, self.folder) = (url, folder) }
    }

    /// Download these, at least one, in this order.
    case download([Item])
    /// Download this and play it.
    case downloadAndPlay(url: String)
    /// Play this.
    case play(Item)
    /// Show the list.
    case list(folder: String?)

    /// Whether a text is meant as such a link, so that its errors are reported as errors of a link.
    ///
    /// - Parameter text: a source from the command line.
    /// - Returns: true when it begins with `kollus:`.
    package static func isLink(_ text: String) -> Bool {
        FieldText.equal(text.prefix(7), "kollus:")
    }

    /// Reads a link.
    ///
    /// - Parameter text: the link; a `folder` belongs to the `url` before it.
    /// - Throws: `LectureError(.urlInvalid)` for another action, another parameter, a broken percent-encoding, a folder
    ///   without a URL, no URL at all or more than the action takes; `LectureError(.urlScheme)` for a URL of another
    ///   scheme; `LectureError(.nameRefused)` for a folder that could leave its place.
    package init(_ text: String) throws(LectureError) {
        let parts = try URLParts(text)
        guard parts.scheme == "kollus", parts.path.isEmpty || parts.path == "/", parts.fragment == nil else {
            throw LectureError(.urlInvalid, detail: "a link is kollus://download?url=…")
        }
        switch parts.authority {
        case "download": self = .download(try Self.items(parts.query))
        case "download_play":
            let item = try Self.oneItem(parts.query)
            if item.folder != nil { throw LectureError(.urlInvalid, detail: "a parameter other than url") }
            self = .downloadAndPlay(url: item.url)
        case "path": self = .play(try Self.oneItem(parts.query))
        case "list": self = .list(folder: try Self.folder(parts.query))
        default:
            throw LectureError(.urlInvalid, detail: "a link asks to download, download_play, path or list")
        }
    }

    private static func items(_ query: String?) throws(LectureError) -> [Item] {
        var items: [Item] = []
        for (name, value) in try pairs(query) {
            switch name {
            case "url":
                _ = try Origin(url: value)
                items.append(Item(url: value, folder: nil))
            case "folder":
                guard let last = items.last, last.folder == nil else {
                    throw LectureError(.urlInvalid, detail: "a folder that follows no URL")
                }
                try SafeName.check(folder: value)
                items[items.count - 1] = Item(url: last.url, folder: value)
            default: throw LectureError(.urlInvalid, detail: "a parameter other than url and folder")
            }
        }
        guard !items.isEmpty else { throw LectureError(.urlInvalid, detail: "a link without a URL") }
        return items
    }

    private static func oneItem(_ query: String?) throws(LectureError) -> Item {
        let items = try items(query)
        if items.count > 1 { throw LectureError(.urlInvalid, detail: "a link with more than one URL") }
        return items[0]
    }

    private static func folder(_ query: String?) throws(LectureError) -> String? {
        guard query != nil else { return nil }
        let pairs = try pairs(query)
        guard pairs.count == 1, pairs[0].name == "folder" else {
            throw LectureError(.urlInvalid, detail: "a list link has one folder, or nothing")
        }
        try SafeName.check(folder: pairs[0].value)
        return pairs[0].value
    }

    private static func pairs(_ query: String?) throws(LectureError) -> [(name: Substring, value: String)] {
        guard let query else { throw LectureError(.urlInvalid, detail: "a link without a URL") }
        var pairs: [(name: Substring, value: String)] = []
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw LectureError(.urlInvalid, detail: "a parameter without '='")
            }
            let value = try PercentCoding.decoded(pair[pair.utf8.index(after: equals)...])
            pairs.append((pair[..<equals], value))
        }
        return pairs
    }
}
