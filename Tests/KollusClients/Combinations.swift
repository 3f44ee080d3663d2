// Every spelling combined with every way a class can be isolated to an actor.
import Foundation
import KollusSDK
import KollusTestSupport
import Testing

// MARK: Everything implicitly unwrapped

final class UnwrappedPlain: NSObject, KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage!, downloadContent c: KollusContent!, error: Error!) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage!, cur: Int32, count: Int32, error: Error!) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class UnwrappedIsolated: NSObject, @MainActor KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage!, downloadContent c: KollusContent!, error: Error!) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage!, cur: Int32, count: Int32, error: Error!) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class UnwrappedPreconcurrency: NSObject, @preconcurrency KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage!, downloadContent c: KollusContent!, error: Error!) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage!, cur: Int32, count: Int32, error: Error!) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

// MARK: Nothing optional but the error

final class WrapperPlain: NSObject, KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class WrapperIsolated: NSObject, @MainActor KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class WrapperPreconcurrency: NSObject, @preconcurrency KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

// MARK: The guide's

final class GuidePlain: NSObject, KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class GuideIsolated: NSObject, @MainActor KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

@MainActor
final class GuidePreconcurrency: NSObject, @preconcurrency KollusStorageDelegate {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func kollusStorage(_ s: KollusStorage, downloadContent c: KollusContent, error: Error?) {
        journal.download(c, error)
    }
    func kollusStorage(
        _ s: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) { journal.exchange(s, request, json, error) }
    func kollusStorage(_ s: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }
    func kollusStorage(_ s: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        journal.report(lmsData, resultJson)
    }
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

// MARK: All of them

/// The nine classes.
enum Combination: String, CaseIterable, Sendable {
    case unwrappedPlain
    case unwrappedIsolated
    case unwrappedPreconcurrency
    case wrapperPlain
    case wrapperIsolated
    case wrapperPreconcurrency
    case guidePlain
    case guideIsolated
    case guidePreconcurrency

    /// Makes a delegate, sets it, and keeps it alive.
    @MainActor
    func attach(_ storage: KollusStorage, _ journal: Journal) -> AnyObject {
        let delegate: any KollusStorageDelegate =
            switch self {
            case .unwrappedPlain: UnwrappedPlain(journal)
            case .unwrappedIsolated: UnwrappedIsolated(journal)
            case .unwrappedPreconcurrency: UnwrappedPreconcurrency(journal)
            case .wrapperPlain: WrapperPlain(journal)
            case .wrapperIsolated: WrapperIsolated(journal)
            case .wrapperPreconcurrency: WrapperPreconcurrency(journal)
            case .guidePlain: GuidePlain(journal)
            case .guideIsolated: GuideIsolated(journal)
            case .guidePreconcurrency: GuidePreconcurrency(journal)
            }
        storage.delegate = delegate
        return delegate
    }
}

/// What keeps a delegate alive: a storage does not.
@MainActor
final class Keeper {
    private var kept: AnyObject?
    func keep(_ combination: Combination, _ storage: KollusStorage, _ journal: Journal) {
        kept = combination.attach(storage, journal)
    }
    func drop() { kept = nil }
}

@Suite(.timeLimit(.minutes(3)))
struct CombinationNetTests {
    /// A download with its licence, a renewal, and a report: every method of the delegate.
    @Test(arguments: Combination.allCases)
    func `each event reaches each spelling exactly once`(combination: Combination) async throws {
        let academy = try await Academy.open()
        let (journal, storage, keeper) = (Journal(), try academy.storage(), await Keeper())
        await keeper.keep(combination, storage, journal)
        let key = try await storage.load(try await academy.licensed("64K", 1))
        try storage.downloadContent(key)
        await journal.until { entries in
            !entries.ends(of: key).isEmpty && entries.exchanges.contains { $0.kinds == [2] }
        }
        storage.updateDownloadDRMInfo(true)
        await journal.until { $0.renewals.count == 1 && $0.exchanges.contains { $0.kinds == [3] } }
        try await academy.addReports(1, to: storage)
        storage.sendStoredLms()
        await journal.until { !$0.sendings.isEmpty }
        await storage.finish()
        await Client.settle()

        let entries = journal.entries
        #expect(entries.ends(of: key).count == 1)
        #expect(entries.failures(of: key).isEmpty)
        #expect(entries.exchanges.map(\.kinds) == [[1], [2], [3]])
        #expect(entries.renewals.map(\.cur) == [1])
        #expect(entries.reports.count == 1)
        #expect(entries.sendings == [.sent(success: 1, fail: 0)])
        await keeper.drop()
        await academy.close()
    }
}
