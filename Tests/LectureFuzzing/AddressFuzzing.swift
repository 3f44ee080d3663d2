import LectureDownload
import LectureFormats
import LectureModel
import LectureTransport

/// URLs, in every reader of URLs.
extension FuzzTarget {
    static let addresses = [
        FuzzTarget("url", url), FuzzTarget("curl-url", curlURL), FuzzTarget("redirect", redirect),
        FuzzTarget("download-link", downloadLink),
    ]

    @Sendable private static func url(_ input: [UInt8]) throws {
        let url = text(input)
        guard let parts = try? URLParts(url) else {
            try require((try? Origin(url: url)) == nil, "what cannot be split has no origin")
            return
        }
        let query = parts.query.map { "?\($0)" } ?? ""
        let whole = "\(parts.scheme)://\(parts.authority)\(parts.path)\(query)\(parts.fragment.map { "#\($0)" } ?? "")"
        let scheme = FieldText.lowercased(url.prefix { $0 != ":" })
        try require(whole.isSame(as: scheme + text(url.utf8.dropFirst(scheme.utf8.count))), "parts make the whole")
        guard let origin = try? Origin(parts) else { return }
        try require(origin.scheme == "http" || origin.scheme == "https", "an origin is http or https")
        let naive = naivePlace(Array(parts.authority.utf8), https: origin.scheme == "https")
        try require(naive?.port == origin.port, "two readers agree about a port")
        if let host = naive?.host, host.allSatisfy({ $0 < 0x80 }) {
            try require(origin.host.isSame(as: FieldText.lowercased(text(host))), "two readers agree about a host")
        }
        let again = try? Origin(url: origin.text)
        try require(again?.text.isSame(as: origin.text) == true, "an origin reads back: \(origin.text)")
        let identity = try ContentKeys.identity(ofURL: url) { bytes in digest(bytes) }
        try require(identity.key.text.utf8.count <= 57, "a derived key is short")
        try require(identity.key.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a derived key is ASCII")
        let bare = "\(parts.scheme)://\(parts.authority)\(parts.path)\(query)"
        try require(try ContentKeys.identityBytes(ofURL: bare) == ContentKeys.identityBytes(ofURL: url), "no fragment")
    }

    /// Host and port of an authority, byte by byte.
    private static func naivePlace(_ authority: [UInt8], https: Bool) -> (host: [UInt8], port: UInt16)? {
        let standard: UInt16 = https ? 443 : 80
        let start = (authority.lastIndex(of: UInt8(ascii: "@")) ?? -1) + 1
        let place = Array(authority[start...])
        let hostEnd: Int
        if place.first == UInt8(ascii: "[") {
            guard let bracket = place.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            hostEnd = bracket + 1
        } else {
            hostEnd = place.firstIndex(of: UInt8(ascii: ":")) ?? place.count
        }
        let host = place.first == UInt8(ascii: "[") ? Array(place[1..<hostEnd - 1]) : Array(place[..<hostEnd])
        let rest = place[hostEnd...]
        if rest.count <= 1 { return rest.isEmpty || rest.first == UInt8(ascii: ":") ? (host, standard) : nil }
        guard rest.first == UInt8(ascii: ":"), let number = naiveNumber(rest.dropFirst()),
            let port = UInt16(exactly: number), port > 0
        else { return nil }
        return (host, port)
    }

    /// Thirty-two bytes that depend on all others; which ones does not matter here.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<32).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 % 8 * 8)) }
    }

    @Sendable private static func curlURL(_ input: [UInt8]) throws {
        let parts = lines(input, most: 2).map { text($0) }
        guard let url = try? CurlURL.normalise(parts[0]) else { return }
        try require(url.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "a URL has no blanks")
        try require((try? CurlURL.normalise(url)) == url, "normalising twice changes nothing: \(url)")
        if let raw = try? Origin(url: parts[0]), isPlainName(raw.host) {
            let read = try? Origin(url: url)
            try require(read == nil || read == raw, "two readers agree about \(raw), not \(read?.text ?? "")")
        }
        guard parts.count == 2, let target = try? CurlURL.resolve(parts[1], against: url) else { return }
        try require(!target.contains("#"), "a resolved URL has no fragment")
        if let normal = try? CurlURL.normalise(target) {
            try require(normal == target, "a resolved URL is normal: \(target)")
        }
    }

    /// Whether libcurl leaves a host unchanged: ASCII, and not a number, which it would read as an IPv4 address.
    private static func isPlainName(_ host: String) -> Bool {
        let last = host.split(separator: ".").last ?? ""
        return host.utf8.allSatisfy { $0 < 0x80 } && !host.contains(":") && !(last.first?.isNumber ?? true)
    }

    @Sendable private static func redirect(_ input: [UInt8]) throws {
        let hop = Int(input.first ?? 0)
        let url = text(input.dropFirst())
        let start = try Origin(url: "https://media.test/a")
        guard let target = try? RedirectPolicy.follow(url, from: start, hop: hop) else { return }
        try require(hop <= RedirectPolicy.limit, "redirects end")
        try require(target.scheme == "https", "https stays https")
        try require(try !URLParts(url).authority.utf8.contains(UInt8(ascii: "@")), "no user information")
        let fields = [HeaderField(name: "Authorization", value: "x"), HeaderField(name: "Range", value: "bytes=0-")]
        let sent = RedirectPolicy.fields(fields, from: start, to: target)
        let isHome = target.host.isSame(as: "media.test") && target.port == 443
        try require(sent.count == (isHome ? 2 : 1), "a credential stays with its origin")
    }

    @Sendable private static func downloadLink(_ input: [UInt8]) throws {
        guard let link = try? KollusLink(text(input)) else { return }
        func encoded(_ text: String) -> String { text.utf8.map { "%\(Hexadecimal.text([$0]))" }.joined() }
        func query(_ items: [KollusLink.Item]) throws -> String {
            try require(!items.isEmpty, "a link has a URL")
            return try items.map { item in
                _ = try Origin(url: item.url)
                let folder = try item.folder.map { "&folder=\(encoded(try checked($0)))" } ?? ""
                return "url=\(encoded(item.url))" + folder
            }.joined(separator: "&")
        }
        let whole =
            switch link {
            case .download(let items): "kollus://download?\(try query(items))"
            case .downloadAndPlay(let url): "kollus://download_play?\(try query([.init(url: url, folder: nil)]))"
            case .play(let item): "kollus://path?\(try query([item]))"
            case .list(let folder): "kollus://list" + (try folder.map { "?folder=\(encoded(try checked($0)))" } ?? "")
            }
        // Encoded, it may exceed the length limit of URLs.
        if whole.utf8.count <= URLParts.limit {
            try require((try? KollusLink(whole)) == link, "a link reads back")
        }
    }

    private static func checked(_ folder: String) throws -> String {
        try SafeName.check(folder: folder)
        try require(!folder.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }, "..")
        return folder
    }
}
