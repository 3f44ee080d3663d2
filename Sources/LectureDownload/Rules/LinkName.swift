package import LectureFormats
import LectureModel

extension ContentKeys {
    /// The media content key that a gateway link names: `/i/KEY` in its path, or the claim `mc[].mckey` of its token in
    /// `?jwt=`, of the last item that is not an intro.
    ///
    /// The token is not verified: the name only finds what is in the store already. A key with an extension
    /// (`KEY-custom`) belongs to another lecture, so a key is taken as a whole.
    ///
    /// - Parameter parts: the parts of the URL.
    /// - Returns: nil for a URL that is not a gateway link, or whose name cannot be read.
    package static func name(inLink parts: URLParts) -> String? {
        let components = parts.path.split(separator: "/", omittingEmptySubsequences: false)
        if components.count >= 3, components[components.count - 2] == "i", let last = components.last, !last.isEmpty {
            return try? PercentCoding.decoded(last)
        }
        guard isGatewayLink(parts), let query = parts.query else { return nil }
        let pairs = query.split(separator: "&")
        guard let token = pairs.first(where: { $0.utf8.starts(with: "jwt=".utf8) })?.dropFirst(4) else { return nil }
        return (try? PercentCoding.decoded(token)).flatMap(name(inToken:))
    }

    /// The key that a token names, unverified.
    private static func name(inToken token: String) -> String? {
        let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.bytes(parts[1]),
            let claims = try? JSONScanner.value(of: payload, limits: ContentDescriptor.limits)
        else { return nil }
        let isIntro: (JSONValue) -> Bool = { $0["intr"]?.bool == true || $0["intr"]?.integer == 1 }
        return claims["mc"]?.elements?.last { $0.members != nil && !isIntro($0) }?["mckey"]?.string
    }
}
