import LectureModel

/// What the download rules use within a step: the rows, and whatever else a decision depends on. Nothing of it waits
/// for the disk or the network.
package struct DownloadStore {
    /// What is stored: queue, versions, chunks, leases.
    let index: any DownloadIndex
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
        (index, files, digests) = (ports.index, ports.files, ports.digests)
        (licensing, seals) = (ports.licensing, ports.seals)
        (resolver, self.post) = (ports.resolver, post)
        minuteOfWeek = { [clock = ports.clock] in clock.minuteOfWeek($0) }
    }
}
