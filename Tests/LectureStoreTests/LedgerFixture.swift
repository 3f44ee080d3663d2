import Foundation
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// A store with a ledger, a device's key, and the anchor stored beside it.
final class LedgerFixture {
    let directory: TemporaryDirectory
    let location: StoreLocation
    let index: SQLiteDownloadIndex
    let authenticator: LedgerAuthenticator
    let ledger: SQLiteLicenceLedger
    let owner: OwnerID
    var anchor: LedgerAnchor?
    var now = Timestamp(milliseconds: 1_700_000_000_000)
    private var clock: Int64 = 0

    init(_ authenticator: LedgerAuthenticator? = nil) throws {
        directory = try TemporaryDirectory.inMemory()
        location = StoreLocation(directory: directory.file("store"))
        try StoreTemplate.copy(to: location.directory, StoreLocation.databaseName) { place in
            _ = try SQLiteDownloadIndex(opening: StoreLocation(directory: place), now: StoreTemplate.created)
        }
        index = try SQLiteDownloadIndex(opening: location, now: now)
        self.authenticator = try authenticator ?? Self.device()
        ledger = try SQLiteLicenceLedger(index: index, authenticator: self.authenticator)
        owner = try index.owners.registerOwner(pid: 1, bootID: "boot", command: "test", now: now)
    }

    static func device() throws -> LedgerAuthenticator { try LedgerAuthenticator(try DeviceKey.generate()) }

    var database: String { "\(location.directory)/lecturekit.db" }

    /// Another process with the same device's key.
    func another() throws -> (index: SQLiteDownloadIndex, ledger: SQLiteLicenceLedger, owner: OwnerID) {
        let index = try SQLiteDownloadIndex(opening: location, now: now)
        let owner = try index.owners.registerOwner(pid: 2, bootID: "boot", command: "other", now: now)
        return (index, try SQLiteLicenceLedger(index: index, authenticator: authenticator), owner)
    }

    /// A row of the time ledger; the clock advances with each.
    func time() -> TimeRow {
        clock += 1
        var row = TimeRow(
            reading: ClockReading(wall: now, boot: BootInstant(nanoseconds: clock * 1_000_000_007), bootID: "boot"))
        row.proven = now
        row.estimate = now
        return row
    }

    /// Changes licences as the engine does: a transaction that ends with an append, then the anchor.
    func commit(source: TimeRow.Source = .clocks, keepingAnchor: Bool = true, _ body: () throws -> Void) throws {
        let anchor = try index.transaction { _ in
            try body()
            return try ledger.append(time(), source: source)
        }
        if keepingAnchor { self.anchor = anchor }
    }

    /// A granted licence of an existing lecture.
    func licence(_ name: String, deadline: Int64? = nil, _ change: (inout LicenceEntry) -> Void = { _ in }) throws
        -> LicenceEntry
    {
        var source = LicenceSource()
        source.callbackURL = "https://drm.example/callback"
        var entry = LicenceEntry(key: try ContentKey(name), source: source)
        var policy = LicencePolicy()
        policy.expiresAt = deadline.map { Timestamp(milliseconds: $0) }
        entry.record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
        entry.token = "token of \(name)"
        change(&entry)
        return entry
    }

    /// Makes lectures with licences, all in one commit.
    func fill(_ deadlines: [(name: String, deadline: Int64?)]) throws {
        try commit {
            for (name, deadline) in deadlines {
                try addContent(name)
                try ledger.store(licence(name, deadline: deadline))
            }
        }
    }

    @discardableResult
    func addContent(_ name: String) throws -> ContentID {
        try index.requests.enqueue(
            DownloadRequest(url: "http://127.0.0.1/\(name)"),
            source: RequestSource(
                derivedKey: try ContentKey(name), identity: Array("identity of \(name)".utf8), isGateway: false),
            check: .list, now: now
        ).id
    }

    func removeContent(_ name: String) throws {
        try index.connection.execute("DELETE FROM content WHERE key = ?", name)
    }

    func entry(_ name: String) throws -> LicenceEntry? { try ledger.entry(try ContentKey(name)) }

    /// A change by a foreign program: without the device's key, and without our constraints.
    func tamper(_ script: String) throws {
        try Connection(path: database, access: .readWrite).run(
            script: "PRAGMA ignore_check_constraints = ON; DROP TRIGGER IF EXISTS time_ledger_is_append_only; \(script)"
        )
    }

    /// The finding of a process that starts now, with the current anchor.
    func finding() throws -> LedgerFinding { try another().ledger.inspect(against: anchor) }

    /// The doubt of ``finding()``; nil when the ledger is intact.
    func doubt() throws -> ClockDoubt? {
        switch try finding() {
        case .suspect(let doubt, _): doubt
        case .intact, .new, .marked: nil
        }
    }

    var isIntact: Bool {
        get throws {
            if case .intact = try finding() { return true }
            return false
        }
    }
}
