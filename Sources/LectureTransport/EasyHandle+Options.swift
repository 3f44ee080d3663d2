import CCurl
import LectureFormats
import LectureModel

extension EasyHandle {
    /// Sets every option of an exchange. What is not set here has libcurl's default, which is right for a plain GET or
    /// POST: no redirects followed, no cookies, no `.netrc`, content lengths obeyed, transfer codings undone.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - configuration: how.
    ///   - roots: the trusted roots.
    func prepare(
        _ request: TransferRequest, configuration: TransportConfiguration, roots: RootCertificates.Options
    ) {
        set(CURLOPT_URL, request.url)
        // Signals and threads do not mix; resolver time-outs come from the resolver's own thread.
        set(CURLOPT_NOSIGNAL, 1)
        // A cancelled exchange must not wait for a hanging resolver: all others would wait with it.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // The engine judges redirects.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        // An encoded body is refused by the engine, never decoded silently: its length would not be the object's.
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        let connectTimeout = min(configuration.connectTimeout, request.stallTimeout)
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(max(connectTimeout, .milliseconds(1)), .seconds(86_400)).milliseconds))
        set(CURLOPT_BUFFERSIZE, Self.bufferSize(for: request))
        set(CURLOPT_USERAGENT, configuration.userAgent)
        setHeaders(Self.headerLines(of: request))
        if let body = request.body {
            sendBody(bytes: body.bytes.count)
            if let method = body.method { set(CURLOPT_CUSTOMREQUEST, method) }
        }
        setVersion(of: request)
        setProxy(configuration.proxy, roots: roots)
        setTrust(roots, pins: configuration.pinnedPublicKeys)
        if let certificate = configuration.clientCertificate {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, configuration.clientKey ?? certificate)
        }
        // Only a traced connection shows how TLS ended; see ``Exchange/tlsEndCame()``.
        if Self.usesTLS(request) { set(CURLOPT_VERBOSE, 1) }
    }

    private static func usesTLS(_ request: TransferRequest) -> Bool { request.url.utf8.starts(with: "https:".utf8) }

    /// HTTP/2 for many small files, HTTP/1.1 otherwise. Only TLS shows at once whether a connection can be shared: over
    /// plain HTTP libcurl 7.88 would make all others wait until the first exchange has ended. A stream with a limit of
    /// its own is paused repeatedly, and libcurl 7.88 stores up to 32 MiB for a paused stream of a connection that
    /// others read: such a request uses HTTP/1.1.
    private func setVersion(of request: TransferRequest) {
        if request.allowsHTTP2, request.rateLimit == nil, Self.usesTLS(request) {
            allowSharing()
        } else {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        }
    }

    private func setProxy(_ proxy: String?, roots: RootCertificates.Options) {
        if let proxy { set(CURLOPT_PROXY, proxy) }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // The proxy must not get the object's credentials.
        set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let bundle = roots.bundle { set(CURLOPT_PROXY_CAINFO, bundle) }
        set(CURLOPT_PROXY_CAPATH, roots.directory)
        if let blob = roots.blob { set(CURLOPT_PROXY_CAINFO_BLOB, copying: blob) }
    }

    private func setTrust(_ roots: RootCertificates.Options, pins: [String]) {
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let bundle = roots.bundle { set(CURLOPT_CAINFO, bundle) }
        set(CURLOPT_CAPATH, roots.directory)
        if let blob = roots.blob { set(CURLOPT_CAINFO_BLOB, copying: blob) }
        if !pins.isEmpty { set(CURLOPT_PINNEDPUBLICKEY, pins.joined(separator: ";")) }
    }

    /// The lines beside those libcurl generates. Values from the request's own members override a field of that name.
    static func headerLines(of request: TransferRequest) -> [String] {
        var own = [HeaderField(name: "Accept-Encoding", value: "identity")]
        if let range = request.range {
            own.append(HeaderField(name: "Range", value: range.headerValue))
            if let ifRange = request.ifRange { own.append(HeaderField(name: "If-Range", value: ifRange)) }
        }
        var reserved = ["Accept-Encoding", "Range", "If-Range"]
        if let body = request.body {
            own.append(HeaderField(name: "Content-Type", value: body.mediaType))
            reserved += ["Content-Type", "Content-Length", "Transfer-Encoding", "Expect"]
        }
        let others = request.headers.elements.filter { field in
            !reserved.contains { FieldText.equal($0, field.name) }
        }
        // A field without a value is removed: the body is sent without waiting for "100 Continue".
        return (others + own).map(\.line) + (request.body == nil ? [] : ["Expect:"])
    }

    /// The size of libcurl's read buffer, bytes: 256 KiB costs half the CPU of 16 KiB on a large body, and is wasted on
    /// a hundred small ones. Under a limit of its own a read is at most a sixty-fourth of a second's bytes, so that
    /// reads do not come in bursts with long gaps between them.
    static func bufferSize(for request: TransferRequest) -> Int {
        var size = 65_536
        if !request.allowsHTTP2 {
            switch request.range {
            case .none, .from: size = 262_144
            case .closed(let range): if range.count >= 1_048_576 { size = 262_144 }
            }
        }
        guard let rate = request.rateLimit else { return size }
        return min(size, max(2048, rate / 64))
    }
}
