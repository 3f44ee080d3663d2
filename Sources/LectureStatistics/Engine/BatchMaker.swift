import LectureModel

/// Pure functions of other modules, for requests with reports.
package struct ReportFunctions: Sendable {
    /// A fresh UUIDv7 for a request.
    var newID: @Sendable () -> String
    /// Encodes bodies; nil when nothing is ever encoded.
    var compress: (@Sendable (_ encoding: String, _ bytes: [UInt8]) throws -> [UInt8])?
    /// Whether there are listeners to ``LectureEvent/reportExchange(_:)``. Otherwise nothing is kept for it.
    var wantsExchanges: @Sendable () -> Bool

    /// Collects the functions.
    ///
    /// - Parameters:
    ///   - newID: a fresh UUIDv7 for a request.
    ///   - compress: encodes bodies; nil when nothing is ever encoded.
    ///   - wantsExchanges: whether there are listeners to exchanges.
    package init(
        newID: @escaping @Sendable () -> String,
        compress: (@Sendable (_ encoding: String, _ bytes: [UInt8]) throws -> [UInt8])?,
        wantsExchanges: @escaping @Sendable () -> Bool
    ) {
        (self.newID, self.compress, self.wantsExchanges) = (newID, compress, wantsExchanges)
    }
}

/// Makes the requests of batches, from the stored reports to the bytes that are frozen.
struct BatchMaker: Sendable {
    let functions: ReportFunctions
    let statement: XAPIStatement

    /// The bytes of a request to a target beside those of its reports.
    func envelope(_ target: TargetWork) -> Int { maker(target).envelope }

    private func maker(_ target: TargetWork) -> RequestMaker {
        RequestMaker(address: target.address, statement: statement)
    }

    /// As many of the reports as fit into a request; at least one. Nil when one of them is gone.
    func fitting(
        _ reports: [OutboxID], _ target: TargetWork, _ outbox: any StatisticsOutbox
    ) throws -> ([OutboxID], MadeRequest)? {
        var reports = reports
        while let made = try request(of: reports, target, outbox, wasTried: { $1.attempts > 0 }) {
            if made.rawBytes <= target.limits.bytes || reports.count <= 1 { return (reports, made) }
            reports.removeLast(reports.count / 2)
        }
        return nil
    }

    /// Makes the request of reports.
    ///
    /// - Parameters:
    ///   - reports: at least one.
    ///   - target: its target.
    ///   - outbox: where the reports are.
    ///   - id: its id; nil for a single report's own, or a new one.
    ///   - wasTried: whether a report may have been sent alone before it became part of this request.
    /// - Returns: nil when a report was erased.
    /// - Throws: ``LectureError`` from the store.
    func request(
        of reports: [OutboxID], _ target: TargetWork, _ outbox: any StatisticsOutbox, id: String? = nil,
        wasTried: (OutboxID, ReportRecord) -> Bool
    ) throws -> MadeRequest? {
        let records = try outbox.reports(reports)
        guard let first = records.first, records.count == reports.count else { return nil }
        let tried = Set(zip(reports, records).lazy.filter { $1.attempts > 0 }.map(\.0))
        // If it was sent alone before, that was under its own id, and with the time that was known then.
        let isChanged = wasTried(reports[0], first) && first.corrected != nil && target.address.format != .kollus
        let own = records.count == 1 && !isChanged && Self.isPlain(first.id) ? first.id : nil
        var frozen = maker(target).frozen(id ?? own ?? functions.newID(), reports, records)
        let rawBytes = max(frozen.body.count, frozen.query.utf8.count)
        if let compress = functions.compress, !target.encoding.isEmpty, !frozen.body.isEmpty {
            do {
                frozen.body = try compress(target.encoding, frozen.body)
                frozen.encoding = target.encoding
            } catch {
                // A body that cannot be encoded is sent as it is, which every target accepts.
            }
        }
        let said = functions.wantsExchanges() ? SaidReports(records) : nil
        return MadeRequest(frozen: frozen, rawBytes: rawBytes, tried: tried, said: said)
    }

    /// Whether an id may be used in a header. Scripts choose ids freely.
    private static func isPlain(_ id: String) -> Bool { id.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
