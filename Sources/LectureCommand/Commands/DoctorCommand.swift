package import LectureDoctor
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl doctor`.
enum DoctorCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session: CommandSession
        do {
            session = try CommandSession(command, context)
        } catch let error as LectureError where [.configuration, .secretReadable].contains(error.code) {
            // Nothing else is known without settings.
            let file = try Configuration.file(command, context.environment).value
            let mistakes = file.map { LectureConfiguration.mistakes(inFile: $0) } ?? []
            let all = mistakes.isEmpty ? [error] : mistakes
            return try show(all.map { Finding(.configuration, $0, name: file ?? "") }, command, context)
        }
        var doctor = Doctor(session.librarySettings(), file: session.configuration.file.value)
        (doctor.servers, doctor.asksServers) = (command.arguments, !command.flag("offline"))
        if command.origin("timeout") != nil { doctor.limit = session.configuration.timeout.value }
        let clock = context.clock
        return try show(try await doctor.examine { clock.now() }.findings, command, context)
    }

    private static func show(
        _ findings: [Finding], _ command: ParsedCommand, _ context: CommandContext
    ) throws(OutputError) -> ExitStatus {
        if command.flag("json") {
            for finding in findings { try context.output.write(machine: JSONLine.finding(finding)) }
        } else {
            let style = Style(
                choice: command.text("color"), environment: context.environment, isTerminal: context.outputIsTerminal)
            let worth = command.flag("quiet") ? Finding.Grade.warning : .ok
            try context.output.write(.lines(DoctorText.lines(findings.filter { $0.grade >= worth }, style: style)))
        }
        return findings.contains { $0.grade == .failed } ? .someFailed : .done
    }
}

/// Findings as lines.
package enum DoctorText {
    /// Lays out findings: grade, subject, what was found; and below it what to do.
    ///
    /// - Parameters:
    ///   - findings: what was found.
    ///   - style: colours.
    /// - Returns: lines without line ends.
    package static func lines(_ findings: [Finding], style: Style) -> [SafeText] {
        findings.flatMap { finding -> [SafeText] in
            let grade = style.apply(SafeText(TerminalText.padded(finding.grade.rawValue, to: 7)), colour(finding.grade))
            let subject = TerminalText.padded(word(finding.subject), to: 13)
            // An error about a file names it itself.
            let isNamed = finding.name.isEmpty || finding.message.hasPrefix(finding.name)
            let name = isNamed ? "" : "\(finding.name): "
            let first: SafeText = "\(grade)  \(subject)  \(name)\(finding.message)"
            guard !finding.remedy.isEmpty else { return [first] }
            return [first, "\(String(repeating: " ", count: 24))\(finding.remedy)"]
        }
    }

    private static func word(_ subject: Finding.Subject) -> String {
        subject.rawValue.replacing("_", with: " ")
    }

    private static func colour(_ grade: Finding.Grade) -> Style.Meaning {
        switch grade {
        case .ok, .note: .good
        case .warning: .warning
        case .failed: .bad
        }
    }
}
