import Foundation
package import KollusSDK
import LectureModel

/// A delegate's calls, in order; a test waits for entries instead of sleeping.
package final class Journal: Sendable {
    /// One call of a delegate's method, with what an application sees in it.
    package enum Entry: Sendable, Equatable {
        /// `downloadContent`.
        case download(key: String, progress: UInt, downloaded: Bool, bytes: Int64, error: Int?)
        /// `request:json:error:`; `listed` and `files` are what there was at that moment.
        case exchange(Exchange)
        /// `cur:count:error:`.
        case renewal(cur: Int32, count: Int32, error: String?)
        /// `lmsData:resultJson:`.
        case report(data: String, isTaken: Bool)
        /// `onSendCompleteStoredLms`.
        case sent(success: Int32, fail: Int32)
    }

    /// An exchange with a licence server.
    package struct Exchange: Sendable, Equatable {
        /// The keys of all items.
        package var keys: [String] = []
        /// The kinds of all items.
        package var kinds: [Int] = []
        /// The learner of the first item.
        package var user = ""
        /// Whether an answer orders the deletion of a lecture.
        package var deletes = false
        /// How many answers came.
        package var answers = 0
        /// The keys that the storage listed at the time of the call.
        package var listed: [String] = []
        /// The media files on the disk at the time of the call.
        package var files: [String] = []
        /// The error's number.
        package var error: Int?
    }

    private struct Waiter {
        let passes: @Sendable ([Entry]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var entries: [Entry] = []
        var waiters: [Waiter] = []
    }

    private let state = Guarded(State())

    /// An empty journal.
    package init() {}

    /// Everything so far.
    package var entries: [Entry] { state.withLock { $0.entries } }

    /// Adds an entry.
    package func record(_ entry: Entry) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let (ready, waiting) = state.waiters.partitioned { $0.passes(state.entries) }
            state.waiters = waiting
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns once the entries pass; a suite's time limit ends the wait.
    package func until(_ passes: @escaping @Sendable ([Entry]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if passes(state.entries) { return true }
                state.waiters.append(Waiter(passes: passes, continuation: continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    // MARK: As applications see it

    /// Records a call of `downloadContent`.
    package func download(_ content: KollusContent, _ error: (any Error)?) {
        record(
            .download(
                key: content.mediaContentKey ?? "", progress: content.downloadProgress,
                downloaded: content.downloaded, bytes: content.downloadSize, error: (error as NSError?)?.code))
    }

    /// Records a call of `request:json:error:`, and what the storage has at this moment.
    package func exchange(
        _ storage: KollusStorage, _ request: [AnyHashable: Any], _ json: [AnyHashable: Any]?, _ error: (any Error)?
    ) {
        var entry = Exchange()
        let items = request["items"] as? [[String: Any]] ?? []
        entry.keys = items.compactMap { $0["media_content_key"] as? String }
        entry.kinds = items.compactMap { $0["kind"] as? Int }
        entry.user = request["client_user_id"] as? String ?? ""
        let answers = json?["data"] as? [[String: Any]] ?? []
        (entry.answers, entry.deletes) = (answers.count, answers.contains { $0["content_delete"] as? Int == 1 })
        entry.listed = ((storage.contents() as? [KollusContent]) ?? []).compactMap { $0.mediaContentKey }
        entry.files = Self.mediaFiles(of: storage)
        entry.error = (error as NSError?)?.code
        record(.exchange(entry))
    }

    /// Records a call of `cur:count:error:`.
    package func renewal(_ cur: Int32, _ count: Int32, _ error: (any Error)?) {
        record(.renewal(cur: cur, count: count, error: error?.localizedDescription))
    }

    /// Records a call of `lmsData:resultJson:`.
    package func report(_ data: String, _ json: [AnyHashable: Any]?) {
        record(.report(data: data, isTaken: json?["ok"] as? Bool == true))
    }

    /// The files below the media directory of a storage.
    package static func mediaFiles(of storage: KollusStorage) -> [String] {
        let media = "\(storage.storagePath ?? "")/media"
        guard let walk = FileManager.default.enumerator(atPath: media) else { return [] }
        return walk.compactMap { $0 as? String }.filter { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(media)/\(name)")
            return attributes?[.type] as? FileAttributeType == .typeRegular
        }.sorted()
    }
}

// MARK: Queries

extension [Journal.Entry] {
    /// The `downloadContent` calls of a lecture.
    package func downloads(of key: String) -> [Journal.Entry] {
        filter { if case .download(key, _, _, _, _) = $0 { true } else { false } }
    }

    /// The calls of a lecture that end its download: an error, or downloaded.
    package func ends(of key: String) -> [Journal.Entry] {
        filter {
            if case .download(key, _, let downloaded, _, let error) = $0 { downloaded || error != nil } else { false }
        }
    }

    /// The numbers of the errors that ended downloads of a lecture.
    package func failures(of key: String) -> [Int] {
        compactMap { if case .download(key, _, _, _, let error?) = $0 { error } else { nil } }
    }

    /// The progress of a lecture, in the order of the calls.
    package func progress(of key: String) -> [UInt] {
        compactMap { if case .download(key, let progress, _, _, nil) = $0 { progress } else { nil } }
    }

    /// The exchanges with licence servers.
    package var exchanges: [Journal.Exchange] {
        compactMap { if case .exchange(let exchange) = $0 { exchange } else { nil } }
    }

    /// The steps of renewals.
    package var renewals: [(cur: Int32, count: Int32, error: String?)] {
        compactMap { if case .renewal(let cur, let count, let error) = $0 { (cur, count, error) } else { nil } }
    }

    /// The ends of sends.
    package var sendings: [Journal.Entry] { filter { if case .sent = $0 { true } else { false } } }

    /// The reports that were sent.
    package var reports: [Journal.Entry] { filter { if case .report = $0 { true } else { false } } }
}

extension Array {
    /// Those that pass, and the others.
    fileprivate func partitioned(_ passes: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(passes), filter { !passes($0) })
    }
}
