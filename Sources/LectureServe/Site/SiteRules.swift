import LectureHTTP

/// Which requests may reach a part of the site. A value: it knows no socket, no session and no store.
///
/// A browser sends requests for any page that it shows. Two fields show for which: `Host` has the name under which the
/// page knows this server, and `Origin` or `Sec-Fetch-Site` (Fetch Metadata) whose page it is. A name that was made to
/// lead here (DNS rebinding) is no name of this server; an address in digits is always one, since nothing can be
/// rebound there.
struct SiteRules: Sendable {
    /// The port.
    let port: UInt16
    /// Whether the server speaks TLS.
    var isSecure = false
    /// Its names in the network, in lower case, without ports.
    var names: Set<String> = []
    /// Whether a proxy is in front of the server: then the port in `Host` is the proxy's, and so is the scheme.
    var isBehindProxy = false

    /// Judges the head of a request.
    ///
    /// - Parameter head: the head.
    /// - Throws: ``SiteRefusal`` for a foreign host, and for what a page of another site sends, except for links to a
    ///   page: see ``isFromOtherSite(_:)``.
    func checkHost(_ head: HTTPRequestHead) throws(SiteRefusal) {
        let hosts = head.values("host")
        guard hosts.count == 1, isName(hosts[0]) else { throw .foreignHost }
    }

    /// Whether a page of another site sent a request.
    ///
    /// - Parameter head: its head.
    /// - Returns: true where the fields of a browser show it; false for programs.
    func isFromOtherSite(_ head: HTTPRequestHead) -> Bool {
        let origins = head.values("origin")
        if let origin = origins.first {
            guard origins.count == 1, let host = head.value("host") else { return true }
            let schemes = isBehindProxy ? ["http", "https"] : [isSecure ? "https" : "http"]
            return !schemes.contains { origin.lowercased() == "\($0)://\(host.lowercased())" }
        }
        return !["none", "same-origin"].contains(head.value("sec-fetch-site") ?? "none")
    }

    /// Whether a request is a browser that follows a link: only such ones may come from another site.
    func isNavigation(_ head: HTTPRequestHead) -> Bool {
        head.value("sec-fetch-mode") == "navigate" && head.value("sec-fetch-dest") == "document"
            && head.values("origin").isEmpty
    }

    /// Where a request comes from: behind a proxy what the proxy says, which is the last address of the field.
    ///
    /// - Parameters:
    ///   - head: the head of the request.
    ///   - peer: the other end of the connection.
    /// - Returns: a text for each address.
    func address(of head: HTTPRequestHead, _ peer: HTTPPeer?) -> String {
        let said = head.values("x-forwarded-for").last?.split(separator: ",").last?.filter { $0 != " " }
        if isBehindProxy, let said, !said.isEmpty { return String(said.prefix(64)) }
        return peer.map { "\($0.address)" } ?? ""
    }

    private func isName(_ host: String) -> Bool {
        let host = host.lowercased()
        let name = host.prefix { $0 != ":" }
        let rest = host.dropFirst(name.count)
        let isOwnPort = rest == ":\(port)" || (rest.isEmpty && port == (isSecure ? 443 : 80))
        let isAnyPort = rest.isEmpty || (rest.dropFirst().count < 6 && UInt16(rest.dropFirst()) != nil)
        guard isBehindProxy ? isAnyPort : isOwnPort else { return false }
        return name == "localhost" || names.contains(String(name)) || HTTPPeer.address(String(name)) != nil
    }

    /// The segments of a path.
    ///
    /// - Parameter head: the head of a request.
    /// - Returns: the segments; `/` has an empty one.
    /// - Throws: ``SiteRefusal/path`` for segments that lead elsewhere, or that no path of this site has.
    func path(_ head: HTTPRequestHead) throws(SiteRefusal) -> [String] {
        guard let segments = head.segments, segments.count <= 16 else { throw .path }
        let isPlain = segments.allSatisfy { segment in
            segment != "." && segment != ".." && segment.utf8.count <= 1024
                && segment.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\\" }
        }
        guard isPlain else { throw .path }
        return segments
    }
}
