import LectureKit

struct ServerObserver: LectureObserver {
    let logger = Logger(label: "lectures")

    func log(_ record: LectureLogRecord) {
        let level = Logger.Level(rawValue: record.level.rawValue) ?? .info
        let metadata = record.fields.mapValues { Logger.MetadataValue.string($0) }
        logger.log(level: level, "\(record.message)", metadata: metadata, source: record.category.rawValue)
    }

    func record(_ metric: LectureMetric) {
        let dimensions = metric.labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        switch metric.kind {
        case .counter: Counter(label: metric.name, dimensions: dimensions).increment(by: metric.value)
        case .gauge: Gauge(label: metric.name, dimensions: dimensions).record(metric.value)
        }
    }
}
