import LectureDownload
import LectureEngine
package import LectureModel

/// A licence server as the download engine sees it: who needs a grant, and the answer.
///
/// `@unchecked Sendable`: a program and its world run on one thread.
package final class ScriptedLicensing: DownloadLicensing, @unchecked Sendable {
    /// The server's next answer.
    package var answer: () -> GrantAnswer = { .settled }
    /// Where the licences of lectures come from, as reported by the gateway.
    package private(set) var sources: [ContentKey: LicenceSource] = [:]
    /// Lectures that the server was asked for, in order.
    package private(set) var asked: [ContentKey] = []
    /// Lectures with a pending completion callback.
    package private(set) var owed: [ContentKey] = []
    /// The error of licences while the store is another device's.
    package var otherDevice: LectureError?
    private var granted: Set<ContentKey> = []
    private let world: VirtualWorld
    private let program: Int
    private let inbox: Inbox<EngineEvent>

    init(world: VirtualWorld, program: Int, inbox: Inbox<EngineEvent>) {
        (self.world, self.program, self.inbox) = (world, program, inbox)
    }

    /// Every source may be recorded, unless the store is another device's.
    package func refusal(
        of source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws -> LectureError? { source == nil ? nil : otherDevice }

    /// Records where a licence comes from.
    package func recordSource(
        _ source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws { sources[key] = source }

    /// Due until it is answered.
    package func standing(of key: ContentKey, in transaction: any StoreTransaction) throws -> GrantStanding {
        guard sources[key] != nil else { return .unneeded }
        if let otherDevice { return .refused(otherDevice) }
        return granted.contains(key) ? .granted : .due
    }

    /// Answers a little later.
    package func requestGrant(_ content: ContentID, key: ContentKey) {
        asked.append(key)
        world.after(.milliseconds(40), program: program, "the licence server answers") { [self] in
            let outcome = answer()
            if outcome == .settled { granted.insert(key) }
            inbox.post(.granted(content, outcome))
        }
    }

    /// Records it.
    package func completed(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws {
        if sources[key] != nil { owed.append(key) }
    }
}
