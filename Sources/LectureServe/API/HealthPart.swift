import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// What monitoring asks for: whether the process answers, whether it can work, and figures.
struct HealthPart: SitePart {
    /// The last answer about the store: everybody may ask, and an answer costs several queries.
    private struct Known {
        var at = ContinuousClock.now - .seconds(3600)
        var reasons: [String] = []
    }

    /// How long an answer about the store counts.
    static let lifetime = Duration.seconds(1)
    private static let metricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    let manager: LectureManager
    /// The version of the program.
    let version: String
    private let known = Guarded(Known())

    init(_ manager: LectureManager, version: String) { (self.manager, self.version) = (manager, version) }

    func routes(_ path: [String]) -> [String: SiteRoute]? {
        switch path {
        case ["healthz"]: ["GET": SiteRoute(.nothing) { _, _ in .text(200, "ok\n") }]
        case ["readyz"]: ["GET": SiteRoute(.nothing) { _, _ in await ready() }]
        case ["metrics"]: ["GET": SiteRoute(.role(.operator)) { _, _ in await metrics() }]
        default: nil
        }
    }

    // MARK: Answers

    private func ready() async -> HTTPAnswer {
        let now = ContinuousClock.now
        var current = known.withLock(\.self)
        if now - current.at >= Self.lifetime {
            current = Known(at: now, reasons: await reasons())
            known.withLock { [current] in $0 = current }
        }
        let reasons = current.reasons
        return .json(reasons.isEmpty ? 200 : 503) { json in
            json.member("ready", reasons.isEmpty)
            json.array("reasons") { json in for reason in reasons { json.element(reason) } }
        }
    }

    /// Why downloads cannot go on: names of errors and nothing else, since everybody may see them.
    private func reasons() async -> [String] {
        do {
            if let error = await manager.whyReadOnly { return [error.code.name] }
            // Takes the lock for writing, and changes nothing.
            try await manager.setNote("serve.ready", nil)
            return try await manager.overview().space.isShort ? [LectureError.Code.storageFull.name] : []
        } catch {
            return [LectureError.known(error).code.name]
        }
    }

    private func metrics() async -> HTTPAnswer {
        do {
            let text = OpenMetrics.text(try await manager.metrics().families(readBy: version), labels: [])
            return HTTPAnswer(200, [("Content-Type", Self.metricsType)], body: .bytes(text))
        } catch {
            return .failure(LectureError.known(error))
        }
    }
}
