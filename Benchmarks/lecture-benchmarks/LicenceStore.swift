import LectureCrypto
import LectureFiles
import LectureKit
import LectureModel
import LectureStore

/// Licences in a store that `lecturectl` opens: filled through the real ledger under the device's real key.
enum LicenceStore {
    private static let day: Int64 = 86_400_000

    /// Adds lectures and their licences to a store, with deadlines over 200 days, a tenth ended. The lectures are
    /// paused, so that no command downloads them. What is already in the store is kept.
    ///
    /// - Parameters:
    ///   - store: the directory of the store; created when it is missing.
    ///   - device: the directory of the device's key; generated when there is none.
    ///   - count: the number of lectures.
    ///   - callback: the URL that the licences come from.
    /// - Throws: `LectureError`.
    static func fill(_ store: String, device: String, count: Int, callback: String) throws {
        let clock = SystemClock()
        let now = clock.now()
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: store), now: now)
        try StoreBenchmark.fill(index, count: count)
        _ = try index.targets.setTargetStateOfAll(.pause, includingSamples: true, now: now)
        let home = DeviceHome(directory: device)
        let key = try home.key()
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerAuthenticator(key))
        let (uuid, anchors) = (try index.identity().uuid, try home.anchors(key))
        let known = try anchors.anchor(of: uuid)
        // Before the first append, so that no revision known to the anchor is used again.
        _ = try ledger.inspect(against: known)
        var anchor = known
        for start in stride(from: 0, to: count, by: 1000) {
            anchor = try index.transaction { transaction in
                let ledger = try transaction.ledger
                for number in start..<min(count, start + 1000) {
                    try ledger.store(licence(number, callback: callback, now: now))
                }
                let time = ClockReading(wall: clock.now(), boot: clock.boot(), bootID: Machine.bootID())
                let row = try ledger.newestTime() ?? TimeRow(reading: time)
                return try ledger.append(row, source: .clocks)
            }
        }
        if let anchor { try anchors.keep(anchor, of: uuid) }
    }

    private static func licence(_ number: Int, callback: String, now: Timestamp) throws -> LicenceEntry {
        var source = LicenceSource()
        (source.callbackURL, source.keyID, source.clientUserID) = (callback, "sandbox", "learner")
        var entry = LicenceEntry(key: try ContentKey("lecture-\(number)"), source: source)
        var policy = LicencePolicy()
        // 7,919 is a prime: deadlines that do not come in the order of the rows.
        policy.expiresAt = now + .milliseconds(Int64(number &* 7_919 % 200_003) * day / 1_000 - 20 * day)
        policy.countLimit = 10
        entry.record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
        entry.granted = now
        // As long as the token of an answer for ten.
        entry.token = String(repeating: "eyJhbGciOiJIUzI1NiJ9", count: 120)
        return entry
    }

    /// Measures the library's queries of a filled store.
    ///
    /// - Parameters:
    ///   - store: the directory of the store.
    ///   - device: the directory of the device's key.
    ///   - play: a complete lecture with a licence for many plays; nil plays none.
    /// - Throws: `LectureError`.
    static func inspect(_ store: String, device: String, play: String?) async throws {
        var configuration = LectureConfiguration(storeDirectory: store)
        configuration.deviceDirectory = device
        let manager = try LectureManager(configuration)
        let (week, key) = (Duration.seconds(7 * 86_400), try ContentKey("lecture-7"))
        try await repeated("licences of 7 days, first page") {
            _ = try await manager.licences.list(expiringWithin: week)
        }
        try await repeated("licences of 7 days, all pages", times: 10) { try await all(manager, within: week) }
        try await repeated("licences with a deadline, all pages", times: 3) {
            try await all(manager, within: .seconds(3_650 * 86_400))
        }
        try await repeated("licences, all pages", times: 3) { try await all(manager, within: nil) }
        try await repeated("plan of 7 days", times: 10) {
            _ = try await manager.licences.planRenewal(of: .within(week))
        }
        try await repeated("plan of all", times: 3) { _ = try await manager.licences.planRenewal(of: .all) }
        try await repeated("licence, the first time", times: 1) { _ = try await manager.licences.status(of: key) }
        try await repeated("licence") { _ = try await manager.licences.status(of: key) }
        if let play {
            let played = try ContentKey(play)
            try await repeated("begin and end a play") {
                let started = try await manager.licences.beginPlay(played)
                try await started.end()
            }
        }
        await manager.close()
    }

    private static func all(_ manager: LectureManager, within time: Duration?) async throws {
        var place: LicencePage.Place?
        repeat { place = try await manager.licences.list(expiringWithin: time, from: place).next } while place != nil
    }

    private static func repeated(_ name: String, times: Int = 50, _ body: () async throws -> Void) async throws {
        var samples: [Double] = []
        for _ in 0..<times {
            let begin = StoreBenchmark.nanoseconds()
            try await body()
            samples.append(Double(StoreBenchmark.nanoseconds() - begin) / 1e6)
        }
        samples.sort()
        StoreBenchmark.report(name, median: samples[times / 2], worst: samples[times - 1], note: "\(times) times")
    }
}
