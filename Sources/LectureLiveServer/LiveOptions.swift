import LectureFiles
public import LectureFormats

/// What a live server is started with.
public struct LiveOptions: Sendable {
    /// Where the store, the fragments and the configuration of nginx are; made when it is missing, for its owner only.
    public var stateDirectory: String
    /// The IPv4 address to listen on, for HTTP and RTMP.
    public var address = "127.0.0.1"
    /// The port for HTTP; 0 for any free one.
    public var port: UInt16 = 0
    /// The port for RTMP; 0 for any free one, nil for a server without a media server, which no feed reaches.
    public var rtmpPort: UInt16? = 1935
    /// The name and the secret of the application's server.
    public var credentials: LiveCredentials
    /// The program nginx, with the module for RTMP.
    public var nginx = "/usr/sbin/nginx"
    /// The directory of nginx's modules.
    public var nginxModules = "/usr/lib/nginx/modules"
    /// What is before the paths of this server in links; nil for its address and port.
    public var publicURL: String?
    /// What is before the stream key in the address of a feed, for a media server behind a proxy; nil for its address
    /// and port.
    public var ingestURL: String?
    /// How long an access token works.
    public var tokenLifetime = Duration.seconds(24 * 3600)
    /// How long a playback link works.
    public var linkLifetime = Duration.seconds(12 * 3600)
    /// How long players may read the rest of a room that has ended.
    public var endGrace = Duration.seconds(120)
    /// How long a fragment of the media is.
    public var fragment = Duration.seconds(2)
    /// The limits of messages.
    public var chat = ChatRules()
    /// How many connections may be open, event streams included.
    public var mostConnections: UInt32 = 1000
    /// The time.
    public var now: @Sendable () -> Timestamp = { SystemClock().now() }

    /// Creates options.
    ///
    /// - Parameters:
    ///   - stateDirectory: where the store is.
    ///   - credentials: the name and the secret of the application's server.
    public init(stateDirectory: String, credentials: LiveCredentials) {
        (self.stateDirectory, self.credentials) = (stateDirectory, credentials)
    }

    /// Where programs of this machine reach the server.
    var localAddress: String { Self.local(address) }

    /// Where programs of this machine reach one that listens at an address.
    static func local(_ address: String) -> String { address == "0.0.0.0" ? "127.0.0.1" : address }
}

/// The name and the secret with which the application's server logs members in.
public struct LiveCredentials: Sendable {
    let text: String

    /// Reads the text of a file; nil for one that is not so.
    ///
    /// - Parameter text: `key:secret` in one line, of printable ASCII characters without spaces, 16 or more in the
    ///   secret.
    public init?(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let line = lines.first.map({ FieldText.trimmed($0) }),
            let colon = line.firstIndex(of: ":"), colon != line.startIndex,
            line[colon...].utf8.count > 16, line.utf8.count <= 400, line.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = String(line)
    }
}

/// The limits of messages.
public struct ChatRules: Sendable, Hashable {
    /// How many bytes of UTF-8 a message has at most.
    public var longestText = 2000
    /// How many bytes the word of an application has at most (`customType`).
    public var longestType = 50
    /// How many messages a member may send at once.
    public var burst = 10
    /// How many messages a member may send in a minute after that.
    public var messagesPerMinute = 60

    /// Creates the default limits.
    public init() {}

    /// Whether a text is accepted as it is: not empty, not too long, and without control characters but the line feed
    /// and the tab. Markup is text; who shows it escapes it.
    ///
    /// - Parameter text: the text of a message.
    /// - Returns: why not; nil when it is accepted.
    func refusal(of text: String) -> LiveRefusal? {
        guard text.utf8.count <= longestText else { return .messageTooLong }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t" || !(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value))
        }
        guard isPlain else { return .invalidMessage }
        return text.unicodeScalars.contains { !$0.properties.isWhitespace } ? nil : .invalidMessage
    }
}

/// How often a member may write: a bucket that fills evenly.
struct RateBucket: Hashable {
    private var milliTokens: Int
    private var updated: Timestamp

    init(_ rules: ChatRules, now: Timestamp) { (milliTokens, updated) = (rules.burst * 1000, now) }

    /// Takes one message out.
    ///
    /// - Parameters:
    ///   - rules: the limits.
    ///   - now: the time; one before the last counts as the same.
    /// - Returns: false when the bucket is empty.
    mutating func take(_ rules: ChatRules, now: Timestamp) -> Bool {
        let passed = max(0, (now - updated).milliseconds)
        updated = max(now, updated)
        let filled = Int(min(passed, 3_600_000)) * rules.messagesPerMinute / 60
        milliTokens = min(rules.burst * 1000, milliTokens + filled)
        guard milliTokens >= 1000 else { return false }
        milliTokens -= 1000
        return true
    }

    /// Whether it is full, so that a new one is the same.
    func isFull(_ rules: ChatRules, now: Timestamp) -> Bool {
        var copy = self
        _ = copy.take(rules, now: now)
        return copy.milliTokens >= rules.burst * 1000 - 1000
    }
}
