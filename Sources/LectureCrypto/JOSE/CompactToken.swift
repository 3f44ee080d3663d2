import Glibc
import LectureFormats
import LectureModel

/// A compact token in its parts (RFC 7515 section 7.1, RFC 7516 section 7.1); nothing in it is trusted yet.
struct CompactToken {
    /// How long a token may be, in bytes.
    static let limit = 1 << 20

    /// Reasons that the token cannot be read.
    struct Unreadable: Error {
        let reasons: [TokenRefusal]
    }

    /// The header as JSON, an object.
    let header: JSONValue
    /// The parts decoded, the header first.
    let parts: [[UInt8]]
    /// The header as it is in the token.
    let headerText: ArraySlice<UInt8>
    /// The token up to its last part, without the dot before that: what is signed.
    let signedText: ArraySlice<UInt8>

    /// Splits a token into its parts.
    ///
    /// - Parameters:
    ///   - bytes: the whole token, nothing before and nothing after it.
    ///   - names: the names of the parts, in order; the first is the header.
    /// - Throws: ``Unreadable`` with every reason.
    init(_ bytes: [UInt8], names: [String]) throws(Unreadable) {
        if bytes.count > Self.limit { throw Unreadable(reasons: [.tooLong]) }
        // One part too many is enough to detect: a megabyte of dots must not make a megabyte of arrays.
        let dots = Self.dots(in: bytes, upTo: names.count)
        guard dots.count == names.count - 1 else { throw Unreadable(reasons: [.parts]) }
        var reasons: [TokenRefusal] = []
        var parts: [[UInt8]] = []
        parts.reserveCapacity(names.count)
        for (index, name) in names.enumerated() {
            let start = index == 0 ? 0 : dots[index - 1] + 1
            let part = Base64URL.bytes(bytes[start..<(index < dots.count ? dots[index] : bytes.count)])
            if part == nil { reasons.append(.encoding(part: name)) }
            parts.append(part ?? [])
        }
        self.parts = parts
        header = Self.header(parts.first ?? [], &reasons)
        if !reasons.isEmpty { throw Unreadable(reasons: reasons) }
        headerText = bytes[..<(dots.first ?? bytes.count)]
        signedText = bytes[..<(dots.last ?? bytes.count)]
    }

    /// Where the first dots are.
    private static func dots(in bytes: [UInt8], upTo most: Int) -> [Int] {
        var dots: [Int] = []
        dots.reserveCapacity(most)
        unsafe bytes.withUnsafeBytes { buffer in
            var start = 0
            while dots.count < most, start < buffer.count, let base = buffer.baseAddress {
                guard let dot = unsafe memchr(base + start, 0x2E, buffer.count - start) else { return }
                let place = unsafe UnsafeRawPointer(dot) - base
                dots.append(place)
                start = place + 1
            }
        }
        return dots
    }

    private static func header(_ bytes: [UInt8], _ reasons: inout [TokenRefusal]) -> JSONValue {
        // The failed encoding was reported already.
        if bytes.isEmpty, reasons.contains(.encoding(part: "header")) { return .null }
        do throws(LectureError) {
            let value = try JSONScanner.value(of: bytes)
            if value.members == nil { reasons.append(.headerNotObject) }
            return value
        } catch {
            reasons.append(.headerSyntax(error.detail))
            return .null
        }
    }

    /// A member that must be a string if present.
    func text(_ name: String, _ reasons: inout [TokenRefusal]) -> String? {
        guard let member = header[name] else { return nil }
        if member.string == nil { reasons.append(.headerMember(name)) }
        return member.string
    }

    private static let refusedMembers: [(String, TokenRefusal)] = [
        ("zip", .compressed), ("jku", .keyURL), ("x5u", .certificateURL), ("jwk", .embeddedKey),
        ("b64", .unencodedPayload),
    ]

    /// Members that no header may contain, whatever the key: each with its own reason.
    func forbidden(_ reasons: inout [TokenRefusal]) {
        for (name, refusal) in Self.refusedMembers where header[name] != nil { reasons.append(refusal) }
        if let list = header["crit"] { reasons.append(contentsOf: critical(list)) }
        if let type = text("cty", &reasons), Self.mediaType(type) == "jwt" { reasons.append(.nested) }
    }

    /// No extension is understood, so a well-formed list is refused as well.
    private func critical(_ list: JSONValue) -> [TokenRefusal] {
        guard let elements = list.elements, !elements.isEmpty else { return [.criticalMalformed] }
        let names = elements.compactMap(\.string)
        guard names.count == elements.count, Set(names).count == names.count,
            names.allSatisfy({ header[$0] != nil })
        else { return [.criticalMalformed, .criticalUnknown] }
        return [.criticalUnknown]
    }

    /// A media type as `typ` and `cty` write it (RFC 7515 section 4.1.9): case does not matter, and `application/` may
    /// be left out.
    static func mediaType(_ text: String) -> String {
        let lower = text.lowercased()
        let prefix = "application/"
        return lower.hasPrefix(prefix) && !lower.dropFirst(prefix.count).contains("/")
            ? String(lower.dropFirst(prefix.count)) : lower
    }
}
