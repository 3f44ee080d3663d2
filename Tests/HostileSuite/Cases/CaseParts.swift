extension Visit {
    /// The first body is cut after 2 MB.
    ///
    /// - Returns: the honest response with its cut; `nil` from the second request on.
    func cutOnce() -> Reply? {
        isFirst("body") ? .answer(honest().with { $0.ending = .cut(after: 2_000_000) }) : nil
    }
}

extension Answer {
    /// The bytes of a head that need not be well formed, and a body behind it.
    ///
    /// - Parameters:
    ///   - lines: with the status line; their ends are added.
    ///   - body: its bytes.
    ///   - end: of each line.
    /// - Returns: everything in one.
    static func raw(_ lines: [String], _ body: ArraySlice<UInt8> = [], lineEnd end: String = "\r\n") -> [UInt8] {
        Array((lines.joined(separator: end) + end + end).utf8) + body
    }

    /// The page of a captive portal or of an error.
    static let page = """
        <!DOCTYPE html>
        <html><head><title>Welcome to Station Wi-Fi</title></head>
        <body><h1>Sign in</h1><form action="/login"><input name="room"></form></body></html>
        """
}

extension Promise {
    /// A program stops early instead of waiting for an unreasonable time.
    ///
    /// - Parameter limit: seconds.
    /// - Returns: the promise.
    static func ends(withinSeconds limit: Int) -> Promise {
        Promise("ends within \(limit) s") { evidence in
            evidence.milliseconds <= limit * 1000
                ? nil : "it took \(evidence.milliseconds) ms; at most \(limit) s are due"
        }
    }

    /// Little more is sent than the lecture has bytes.
    ///
    /// - Parameter limit: bytes of bodies that may be sent altogether; bytes in socket buffers count as sent.
    /// - Returns: the promise.
    static func sent(atMost limit: Int) -> Promise {
        Promise("≤ \(limit >> 20) MiB sent") { evidence in
            let sent = evidence.journal.reduce(0) { $0 + $1.bytes }
            return sent <= limit ? nil : "\(sent) bytes were sent; at most \(limit) are due"
        }
    }
}
