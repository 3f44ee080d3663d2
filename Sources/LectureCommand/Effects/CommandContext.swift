package import LectureModel

/// All effects a command may have, in one value, so that a test can run any command in its own process.
package struct CommandContext: Sendable {
    /// The command line without the program's name.
    package let arguments: [String]
    /// The environment.
    package let environment: [String: String]
    /// Standard output: data.
    package let output: any ByteSink
    /// Standard error: sentences and progress.
    package let diagnostics: any ByteSink
    /// Whether standard output is a terminal.
    package let outputIsTerminal: Bool
    /// Whether standard error is a terminal.
    package let diagnosticsIsTerminal: Bool
    /// The present size of the terminal behind standard error.
    package let terminalSize: @Sendable () -> TerminalSize
    /// Where time comes from.
    package let clock: any LectureClock
    /// Takes the process's signals over; nil in a context that has none.
    package let signals: @Sendable () -> SignalWatcher?

    /// Makes a context; the process's own is ``process(arguments:environment:)``.
    ///
    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - environment: the environment.
    ///   - output: where data goes.
    ///   - diagnostics: where sentences and progress go.
    ///   - outputIsTerminal: whether `output` is a terminal.
    ///   - diagnosticsIsTerminal: whether `diagnostics` is a terminal.
    ///   - terminalSize: the present size of that terminal.
    ///   - clock: where time comes from.
    ///   - signals: takes the process's signals over; called once by a command that runs long.
    package init(
        arguments: [String], environment: [String: String], output: any ByteSink, diagnostics: any ByteSink,
        outputIsTerminal: Bool, diagnosticsIsTerminal: Bool, terminalSize: @escaping @Sendable () -> TerminalSize,
        clock: any LectureClock, signals: @escaping @Sendable () -> SignalWatcher?
    ) {
        self.arguments = arguments
        self.environment = environment
        self.output = output
        self.diagnostics = diagnostics
        self.outputIsTerminal = outputIsTerminal
        self.diagnosticsIsTerminal = diagnosticsIsTerminal
        self.terminalSize = terminalSize
        self.clock = clock
        self.signals = signals
    }

    /// The process's own effects.
    ///
    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - environment: the environment.
    /// - Returns: a context over descriptors 1 and 2 and the system's clocks.
    package static func process(arguments: [String], environment: [String: String]) -> Self {
        Self(
            arguments: arguments, environment: environment, output: FileDescriptorSink(descriptor: 1),
            diagnostics: FileDescriptorSink(descriptor: 2), outputIsTerminal: Terminal.isTerminal(1),
            diagnosticsIsTerminal: Terminal.isTerminal(2), terminalSize: { Terminal.size(2) },
            clock: SystemClock(), signals: { SignalWatcher() })
    }

    /// Writes a sentence to standard error. A failure is ignored: there is no place left to report it.
    ///
    /// - Parameter sentence: one line without its end; control characters are shown, not obeyed.
    package func say(_ sentence: String) {
        try? diagnostics.write("\(CommandTable.programName): \(TerminalText.neutralised(sentence))\n")
    }
}
