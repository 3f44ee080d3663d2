extension HostileCase {
    static let http2Settings: [HostileCase] = [
        settings("one-stream", "One stream at a time is allowed.", [(3, 1)], .rightBytes),
        settings(
            "small-settings", "No header table, one stream, small lists of fields (RFC 9113 section 6.5.2).",
            [(1, 0), (2, 0), (3, 1), (5, 16_384), (6, 4096)], .rightBytes),
        settings(
            "unknown-settings", "There are unknown settings.", [(3, 100), (99, 7), (0xFFFF, 1)], .rightBytes),
        settings("bad-push-setting", "ENABLE_PUSH is 2; HTTP/1.1 is served.", [(2, 2)], .rightOrRefusal),
        settings(
            "bad-window-setting", "INITIAL_WINDOW_SIZE is 2³¹; HTTP/1.1 is served.", [(4, 1 << 31)], .rightOrRefusal),
        settings("bad-frame-setting", "MAX_FRAME_SIZE is 1; HTTP/1.1 is served.", [(5, 1)], .rightOrRefusal),
        http2(
            "no-stream-at-first", "No stream is allowed for half a second.", .rightBytes,
            HTTP2Manner {
                $0.settings = [(3, 0)]
                $0.opening = { link in
                    _ = link.wire.waitForInput(500)
                    link.send(HTTP2Frame(.settings, on: 0, [0, 3, 0, 0, 0, 100]))
                    return true
                }
            }),
        settings("no-stream-ever", "No stream is ever allowed; HTTP/1.1 is served.", [(3, 0)], .rightOrRefusal),
        http2(
            "deaf-once", "The first connection hears no WINDOW_UPDATE, and stops when the first window is used up.",
            .rightBytes, HTTP2Manner { $0.deafConnections = 1 }),
        http2(
            "deaf", "No connection hears WINDOW_UPDATE; HTTP/1.1 is served.", .rightOrRefusal,
            HTTP2Manner { $0.deafConnections = .max }),
        http2(
            "beyond-window", "DATA comes however small the client's window is.", .rightOrRefusal,
            HTTP2Manner { $0.ignoresWindows = true }),
    ]

    private static func settings(
        _ name: String, _ summary: String, _ settings: [(identifier: UInt16, value: UInt32)], _ due: Due
    ) -> HostileCase {
        http2(name, summary, due, HTTP2Manner { $0.settings = settings })
    }

    /// Frames that RFC 9113 forbids, once: the connection must be abandoned, and received data kept.
    static let http2Frames: [HostileCase] = [
        frame("data-on-stream-0", "DATA comes on stream 0 (RFC 9113 section 6.1)") {
            $0.link.send(HTTP2Frame(.data, on: 0, [1, 2, 3]))
        },
        frame("data-on-idle-stream", "DATA comes on a stream that was never opened") {
            $0.link.send(HTTP2Frame(.data, on: $0.id + 100, [1, 2, 3]))
        },
        frame("headers-on-even-stream", "HEADERS come on a stream of the server's") {
            $0.link.send(HTTP2Frame(.headers, on: 2, flags: 4, HPACK.block([(":status", "200")])))
        },
        frame("frame-too-large", "DATA of 20,000 bytes comes, and 16,384 are allowed") {
            $0.send(.data, [UInt8](repeating: 9, count: 20_000))
        },
        frame("frame-of-16-mb", "the head of a frame of 16 MB comes") {
            $0.link.send([255, 255, 255, 0, 0, 0, 0, 0, 1])
        },
        frame("padding-too-long", "padding is longer than its frame") { $0.send(.data, flags: 8, [200, 1, 2]) },
        frame("short-window-update", "WINDOW_UPDATE has three bytes") { $0.send(.window, [0, 0, 1]) },
        frame("zero-window-update", "WINDOW_UPDATE adds 0 to the connection") {
            $0.link.send(HTTP2Frame(.window, on: 0, [0, 0, 0, 0]))
        },
        frame("window-overflow", "WINDOW_UPDATE makes the window larger than 2³¹ − 1") { stream in
            for _ in 0..<2 { stream.link.send(HTTP2Frame(.window, on: 0, [127, 255, 255, 255])) }
        },
        frame("settings-on-stream", "SETTINGS come on a stream") { $0.send(.settings, []) },
        frame("settings-of-5-bytes", "SETTINGS have five bytes") {
            $0.link.send(HTTP2Frame(.settings, on: 0, [0, 3, 0, 0, 0]))
        },
        frame("ping-of-7-bytes", "PING has seven bytes") {
            $0.link.send(HTTP2Frame(.ping, on: 0, [1, 2, 3, 4, 5, 6, 7]))
        },
        frame("push-promise", "PUSH_PROMISE comes, which the client has forbidden") {
            $0.send(
                .promise, flags: 4,
                [0, 0, 0, 2]
                    + HPACK.block([(":method", "GET"), (":path", "/other"), (":scheme", "https"), (":authority", "a")]))
        },
        frame("interrupted-fields", "DATA comes between HEADERS and CONTINUATION") {
            $0.send(.headers, flags: 0, HPACK.block([("x-trailer", "1")]))
            $0.send(.data, [1, 2, 3])
        },
        frame("lonely-continuation", "CONTINUATION comes without HEADERS") { $0.send(.continuation, flags: 4, [0x88]) },
        frame("compression-error", "a trailer refers to a field that was never sent (RFC 7541 section 2.3.3)") {
            $0.send(.headers, flags: 5, [0xFF, 0xFF, 0xFF, 0x07])
        },
        frame("http1-within", "an answer of HTTP/1.1 comes in clear letters") {
            $0.link.send(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8))
        },
        http2("half-a-frame-once", "FIN comes within a frame after 2 MB of the first body.", .rightBytes, once: true) {
            stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            let frame = HTTP2Frame(.data, on: stream.id, Array(answer.body.piece(2_000_000..<2_010_000)))
            stream.link.send(Array(frame.bytes.prefix(4000)))
            stream.link.endSending(inGoodOrder: false)
        }.promising(.resumed()),
        http2("data-behind-the-end", "DATA comes behind the end of each body.", .rightOrRefusal) { visit in
            .answer(visit.honest().with { if visit.asked.version == "HTTP/2" { $0.surplus = [1, 2, 3, 4] } })
        },
    ]

    private static func frame(
        _ name: String, _ summary: String, _ wrong: @escaping @Sendable (HTTP2Stream) -> Void
    ) -> HostileCase {
        http2(name, "After 2 MB of the first body, \(summary).", .rightBytes, once: true) { stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            wrong(stream)
            stream.send(answer, 2_000_000..<Int.max, ends: true)
        }.promising(.resumed())
    }

    /// Malformed answers (RFC 9113 section 8.2); over HTTP/1.1 the server is honest.
    static let http2Fields: [HostileCase] = [
        fields("uppercase-names", "The names of fields have capitals") { fields in
            fields.map { $0.name.hasPrefix(":") ? $0 : ($0.name.uppercased(), $0.value) }
        },
        fields("no-status", "There is no :status") { Array($0.dropFirst()) },
        fields("two-statuses", "There are two :status") { [(":status", "206")] + $0 },
        fields("strange-status", "The :status is 2x0") { [(":status", "2x0")] + $0.dropFirst() },
        fields("giant-status", "The :status is 65736, which is 200 in sixteen bits") {
            [(":status", "65736")] + $0.dropFirst()
        },
        fields("late-pseudo-field", "The :status stands behind the fields") { Array($0.dropFirst()) + $0.prefix(1) },
        fields("unknown-pseudo-field", "There is a pseudo-field :verdict") {
            $0.prefix(1) + [(":verdict", "good")] + $0.dropFirst()
        },
        fields("connection-fields", "There are Connection and Transfer-Encoding") {
            $0 + [("connection", "keep-alive"), ("transfer-encoding", "chunked")]
        },
        fields("line-ends-within", "A value has a line end and another field within (RFC 9113 section 8.2.1)") {
            $0 + [("x-note", "one\r\ncontent-length: 5")]
        },
        fields("zero-byte-within", "A value has a zero byte within") { $0 + [("x-note", "one\0two")] },
        fields("empty-name", "A field has no name") { $0 + [("", "nothing")] },
        fields("interim-101", "101 comes, which HTTP/2 has not (RFC 9113 section 8.6)") { _ in [(":status", "101")] },
        fields("large-field", "A field has 200,000 bytes") {
            $0 + [("x-large", String(repeating: "a", count: 200_000))]
        },
        fields("many-fields", "There are twenty thousand fields") { fields in
            fields + (0..<20_000).map { ("x-\($0)", "1") }
        },
        http2("hpack-bomb", "Sixty kilobytes of fields unpack to 240 MB (CVE-2016-6581).", .rightOrRefusal, once: false)
        {
            stream, answer in
            let bomb = HPACK.indexed("x-bomb", String(repeating: "b", count: 3900))
            let block = HPACK.block(stream.fields(of: answer)) + bomb + [UInt8](repeating: 0xBE, count: 60_000)
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: block.count, by: 16_384) {
                let end = min(start + 16_384, block.count)
                bytes +=
                    HTTP2Frame(
                        start == 0 ? .headers : .continuation, on: stream.id, flags: end == block.count ? 4 : 0,
                        Array(block[start..<end])
                    ).bytes
            }
            stream.link.send(bytes)
            stream.send(answer, 0..<answer.body.count, ends: true)
        },
    ]

    private static func fields(
        _ name: String, _ summary: String,
        _ change: @escaping @Sendable ([(name: String, value: String)]) -> [(name: String, value: String)]
    ) -> HostileCase {
        http2(name, "\(summary); HTTP/1.1 is served.", .rightOrRefusal, once: false) { stream, answer in
            stream.headers(change(stream.fields(of: answer)))
            stream.send(answer, 0..<answer.body.count, ends: true)
        }
    }

    /// Floods. A client may stop or tolerate them, and must not hang, crash or grow.
    static let http2Floods: [HostileCase] = [
        flood(
            "ping-flood", "Five thousand PING (CVE-2019-9512) come before each answer",
            HTTP2Frame(.ping, on: 0, [1, 2, 3, 4, 5, 6, 7, 8])),
        flood(
            "settings-flood", "Five thousand SETTINGS (CVE-2019-9515) come before each answer",
            HTTP2Frame(.settings, on: 0)),
        flood(
            "priority-flood", "Five thousand PRIORITY come before each answer",
            HTTP2Frame(.priority, on: 1, [0, 0, 0, 0, 1])),
        flood(
            "unknown-flood", "Five thousand frames of an unknown type come before each answer",
            HTTP2Frame(type: 77, on: 0, [1])),
        flood(
            "window-flood", "Five thousand WINDOW_UPDATE come before each answer",
            HTTP2Frame(.window, on: 0, [0, 0, 0, 1])),
        http2(
            "interim-flood", "Five thousand answers 103 come before each answer; HTTP/1.1 is served.", .rightOrRefusal,
            once: false
        ) {
            for _ in 0..<5000 { $0.headers([(":status", "103"), ("link", "</a>")]) }
            $0.give($1)
        },
        http2(
            "continuation-flood", "Five thousand CONTINUATION (CVE-2024-28182) come before each answer.",
            .rightOrRefusal, once: false
        ) {
            stream, answer in
            var bytes = HTTP2Frame(.headers, on: stream.id, HPACK.block(stream.fields(of: answer))).bytes
            for index in 1...5000 {
                let field = HPACK.block([("x-\(index)", "1")])
                bytes += HTTP2Frame(.continuation, on: stream.id, flags: index == 5000 ? 4 : 0, field).bytes
            }
            stream.link.send(bytes)
            stream.send(answer, 0..<answer.body.count, ends: true)
        },
        http2(
            "empty-data", "Twenty thousand empty DATA (CVE-2019-9518) stand in each body.", .rightOrRefusal, once: false
        ) {
            stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            let many = Array(repeating: HTTP2Frame(.data, on: stream.id).bytes, count: 100).joined()
            for _ in 0..<200 where !stream.link.send(Array(many)) { return }
            stream.send(answer, 2_000_000..<Int.max, ends: true)
        },
        http2(
            "empty-data-once",
            "Empty DATA and nothing else come after 2 MB of the first body, until the client leaves.",
            .rightBytes, once: true
        ) { stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            while stream.pause(5), stream.link.send(HTTP2Frame(.data, on: stream.id)) {}
        }.promising(.resumed()),
        http2(
            "pings-once", "PING and nothing else come after 2 MB of the first body, until the client leaves.",
            .rightBytes, once: true
        ) { stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            let ping = HTTP2Frame(.ping, on: 0, [8, 7, 6, 5, 4, 3, 2, 1])
            while stream.pause(5), stream.link.send(ping) {}
        }.promising(.resumed()),
    ]

    private static func flood(_ name: String, _ summary: String, _ frame: HTTP2Frame) -> HostileCase {
        http2(name, "\(summary); HTTP/1.1 is served.", .rightOrRefusal, once: false) { stream, answer in
            let many = Array(Array(repeating: frame.bytes, count: 100).joined())
            for _ in 0..<50 where !stream.link.send(many) { return }
            stream.give(answer)
        }
    }
}
