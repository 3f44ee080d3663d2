import LectureKit
package import LectureModel
import LectureRecords

/// All effects of a command in one value, so that a test can run any command in its own process.
package struct CommandContext: Sendable {
    /// The program, with its commands and options.
    package let program: ProgramTable
    /// The command line without the program's name.
    package let arguments: [String]
    /// The environment.
    package let environment: [String: String]
    /// Standard output: data.
    package let output: any ByteSink
    /// Standard error: messages and progress.
    package let diagnostics: any ByteSink
    /// Whether standard output is a terminal.
    package let outputIsTerminal: Bool
    /// Whether standard error is a terminal.
    package let diagnosticsIsTerminal: Bool
    /// How messages are written on standard error.
    package private(set) var logFormat: LogFormat
    /// Whether standard error is the journal's where `--log-format` names no format.
    private let diagnosticsIsJournal: Bool
    /// The current size of the terminal on standard error.
    package let terminalSize: @Sendable () -> TerminalSize
    /// The clock.
    package let clock: any LectureClock
    /// Takes over the process's signals; nil in a context without signals.
    package let signals: @Sendable () -> SignalWatcher?

    /// Makes a context; the process's own is ``process(arguments:environment:)``.
    ///
    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - environment: the environment.
    ///   - output: where data goes.
    ///   - diagnostics: where messages and progress go.
    ///   - outputIsTerminal: whether `output` is a terminal.
    ///   - diagnosticsIsTerminal: whether `diagnostics` is a terminal.
    ///   - diagnosticsIsJournal: whether `diagnostics` is a stream to the journal.
    ///   - terminalSize: the current size of that terminal.
    ///   - clock: the clock.
    ///   - program: the program's table.
    ///   - signals: takes over the process's signals; called once by a long-running command.
    package init(
        arguments: [String], environment: [String: String], output: any ByteSink, diagnostics: any ByteSink,
        outputIsTerminal: Bool, diagnosticsIsTerminal: Bool, diagnosticsIsJournal: Bool = false,
        terminalSize: @escaping @Sendable () -> TerminalSize, clock: any LectureClock,
        program: ProgramTable = .lecturectl, signals: @escaping @Sendable () -> SignalWatcher?
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.output = output
        self.diagnostics = diagnostics
        self.outputIsTerminal = outputIsTerminal
        self.diagnosticsIsTerminal = diagnosticsIsTerminal
        self.diagnosticsIsJournal = diagnosticsIsJournal
        logFormat = diagnosticsIsJournal ? .journal : .sentences
        self.terminalSize = terminalSize
        self.clock = clock
        self.signals = signals
    }

    /// The process's own effects.
    ///
    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - environment: the environment.
    ///   - program: the program's table.
    /// - Returns: a context over descriptors 1 and 2 and the system's clocks.
    package static func process(
        arguments: [String], environment: [String: String], program: ProgramTable = .lecturectl
    ) -> Self {
        Self(
            arguments: arguments, environment: environment, output: FileDescriptorSink(descriptor: 1),
            diagnostics: FileDescriptorSink(descriptor: 2), outputIsTerminal: Terminal.isTerminal(1),
            diagnosticsIsTerminal: Terminal.isTerminal(2),
            diagnosticsIsJournal: JournalStream.isJournal(2, environment), terminalSize: { Terminal.size(2) },
            clock: SystemTime.clock, program: program, signals: { SignalWatcher() })
    }

    /// The same effects with messages in another format.
    ///
    /// - Parameter word: the value of `--log-format`; nil and `auto` choose by where standard error goes.
    /// - Returns: the context.
    package func logging(as word: String?) -> Self {
        var context = self
        context.logFormat = word.flatMap(LogFormat.init(rawValue:)) ?? (diagnosticsIsJournal ? .journal : .sentences)
        return context
    }

    /// Writes a message to standard error. A failure is ignored: there is nowhere left to report it.
    ///
    /// - Parameters:
    ///   - sentence: one line without its end; control characters are replaced.
    ///   - priority: how much it matters, for the journal and logs.
    ///   - error: what it reports, for logs.
    package func say(_ sentence: String, _ priority: MessagePriority = .error, about error: LectureError? = nil) {
        write(LogMessage(time: clock.now(), priority: priority, text: sentence, error: error))
    }

    /// Writes a message to standard error, as the format has it. A failure is ignored.
    ///
    /// - Parameter message: the message.
    package func write(_ message: LogMessage) {
        // One call for each line: other threads write, too.
        switch logFormat {
        case .json: try? diagnostics.write(machine: message.json)
        case .sentences, .text, .journal: try? diagnostics.write(message.line(logFormat, of: program))
        }
    }

    /// Writes progress to standard error: as it is among sentences, and as messages in a log.
    ///
    /// - Parameter progress: whole lines, or bars where they may be drawn.
    package func writeProgress(_ progress: SafeText) {
        switch logFormat {
        case .sentences, .journal: try? diagnostics.write(progress)
        case .text, .json:
            for line in progress.text.split(separator: "\n") { say(String(line), .information) }
        }
    }

    /// Whether something may be drawn in place on standard error: a terminal without a log.
    package var mayDraw: Bool { diagnosticsIsTerminal && logFormat == .sentences }

    /// Reports an error without ending the command: a message, and with `--json` a line.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - key: the lecture it is about.
    ///   - wantsJSON: whether a line is written, too.
    /// - Throws: ``OutputError`` when the line cannot be written.
    func report(_ error: LectureError, key: ContentKey? = nil, wantsJSON: Bool) throws(OutputError) {
        say(error.message, about: error)
        if wantsJSON { try output.write(machine: JSONLine.error(error.code, message: error.message, key: key?.text)) }
    }

    /// Writes a line of data to standard output: unchanged for a program, neutralised on a terminal.
    ///
    /// - Parameter line: one line without its end.
    /// - Throws: ``OutputError`` when it could not be written.
    package func writeData(_ line: String) throws(OutputError) {
        if outputIsTerminal { try output.write("\(line)\n") } else { try output.write(machine: "\(line)\n") }
    }
}
