import LectureModel

/// What the download rules use besides the rows. Nothing of it waits for the disk or the network.
package struct DownloadEnvironment {
    /// Part files that are not open yet, and the free space.
    let files: any PartFiles
    /// Makes proofs and digests.
    let digests: any DigestMaker
    /// Which lectures need a licence, and whether it is granted.
    let licensing: any DownloadLicensing
    /// Decides what is sealed, and provides the ciphers.
    let seals: any ContentSealing
    /// Whether the application has a source of new URLs.
    var hasResolver: Bool { resolver.isPresent }
    private let resolver: any URLResolver
    /// The minute of the local week of a moment, for the timetable.
    let minuteOfWeek: (Timestamp) -> Int
    /// Sends an event to the next step, from any thread.
    let post: @Sendable (EngineEvent) -> Void

    /// Takes what a step uses from the engine's ports.
    init(_ ports: DownloadEngine.Ports, post: @escaping @Sendable (EngineEvent) -> Void) {
        (files, digests) = (ports.files, ports.digests)
        (licensing, seals) = (ports.licensing, ports.seals)
        (resolver, self.post) = (ports.resolver, post)
        minuteOfWeek = { [clock = ports.clock] in clock.minuteOfWeek($0) }
    }
}

/// What the download rules use within a step: the rows of its transaction, and whatever else a decision depends on.
package struct DownloadStore {
    /// The rows of all subjects, for those that the environment asks.
    let transaction: any StoreTransaction
    /// What is stored: queue, versions, chunks, leases.
    let index: any DownloadIndex
    private let environment: DownloadEnvironment

    /// Begins a step.
    init(_ environment: DownloadEnvironment, _ transaction: any StoreTransaction) throws {
        (self.environment, self.transaction, index) = (environment, transaction, try transaction.contents)
    }

    var files: any PartFiles { environment.files }
    var digests: any DigestMaker { environment.digests }
    var licensing: any DownloadLicensing { environment.licensing }
    var seals: any ContentSealing { environment.seals }
    var hasResolver: Bool { environment.hasResolver }
    var post: @Sendable (EngineEvent) -> Void { environment.post }
    func minuteOfWeek(_ moment: Timestamp) -> Int { environment.minuteOfWeek(moment) }
}
