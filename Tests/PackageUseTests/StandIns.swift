import LectureKit

// The parts of swift-log and swift-metrics that an adapter needs, with their names and types. They record their input.

/// The recorded input.
let received = Guarded<[String]>([])

/// As in swift-log.
struct Logger: Sendable {
    enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }
    enum MetadataValue: Sendable { case string(String) }
    typealias Metadata = [String: MetadataValue]
    struct Message: ExpressibleByStringInterpolation, Sendable {
        let text: String
        init(stringLiteral value: String) { text = value }
    }

    let label: String

    func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        source: @autoclosure () -> String? = nil
    ) {
        let fields = (metadata() ?? [:]).map { name, value in
            switch value {
            case .string(let text): "\(name)=\(text)"
            }
        }
        let line = "\(label) \(level) \(source() ?? ""): \(message().text) \(fields.sorted())"
        received.withLock { $0.append(line) }
    }
}

/// As in swift-metrics.
struct Counter {
    let label: String
    let dimensions: [(String, String)]
    func increment(by amount: some BinaryInteger) {
        received.withLock { $0.append("\(label) \(dimensions) +\(amount)") }
    }
}

/// As in swift-metrics.
struct Gauge {
    let label: String
    let dimensions: [(String, String)]
    func record(_ value: some BinaryInteger) { received.withLock { $0.append("\(label) \(dimensions) =\(value)") } }
}
