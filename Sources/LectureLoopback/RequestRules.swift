import LectureHTTP

/// Which requests are answered. A value: it knows no socket and no play.
struct RequestRules: Sendable {
    let port: UInt16
    /// Origins whose pages may read, as `https://lms.example`.
    var origins: Set<String> = []

    /// What a request asks for.
    struct Wanted: Hashable {
        /// The text that names a play.
        let token: String
        /// The playlist or file of an adaptive lecture; nil for the media.
        let name: String?
        let isHead: Bool
        /// The permitted origin whose page asks; nil for a program, and for this server's own pages.
        let origin: String?
    }

    /// Judges everything but the play and the range.
    ///
    /// - Parameter request: its head.
    /// - Returns: what it asks for, or why it is refused.
    func judge(_ request: HTTPRequestHead) -> Result<Wanted, Refused> {
        let hosts = request.values("host").map { $0.lowercased() }
        guard hosts.count == 1, names.contains(hosts[0]) else { return .failure(Refused(.foreignHost)) }
        let origin: String?
        switch self.origin(of: request) {
        case .success(let permitted): origin = permitted
        case .failure(let refused): return .failure(refused)
        }
        guard ["GET", "HEAD"].contains(request.method) else { return .failure(Refused(.method)) }
        let hasBody =
            request.value("transfer-encoding") != nil
            || !(request.value("content-length").map { Int($0) == 0 } ?? true)
        guard !hasBody else { return .failure(Refused(.body)) }
        let path = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(path.count), path[0].isEmpty, path.dropFirst().allSatisfy({ !$0.isEmpty }) else {
            return .failure(Refused(.unknownPlay))
        }
        let name = path.count == 3 ? String(path[2]) : nil
        return .success(
            Wanted(token: String(path[1]), name: name, isHead: request.method == "HEAD", origin: origin))
    }

    /// The names of this server in `Host`.
    private var names: Set<String> {
        let names = ["127.0.0.1", "localhost"]
        return Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
    }

    /// A browser names the origin of a page, or at least whether it is another site's: `Sec-Fetch-Site`.
    private func origin(of request: HTTPRequestHead) -> Result<String?, Refused> {
        let named = request.values("origin")
        guard let origin = named.first else {
            let site = request.value("sec-fetch-site") ?? "none"
            return ["none", "same-origin"].contains(site) ? .success(nil) : .failure(Refused(.foreignOrigin))
        }
        guard named.count == 1 else { return .failure(Refused(.foreignOrigin)) }
        if names.contains(where: { "http://\($0)" == origin }) { return .success(nil) }
        return origins.contains(origin) ? .success(origin) : .failure(Refused(.foreignOrigin))
    }

    /// A refusal as an error.
    struct Refused: Error, Hashable {
        let refusal: LoopbackRefusal

        init(_ refusal: LoopbackRefusal) { self.refusal = refusal }
    }
}
