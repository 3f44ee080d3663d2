/// Recognises URLs that are in the normal form of ``CurlURL/normalise(_:)`` already, without libcurl: a run in which
/// everything is complete need not load it, and a long list need not be parsed twice.
///
/// It says yes only to what cannot be read in two ways. Everything else is libcurl's to decide:
///
/// ```
/// http[s]://  host  [:port]  /path  [?query]
///             │      │        │      └ not empty
///             │      │        └ unreserved, sub-delims, ':' and '@' (RFC 3986 section 3.3); no dot segments, no '%'
///             │      └ 1 to 65535, no leading zero, not the scheme's own
///             └ labels of a-z, 0-9 and '-', the last one beginning with a letter; or a dotted IPv4 address
/// ```
enum NormalURL {
    /// Whether a text is a URL in its normal form.
    ///
    /// - Parameter text: any text.
    /// - Returns: false where only libcurl decides.
    static func isNormal(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= CurlURL.maximumBytes else { return false }
        let isSecure = bytes.starts(with: "https://".utf8)
        guard isSecure || bytes.starts(with: "http://".utf8) else { return false }
        let rest = bytes.dropFirst(isSecure ? 8 : 7)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return false }
        var host = rest[..<slash]
        if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
            let port = host[host.index(after: colon)...]
            guard isPort(port, otherThan: isSecure ? 443 : 80) else { return false }
            host = host[..<colon]
        }
        guard isHost(host) else { return false }
        let place = rest[slash...]
        guard let mark = place.firstIndex(of: UInt8(ascii: "?")) else { return isPath(place) }
        let query = place[place.index(after: mark)...]
        return !query.isEmpty && isPath(place[..<mark])
            && query.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
    }

    private static func isPort(_ digits: Substring.UTF8View, otherThan standard: Int) -> Bool {
        guard let port = number(digits, upTo: 65_535) else { return false }
        return port > 0 && port != standard
    }

    /// A decimal number without leading zeros.
    private static func number(_ digits: Substring.UTF8View, upTo limit: Int) -> Int? {
        guard (1...5).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }

    /// A name, or an IPv4 address. A name whose last label begins with a digit may be a number to some (`1.0x7f`).
    private static func isHost(_ host: Substring.UTF8View) -> Bool {
        guard host.count <= 253 else { return false }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count == 4, labels.allSatisfy({ number($0, upTo: 255) != nil }) { return true }
        guard labels.allSatisfy({ isLabel($0) }), let first = labels.last?.first else { return false }
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
    }

    /// Letters and digits, and single hyphens between them: two may be the mark of a name in another script (`xn--`).
    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        guard (1...63).contains(label.count) else { return false }
        var wasHyphen = true
        for byte in label {
            let isHyphen = byte == UInt8(ascii: "-")
            guard isHyphen ? !wasHyphen : isLetterOrDigit(byte, upperCase: false) else { return false }
            wasHyphen = isHyphen
        }
        return !wasHyphen
    }

    /// A path without dot segments; it begins with a slash.
    private static func isPath(_ path: Substring.UTF8View) -> Bool {
        var dots = 0
        var others = 0
        for byte in path {
            if byte == UInt8(ascii: "/") {
                if others == 0, (1...2).contains(dots) { return false }
                (dots, others) = (0, 0)
            } else if byte == UInt8(ascii: ".") {
                dots += 1
            } else if isPlain(byte) {
                others += 1
            } else {
                return false
            }
        }
        return others > 0 || !(1...2).contains(dots)
    }

    /// A character of a path segment that stands for itself.
    private static func isPlain(_ byte: UInt8) -> Bool {
        if isLetterOrDigit(byte, upperCase: true) { return true }
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"):
            return true
        default: return false
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8, upperCase: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): upperCase
        default: false
        }
    }
}
