/// One event of an event stream (WHATWG HTML, section 9.2.6).
package struct ServerSentEvent: Hashable, Sendable {
    /// The id that was last named, for `Last-Event-ID`.
    package var id: String
    /// The type; `message` unless another one is named.
    package var type: String
    /// The data, its lines joined by line feeds.
    package var data: String

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - id: the id that was last named.
    ///   - type: the type.
    ///   - data: the data.
    package init(id: String, type: String, data: String) {
        (self.id, self.type, self.data) = (id, type, data)
    }
}

/// Reads an event stream as its bytes come (WHATWG HTML, section 9.2.6): any line end, also one that is split between
/// two reads; comments; fields that are not known; an event that is cut at the end is dropped.
package struct ServerSentEventReader: Sendable {
    /// More than this many bytes in one line or one event end the stream: no event of the service comes near it.
    package static let limit = 1 << 20

    /// How long to wait before a new connection, in milliseconds, if the server has said so.
    package private(set) var retry: Int?
    /// The id that was last named.
    package private(set) var lastID = ""
    private var line: [UInt8] = []
    private var data: [String] = []
    private var dataBytes = 0
    private var type = ""
    private var endedWithReturn = false
    private var isFirstLine = true

    /// Creates a reader.
    ///
    /// - Parameter lastID: the id from an earlier connection.
    package init(lastID: String = "") { self.lastID = lastID }

    /// Reads bytes.
    ///
    /// - Parameter bytes: what came.
    /// - Returns: the events that are complete; nil when a line or an event is too long, after which nothing may
    ///   follow.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent]? {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let followsReturn = endedWithReturn
            endedWithReturn = byte == 0x0D
            if byte == 0x0A, followsReturn { continue }
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                if line.count > Self.limit { return nil }
                continue
            }
            if let event = endLine() { events.append(event) }
            if dataBytes > Self.limit { return nil }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer {
            line.removeAll(keepingCapacity: true)
            isFirstLine = false
        }
        var bytes = line[...]
        // A byte order mark may precede the stream.
        if isFirstLine, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        if bytes.isEmpty { return dispatch() }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        if colon == bytes.startIndex { return nil }
        let name = String(decoding: bytes[..<(colon ?? bytes.endIndex)], as: UTF8.self)
        var rest = colon.map { bytes[($0 + 1)...] } ?? []
        if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
        let value = String(decoding: rest, as: UTF8.self)
        switch name {
        case "data":
            data.append(value)
            dataBytes += rest.count + 1
        case "event": type = value
        case "id": if !value.utf8.contains(0) { lastID = value }
        case "retry": if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { retry = Int(value) }
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (data, dataBytes, type) = ([], 0, "") }
        if data.isEmpty { return nil }
        return ServerSentEvent(id: lastID, type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"))
    }
}
