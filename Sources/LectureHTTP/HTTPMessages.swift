package import LectureFormats

/// A field of a request or of an answer.
package struct HTTPField: Sendable, Hashable {
    /// As it was written; names are compared without case.
    package let name: String
    /// Without the white space around it.
    package let value: String

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - value: its value; for an answer without line ends.
    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}

/// The head of a request.
package struct HTTPRequestHead: Sendable, Hashable {
    /// As it was written: `GET`, for instance.
    package var method: String
    /// The path, percent-decoded; it may have any bytes, and segments such as `..`.
    package var path: String
    /// The fields in their order.
    package var fields: [HTTPField]
    /// The names and values of the query, percent-decoded, in their order.
    package var query: [HTTPField]

    /// Creates a head.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path, percent-decoded.
    ///   - fields: the fields in their order.
    ///   - query: the query in its order.
    package init(method: String, path: String, fields: [HTTPField] = [], query: [HTTPField] = []) {
        (self.method, self.path, self.fields, self.query) = (method, path, fields, query)
    }

    /// The value of a field that may be there once.
    ///
    /// - Parameter name: in lower case.
    /// - Returns: the first one; nil when there is none.
    package func value(_ name: String) -> String? { values(name).first }

    /// The values of a field.
    ///
    /// - Parameter name: in lower case.
    /// - Returns: all of them in their order.
    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// A parameter of the query.
    ///
    /// - Parameter name: compared with case.
    /// - Returns: its first value; nil when there is none.
    package func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The segments of the path; nil when it does not begin with a slash. An empty one stands for two slashes in a row
    /// and for one at the end.
    package var segments: [String]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}

/// Where a client is.
package struct HTTPPeer: Sendable, Hashable {
    /// The IPv4 address, for instance 0x7F000001.
    package let address: UInt32
    /// The port.
    package let port: UInt16

    /// Whether it is on this machine (127.0.0.0/8).
    package var isLoopback: Bool { address >> 24 == 127 }

    /// Reads an IPv4 address.
    ///
    /// - Parameter text: for instance `127.0.0.1`.
    /// - Returns: nil for another text.
    package static func address(_ text: String) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4 else { return nil }
        return parts.reduce(UInt32?(0)) { sum, part in
            guard let sum, let part else { return nil }
            return sum << 8 | UInt32(part)
        }
    }
}

/// What a request is answered with.
package struct HTTPAnswer: Sendable {
    /// The bytes after the head.
    package enum Body: Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// What a source delivers: so many bytes, or with nil as many as there are (chunked, RFC 9112 section 7.1).
        case source(any HTTPBodySource, byteCount: Int64?)
        /// None, though the head names a length: for HEAD.
        case head(byteCount: Int64)
    }

    /// The status, from 200.
    package var status: Int
    /// The fields, without those that frame the body.
    package var fields: [HTTPField]
    /// The body.
    package var body: Body
    /// Whether the connection may wait for ever while this is sent, for instance for a player that is paused.
    package var isPatient = false

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - fields: names and values.
    ///   - body: the body.
    package init(_ status: Int, _ fields: [(String, String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.fields = fields.map { HTTPField(name: $0.0, value: $0.1) }
        self.body = body
    }

    /// An answer of text.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - text: the text, with its line end.
    ///   - fields: further fields.
    /// - Returns: the answer.
    package static func text(_ status: Int, _ text: String, _ fields: [(String, String)] = []) -> Self {
        Self(status, [("Content-Type", "text/plain; charset=utf-8")] + fields, body: .bytes(Array(text.utf8)))
    }

    /// An answer of one JSON object.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - write: writes the members.
    /// - Returns: the answer.
    package static func json(_ status: Int, _ write: (inout JSONWriter) -> Void) -> Self {
        var writer = JSONWriter()
        writer.object(write)
        return Self(status, [("Content-Type", "application/json")], body: .bytes(writer.bytes))
    }
}

/// What a source did when it was asked for bytes.
package enum HTTPFill: Sendable, Hashable {
    /// It copied so many bytes, at least one.
    case bytes(Int)
    /// It has none now, and calls ``HTTPExchange/resume()`` when it may have some.
    case wait
    /// There are no more.
    case end
    /// It cannot go on: the connection is closed.
    case failed
}

/// Delivers the body of an answer as it is sent.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// Copies the next bytes. On the server's thread; never blocking.
    ///
    /// - Parameter buffer: where they go.
    /// - Returns: what it did.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill
    /// The answer is over; nothing is asked for after that. On the server's thread.
    func over()
    /// A second has gone by while it is sent. On a thread of the server's.
    func tick()
}

extension HTTPBodySource {
    /// Nothing.
    package func tick() {}
}
