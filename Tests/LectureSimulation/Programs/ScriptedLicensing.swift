package import LectureDownload
package import LectureModel

/// A licence server as the engine of downloads sees it: who needs a grant, and what is answered.
///
/// `@unchecked Sendable`: a program and its world run on one thread.
package final class ScriptedLicensing: DownloadLicensing, @unchecked Sendable {
    /// The server's next answer.
    package var answer: () -> GrantAnswer = { .settled }
    /// Where the licences of contents come from, as the gateway told.
    package private(set) var sources: [ContentKey: LicenceSource] = [:]
    /// Contents that the server was asked for, in order.
    package private(set) var asked: [ContentKey] = []
    /// Contents whose completion is owed to the server.
    package private(set) var owed: [ContentKey] = []
    /// What licences are refused with while the store is another device's.
    package var otherDevice: LectureError?
    private var granted: Set<ContentKey> = []
    private let world: VirtualWorld
    private let program: Int
    private let inbox: EngineInbox

    init(world: VirtualWorld, program: Int, inbox: EngineInbox) {
        (self.world, self.program, self.inbox) = (world, program, inbox)
    }

    /// Everything may be noted, unless the store is another device's.
    package func refusal(of source: LicenceSource?, of key: ContentKey) throws -> LectureError? {
        source == nil ? nil : otherDevice
    }

    /// Remembers where a licence comes from.
    package func noteSource(_ source: LicenceSource?, of key: ContentKey) throws { sources[key] = source }

    /// Due until it was answered.
    package func standing(of key: ContentKey) throws -> GrantStanding {
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

    /// Remembers it.
    package func completed(_ key: ContentKey, now: Timestamp) throws {
        if sources[key] != nil { owed.append(key) }
    }
}
