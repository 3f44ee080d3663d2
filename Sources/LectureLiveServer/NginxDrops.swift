/// A connection of nginx that has lost its right.
enum NginxConnection: Hashable {
    /// A broadcaster.
    case publisher(key: String, client: String)
    /// A player over RTMP.
    case player(name: String, client: String)

    /// nginx's number of the connection.
    var client: String {
        switch self {
        case .publisher(_, let client), .player(_, let client): client
        }
    }
}

/// The connections that nginx is to drop. Part of ``LiveService``, on its actor.
///
/// nginx finds a connection by its stream, which it joins once nginx has read the answer of its hook. A right may end
/// between the two: what nginx does not find is ordered again until it was found or has ended by itself.
///
/// ```
/// add ──▶ ordered ──found──▶ (done)
///            │ ▲
///  not found ▼ │ 100 ms later
///          waiting ──ended, or 100 orders──▶ (done)
/// ```
struct NginxDrops {
    /// Orders for one connection: ten seconds, far longer than nginx takes to read an answer.
    static let limit = 100

    /// How many orders are left, by connection.
    private var left: [NginxConnection: Int] = [:]

    /// The connections that nginx has not dropped yet.
    var waiting: [NginxConnection] { Array(left.keys) }

    /// A connection is to be dropped.
    mutating func add(_ connection: NginxConnection) { left[connection] = Self.limit }

    /// nginx has been ordered to drop a connection.
    ///
    /// - Parameters:
    ///   - connection: one that was added.
    ///   - wasFound: whether nginx knew it.
    mutating func ordered(_ connection: NginxConnection, wasFound: Bool) {
        guard let count = left[connection] else { return }
        left[connection] = wasFound || count == 1 ? nil : count - 1
    }

    /// A connection has ended.
    ///
    /// - Parameter client: nginx's number of it.
    mutating func ended(client: String) { left = left.filter { $0.key.client != client } }

    /// nginx has died, and all connections with it.
    mutating func clear() { left = [:] }
}
