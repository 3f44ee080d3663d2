import LectureFormats
import LectureKit
import LectureModel

/// A lecture's media as it was offered to a store: sealed under a key that is in no other offer.
struct OfferedFile: Sendable {
    /// The lecture.
    let key: ContentKey
    /// Its media.
    let file: CarriedFile
    /// How it is sealed.
    let layout: SealedLayout
    /// Seals it.
    let cipher: any ContentCipher
    /// The header of the sealed file.
    let header: [UInt8]
    /// The only one who may read it.
    let person: SitePerson
}

/// The offers that may be read, in memory only: a store whose offer is gone asks again.
final class PeerOffers: Sendable {
    private struct State {
        var files: [String: (file: OfferedFile, usedAt: ContinuousClock.Instant)] = [:]
        var digests: [String: [UInt8]] = [:]
    }

    /// How many there are at most; the one that was used least recently makes place.
    static let most = 256
    /// How long one stays that is not used.
    static let idleLimit = Duration.seconds(600)
    /// Digests that are remembered.
    private static let mostDigests = 10_000

    private let state = Guarded(State())

    /// Keeps an offer.
    ///
    /// - Parameters:
    ///   - file: what was offered.
    ///   - ticket: its name.
    func keep(_ file: OfferedFile, as ticket: String) {
        state.withLock { state in
            if state.files.count >= Self.most, let oldest = state.files.min(by: { $0.value.usedAt < $1.value.usedAt }) {
                state.files[oldest.key] = nil
            }
            state.files[ticket] = (file, .now)
        }
    }

    /// Finds an offer.
    ///
    /// - Parameters:
    ///   - ticket: its name.
    ///   - person: who asks.
    ///   - now: the time of use.
    /// - Returns: nil for one that is unknown, over, or another one's.
    func file(_ ticket: String, for person: SitePerson?, at now: ContinuousClock.Instant) -> OfferedFile? {
        state.withLock { state in
            guard let known = state.files[ticket], known.file.person == person else { return nil }
            state.files[ticket]?.usedAt = now
            return known.file
        }
    }

    /// Forgets offers that were not used for long.
    ///
    /// - Parameter now: the time.
    func removeIdle(at now: ContinuousClock.Instant) {
        state.withLock { state in
            for (ticket, known) in state.files where now - known.usedAt > Self.idleLimit { state.files[ticket] = nil }
        }
    }

    /// The digest of a file that was computed before.
    func digest(of file: CarriedFile) -> [UInt8]? { state.withLock { $0.digests[file.identity] } }

    /// Remembers a digest.
    func remember(_ digest: [UInt8], of file: CarriedFile) {
        state.withLock { state in
            if state.digests.count >= Self.mostDigests { state.digests = [:] }
            state.digests[file.identity] = digest
        }
    }
}
