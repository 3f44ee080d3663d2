import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl metrics`.
enum MetricsCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let metrics = try await session.withManager { try await $0.metrics() }
        if let path = command.text("output") {
            try MetricsFile.write(text(metrics, command), to: path)
        } else if session.wantsJSON {
            for family in metrics.families(readBy: ProgramVersion.number) {
                for sample in family.samples {
                    try context.output.write(machine: JSONLine.metric(family.name, sample))
                }
            }
        } else if context.outputIsTerminal {
            // Names of courses may contain anything.
            for line in String(decoding: text(metrics, command), as: UTF8.self).split(separator: "\n") {
                try context.writeData(String(line))
            }
        } else {
            try context.output.write(text(metrics, command))
        }
        return .done
    }

    private static func text(_ metrics: StoreMetrics, _ command: ParsedCommand) -> [UInt8] {
        let labels = command.texts("label").map { text in
            let name = text.prefix { $0 != "=" }
            return MetricFamily.Label(String(name), String(text.dropFirst(name.count + 1)))
        }
        return OpenMetrics.text(metrics.families(readBy: ProgramVersion.number), labels: labels)
    }
}
