/// One way in which a server can be odd, broken or hostile, and what a client then owes its user.
package struct HostileCase: Sendable {
    /// The sections of the table.
    package enum Family: String, Sendable, CaseIterable {
        /// Allowed, and still a trap.
        case honest = "honest but odd"
        /// The connection ends or stops.
        case interruptions = "interruptions"
        /// Answers to a range request.
        case ranges = "ranges"
        /// The object changes while it is fetched.
        case change = "change"
        /// Content codings and transfer codings.
        case coding = "coding"
        /// Lengths.
        case length = "length"
        /// Statuses and waiting.
        case status = "status"
        /// Redirects and credentials.
        case redirects = "redirects"
        /// Not the object, not even HTTP.
        case impostors = "impostors"
        /// TLS and certificates.
        case security = "TLS"
        /// HTTP/2.
        case http2 = "HTTP/2"
        /// Several servers for one lecture.
        case edges = "edges"
    }

    /// How a listener speaks.
    package enum Edge: Sendable {
        /// HTTP/1 in clear on `127.0.0.1`.
        case plain
        /// HTTP/1 under TLS on `localhost`.
        case secure(Security = .init())
        /// HTTP/2 under TLS on `localhost`; HTTP/1.1 for a client that does not ask for it.
        case http2(HTTP2Manner = .init())
    }

    /// Unique, in lower case with hyphens.
    package let name: String
    /// The section of the table.
    package let family: Family
    /// What the server does, in one sentence.
    package let summary: String
    /// What is due of a client that knows the digest.
    package let due: Due
    /// What is due of a client that knows none.
    package var dueBlind: Due
    /// The listeners; the URL is on the first one.
    package var edges: [Edge] = [.plain]
    /// Listeners that the client is given as mirrors, by number.
    package var mirrors: [Int] = []
    /// The lecture's length in bytes. Some chunks of 1 MiB, so that there is something to resume.
    package var size = 3_500_000
    /// Whether only a mirror can help, so that a program without mirror support may refuse.
    package var needsMirrors = false
    /// Parallel ranges the client is to use; `nil` for its own choice.
    package var connections: Int?
    /// Whether the client sends `Authorization` and `Cookie`.
    package var sendsCredentials = false
    /// The requested path and query.
    package var path = "/lecture.mp4"
    /// Further whole versions that are right for a client without a digest, derived from the usual one.
    package var versions: @Sendable (Media) -> [Media] = { _ in [] }
    /// Bytes that may be on the disk beyond twice the lecture's length.
    package var diskBeyondTwice = 8 << 20
    /// More promises than the usual ones.
    package var promises: [Promise] = []
    /// How a request is answered. Called on the connection's thread.
    package let play: @Sendable (Visit) -> Reply

    /// A case on one plain listener.
    ///
    /// - Parameters:
    ///   - name: unique.
    ///   - family: the section of the table.
    ///   - summary: what the server does, in one sentence.
    ///   - due: what is due.
    ///   - blind: what is due without a digest; `nil` for the same.
    ///   - play: how a request is answered.
    package init(
        _ name: String, _ family: Family, _ summary: String, due: Due, blind: Due? = nil,
        play: @escaping @Sendable (Visit) -> Reply
    ) {
        (self.name, self.family, self.summary) = (name, family, summary)
        (self.due, dueBlind, self.play) = (due, blind ?? due, play)
    }

    /// The same case with changes.
    ///
    /// - Parameter change: makes them.
    /// - Returns: the changed case.
    package func with(_ change: (inout HostileCase) -> Void) -> HostileCase {
        var copy = self
        change(&copy)
        return copy
    }

    /// The same case with more promises.
    ///
    /// - Parameter promises: further obligations of the client.
    /// - Returns: the changed case.
    package func promising(_ promises: Promise...) -> HostileCase { with { $0.promises += promises } }
}
