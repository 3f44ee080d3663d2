import LectureEngine
package import LectureModel

/// Other places than servers that media is fetched from: they are asked first.
package protocol TransferDetour: Sendable {
    /// Makes the transport of a manager.
    ///
    /// - Parameter roads: what it is made of.
    /// - Returns: a transport that performs every exchange, those of other places and of servers.
    func transport(_ roads: TransferRoads) -> any Transport
}

/// What a detour is made of.
package struct TransferRoads: Sendable {
    /// Reaches the servers of lectures.
    package let internet: any Transport
    /// Reaches other stores. What these say, such as the time, means nothing to licences, and is in no log of requests
    /// to servers.
    package let peers: any Transport
    /// Stamps heads, and measures.
    package let clock: any LectureClock
    private let numbers: TransferNumbers

    init(internet: any Transport, peers: any Transport, clock: any LectureClock, numbers: TransferNumbers) {
        (self.internet, self.peers, self.clock, self.numbers) = (internet, peers, clock, numbers)
    }

    /// The number of one more exchange.
    ///
    /// - Returns: one that no other exchange of this process has.
    package func number() -> TransferID { numbers.next() }
}
