import Glibc

/// Directories that were found outside a store, so that not each of a thousand outputs looks at every directory above
/// its own, and again when it is whole.
///
/// What was found counts for a second: a directory can be moved into the store.
final class OutsideDirectories: Sendable {
    private struct Finding {
        let stores: [FileIdentity]
        let time: ContinuousClock.Instant
    }

    /// How long a finding counts.
    static let age = Duration.seconds(1)
    /// How many are kept.
    private static let limit = 256

    private let findings = Monitor<[FileIdentity: Finding]>([:])

    /// Whether a directory is outside of all stores.
    ///
    /// - Parameters:
    ///   - directory: an open directory.
    ///   - stores: the status of directories below which nothing may be placed.
    ///   - now: the time.
    /// - Returns: false when it is one of them or below one, whichever links led here.
    /// - Throws: ``SystemError``.
    func contains(
        _ directory: Descriptor, _ stores: [stat], now: ContinuousClock.Instant = .now
    ) throws(SystemError) -> Bool {
        let identity = FileIdentity(try directory.status())
        let stores = (status: stores, identities: stores.map { FileIdentity($0) })
        let isKnown = findings.read { findings in
            findings[identity].map { $0.stores == stores.identities && now - $0.time < Self.age } ?? false
        }
        if isKnown { return true }
        if try directory.isWithin(stores.status) { return false }
        findings.change { findings in
            if findings.count >= Self.limit { findings = [:] }
            findings[identity] = Finding(stores: stores.identities, time: now)
        }
        return true
    }
}
