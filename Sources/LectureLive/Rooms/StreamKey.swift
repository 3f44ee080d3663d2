package import LectureFormats

/// The stream key of a member: where the feed goes, and what it is in. A member has one, and so one broadcast at a
/// time.
///
/// The key itself is a secret: it is in no description, error or log.
public struct StreamKey: Sendable {
    /// Its number.
    public var id: UInt64
    /// The state of its feed.
    public var state: StreamKeyState
    /// Where the feed goes; the key follows after a slash.
    public var ingestURL: String
    /// The key.
    public var key: String
    /// The room of its broadcast, if there is one that has not ended.
    public var room: VideoRoom?

    /// Creates a stream key.
    ///
    /// - Parameters:
    ///   - id: its number.
    ///   - state: the state of its feed.
    ///   - ingestURL: where the feed goes.
    ///   - key: the key.
    public init(id: UInt64, state: StreamKeyState, ingestURL: String, key: String) {
        (self.id, self.state, self.ingestURL, self.key) = (id, state, ingestURL, key)
    }

    /// The address that a broadcaster sends to (`{ingestUrl}/{streamKey}?mode=CMAF`).
    public var publishURL: String { FeedAddress(self).url }
}

extension StreamKey {
    /// Reads a description; nil when a member is missing, or the state is not known.
    ///
    /// - Parameter value: an object with `id`, `streamKeyState`, `ingestUrl` and `streamKey`.
    package init?(_ value: JSONValue) {
        guard let id = value["id"]?.unsigned, let state = value["streamKeyState"]?.string.flatMap(StreamKeyState.init),
            let ingest = value["ingestUrl"]?.string, let key = value["streamKey"]?.string, !key.isEmpty
        else { return nil }
        self.init(id: id, state: state, ingestURL: ingest, key: key)
        room = value["videoRoom"].flatMap { VideoRoom($0) }
    }

    /// Writes the description.
    ///
    /// - Parameter json: gets the members of an object.
    package func write(_ json: inout JSONWriter) {
        json.member("id", id)
        json.member("streamKeyState", state.rawValue)
        json.member("ingestUrl", ingestURL)
        json.member("streamKey", key)
        if let room { json.object("videoRoom") { room.write(&$0) } }
    }
}

extension StreamKey: CustomStringConvertible, CustomReflectable {
    /// Without the key.
    public var description: String { "stream key \(id) (\(state.rawValue))" }
    /// Without the key.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "state": state]) }
}
