/// A response as a case specifies it, before HTTP/1.1 or HTTP/2 framing. Nothing in it has to be true.
package struct Answer: Sendable {
    /// How the end of the body is signalled.
    package enum Framing: Sendable {
        /// `Content-Length` with the body's true length, unless the fields hold one already.
        case length
        /// `Transfer-Encoding: chunked`; over HTTP/2 without a length.
        case chunked
        /// Neither: the end of the connection is the end of the body. Over HTTP/2 without a length.
        case untilClose
    }

    /// What happens to the connection. The number counts bytes of the body.
    package enum Ending: Sendable, Equatable {
        /// The whole body; the connection stays open where HTTP allows it.
        case whole
        /// The whole body, then the connection is closed cleanly.
        case closed
        /// FIN after so many bytes; under TLS without `close_notify`.
        case cut(after: Int)
        /// RST after so many bytes; over HTTP/2 RST_STREAM with INTERNAL_ERROR.
        case reset(after: Int)
        /// Nothing more after so many bytes; the connection stays open until the client leaves.
        case stall(after: Int)
        /// HTTP/2 only: GOAWAY that names this stream as not processed, after so many bytes.
        case goAway(after: Int)
    }

    /// The bytes of a body.
    package enum Body: Sendable {
        /// These bytes.
        case bytes(ArraySlice<UInt8>)
        /// So many zero bytes, made while they are sent.
        case zeros(Int)

        /// How many bytes there are.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .zeros(let count): count
            }
        }

        /// A part of the bytes.
        ///
        /// - Parameter range: of offsets; what is behind the end is left out.
        /// - Returns: the bytes.
        package func piece(_ range: Range<Int>) -> ArraySlice<UInt8> {
            let range = range.clamped(to: 0..<count)
            return switch self {
            case .bytes(let bytes): bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
            case .zeros: [UInt8](repeating: 0, count: range.count)[...]
            }
        }
    }

    /// The version in the status line of HTTP/1.
    package var version = "HTTP/1.1"
    /// The status.
    package var status: Int
    /// The reason phrase.
    package var reason = "As It Pleases"
    /// The fields in their order; a name may occur twice.
    package var fields: [(name: String, value: String)]
    /// The body.
    package var body: Body
    /// How its end is signalled.
    package var framing = Framing.length
    /// What happens to the connection.
    package var ending = Ending.whole
    /// Whole heads of informational responses (RFC 9110 section 15.2), sent before.
    package var interim: [String] = []
    /// Bytes of the body sent at once, and the pause behind each; `nil` for full speed.
    package var trickle: (bytes: Int, milliseconds: Int)?
    /// Sent unframed behind the body, also after its end.
    package var surplus: [UInt8] = []
    /// Sent again and again behind ``interim``, in place of everything else, until the client has left.
    package var flood: (bytes: [UInt8], milliseconds: Int)?
    /// A pause before the first byte.
    package var delayMilliseconds = 0
    /// HTTP/1 only: the head goes out byte by byte, a millisecond behind each.
    package var splitsHead = false

    /// An answer with a body.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - fields: in their order.
    ///   - body: its bytes.
    package init(_ status: Int, _ fields: [(name: String, value: String)] = [], body: ArraySlice<UInt8> = []) {
        self.status = status
        self.fields = fields
        self.body = .bytes(body)
    }

    /// An answer with a text.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - text: the body.
    ///   - type: its media type.
    package init(_ status: Int, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status, [("Content-Type", type)], body: Array(text.utf8)[...])
    }

    /// The first value of a field.
    ///
    /// - Parameter name: in any case.
    /// - Returns: its value, or `nil`.
    package func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// Replaces all values of a field.
    ///
    /// - Parameters:
    ///   - name: in any case.
    ///   - value: the only value from now on; `nil` for none.
    package mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { fields.append((name, value)) }
    }

    /// The same answer with changes.
    ///
    /// - Parameter change: makes them.
    /// - Returns: the changed answer.
    package func with(_ change: (inout Answer) -> Void) -> Answer {
        var copy = self
        change(&copy)
        return copy
    }
}

/// What a case does with a request.
package enum Reply: Sendable {
    /// Sends an answer.
    case answer(Answer)
    /// HTTP/1 only: sends these bytes as they are, then ends the connection; over HTTP/2 it resets the stream.
    case raw([UInt8], then: Answer.Ending = .closed)
    /// HTTP/1 only: controls the connection itself, which is cut afterwards; over HTTP/2 it resets the stream.
    case script(@Sendable (Talk) -> Void)
    /// HTTP/2 only: controls the stream itself; over HTTP/1 the response is sent.
    case frames(otherwise: Answer, @Sendable (HTTP2Stream) -> Void)
}
