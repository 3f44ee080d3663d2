import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// Renewals that buttons have begun: one after the other, in batches, while the answer is long sent. What is asked for
/// is in the store until it is done: a server that stops in between, or is killed, goes on when it starts again.
actor SiteRenewals {
    /// What a button asks for.
    enum Order: Sendable, Hashable {
        /// These lectures.
        case keys([ContentKey])
        /// All that end or have to be checked in a period.
        case period(from: Timestamp, until: Timestamp)
    }

    /// What is not done yet.
    private struct Open: Sendable, Hashable {
        var order: Order
        /// The batch that was begun: asked for again, the store continues it.
        var batch: [ContentKey] = []
    }

    /// Lectures in a batch.
    static let batchLength = 200
    /// How many orders wait; pressing a button again and again is one.
    static let mostOrders = 200
    /// The name of the note in the store.
    static let note = "serve.renewals"

    private let manager: LectureManager
    private var open: [Open] = []
    private var isRead = false
    private var isStopped = false
    private var work: Task<Void, Never>?

    init(_ manager: LectureManager) { self.manager = manager }

    /// Continues what a former server has left. A store that cannot be read now is read with the next order.
    func continueFormer() async {
        try? await read()
        begin()
    }

    /// Takes an order.
    ///
    /// - Parameter order: what is renewed.
    /// - Throws: `LectureError`: `closing`, `parameter` with too many orders, a store's code: then nothing is begun.
    func add(_ order: Order) async throws {
        guard !isStopped else { throw LectureError(.closing) }
        try await read()
        guard !open.contains(where: { $0.order == order }) else { return begin() }
        guard open.count < Self.mostOrders else { throw LectureError(.parameter, detail: "too many renewals wait") }
        open.append(Open(order: order))
        do { try await keep() } catch {
            open.removeAll { $0.order == order }
            throw error
        }
        begin()
    }

    /// Stops after the request to a server that is under way. The rest stays in the store.
    func stop() async {
        isStopped = true
        work?.cancel()
        await work?.value
    }

    /// Waits until nothing is left to do, for tests.
    func untilDone() async { await work?.value }

    private func begin() {
        guard work == nil, !isStopped, !open.isEmpty else { return }
        work = Task { await run() }
    }

    private func run() async {
        while let next = open.first, !isStopped {
            do {
                try await carryOut(next)
            } catch {
                // Later, when the store can be written again, or in the next process.
                if isStopped || HTTPAnswer.isPassing(LectureError.known(error)) { break }
            }
            open.removeAll { $0.order == next.order }
            try? await keep()
        }
        work = nil
    }

    private func carryOut(_ item: Open) async throws {
        if !item.batch.isEmpty { try await renew(item.batch) }
        switch item.order {
        case .keys(let keys): try await renew(keys)
        case .period(let start, let end):
            var place: LicencePage.Place?
            repeat {
                let page = try await LicenceCalendar.list(
                    from: start, until: end, after: place, limit: Self.batchLength, in: manager.licences)
                place = page.next
                let keys = page.rows.map(\.licence.key)
                guard !keys.isEmpty else { continue }
                if let number = open.firstIndex(where: { $0.order == item.order }) { open[number].batch = keys }
                try await keep()
                try await renew(keys)
            } while place != nil
        }
    }

    private func renew(_ keys: [ContentKey]) async throws {
        _ = try await manager.licences.renew(.keys(keys))
        // A renewal that the manager has ended has an answer, too.
        try Task.checkCancellation()
    }

    // MARK: The note

    private func keep() async throws {
        try await manager.setNote(Self.note, open.isEmpty ? nil : Self.text(open))
    }

    private func read() async throws {
        guard !isRead else { return }
        let text = try await manager.note(Self.note)
        guard !isRead else { return }
        isRead = true
        open = text.map(Self.orders) ?? []
    }

    private static func text(_ open: [Open]) -> String {
        JSONWriter.object { json in
            json.array("orders") { json in
                for item in open {
                    json.object { json in
                        switch item.order {
                        case .keys(let keys):
                            json.array("keys") { json in for key in keys { json.element(key.text) } }
                        case .period(let start, let end):
                            json.member("from", start.milliseconds)
                            json.member("until", end.milliseconds)
                        }
                        json.array("batch") { json in for key in item.batch { json.element(key.text) } }
                    }
                }
            }
        }
    }

    private static func orders(_ text: String) -> [Open] {
        let limits = JSONScanner.Limits(depth: 8, items: mostOrders * (batchLength + 8) * 2)
        let elements = (try? JSONScanner.value(of: Array(text.utf8), limits: limits))?["orders"]?.elements ?? []
        func keys(_ value: JSONValue?) -> [ContentKey] {
            (value?.elements ?? []).compactMap { $0.string.flatMap { try? ContentKey($0) } }
        }
        return elements.compactMap { element in
            let batch = keys(element["batch"])
            if let start = element["from"]?.integer, let end = element["until"]?.integer {
                let period = Order.period(from: Timestamp(milliseconds: start), until: Timestamp(milliseconds: end))
                return Open(order: period, batch: batch)
            }
            let named = keys(element["keys"])
            return named.isEmpty ? nil : Open(order: .keys(named), batch: batch)
        }
    }
}
