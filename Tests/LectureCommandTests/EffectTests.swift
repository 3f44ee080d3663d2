import Foundation
import Glibc
import LectureCommand
import LectureModel
import Testing

@Suite struct ByteSinkTests {
    @Test func `all bytes arrive, also through a pipe that is full and does not block`() throws {
        var ends: [Int32] = [0, 0]
        let made = unsafe pipe(&ends)
        #expect(made == 0)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let drained = Drain(FileHandle(fileDescriptor: ends[0], closeOnDealloc: true))
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        try FileDescriptorSink(descriptor: ends[1]).write(bytes)
        close(ends[1])
        #expect(drained.data() == Data(bytes))
    }

    @Test func `a full device is an error with a sentence`() throws {
        let descriptor = unsafe open("/dev/full", O_WRONLY)
        defer { close(descriptor) }
        let error = #expect(throws: OutputError.self) { try FileDescriptorSink(descriptor: descriptor).write("x") }
        #expect(error?.number == ENOSPC)
        #expect(error?.message.contains("no space is left") ?? false)
    }

    @Test func `a closed descriptor is an error`() {
        let error = #expect(throws: OutputError.self) { try FileDescriptorSink(descriptor: -1).write("x") }
        #expect(error?.number == EBADF)
    }

    @Test func `a closed pipe is distinguished from other errors`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            ProcessSignals.prepare(environment: [:])
            var ends: [Int32] = [0, 0]
            _ = unsafe pipe(&ends)
            close(ends[0])
            do throws(OutputError) {
                try FileDescriptorSink(descriptor: ends[1]).write("x")
            } catch {
                exit(error.isClosedPipe ? 7 : 8)
            }
        }
    }
}

@Suite struct TerminalTests {
    @Test func `the size of a terminal is queried each time`() throws {
        let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var size = winsize(ws_row: 40, ws_col: 123, ws_xpixel: 0, ws_ypixel: 0)
        let set = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        #expect(set == 0)
        #expect(Terminal.isTerminal(descriptor))
        #expect(Terminal.size(descriptor) == TerminalSize(columns: 123, rows: 40))
        size.ws_col = 0
        let emptied = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        #expect(emptied == 0)
        #expect(Terminal.size(descriptor) == .standard)
    }

    @Test func `a file is no terminal`() {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(!Terminal.isTerminal(descriptor))
        #expect(Terminal.size(descriptor) == .standard)
    }
}

/// Signal dispositions are per process, so each test has its own process. Signals are sent to the process and not to
/// the calling thread (`raise`), because the threads that run tests block them.
@Suite struct SignalWatcherTests {
    @Test func `signals become events in order`() async {
        await #expect(processExitsWith: .success) {
            guard let watcher = SignalWatcher() else { exit(3) }
            var events = watcher.events.makeAsyncIterator()
            for (number, event) in [
                (SIGWINCH, SignalEvent.resized), (SIGTERM, .stop(SIGTERM)), (SIGINT, .stop(SIGINT)),
            ] {
                kill(getpid(), number)
                guard await events.next() == event else { exit(4) }
            }
            withExtendedLifetime(watcher) { exit(0) }
        }
    }

    @Test func `a second SIGINT ends at once with 130`() async {
        await #expect(processExitsWith: .exitCode(130)) {
            guard let watcher = SignalWatcher() else { exit(3) }
            var events = watcher.events.makeAsyncIterator()
            kill(getpid(), SIGINT)
            guard await events.next() == .stop(SIGINT) else { exit(4) }
            kill(getpid(), SIGINT)
            // No event comes any more: the handler itself ends the process.
            _ = await events.next()
            withExtendedLifetime(watcher) { exit(5) }
        }
    }

    @Test func `there is one watcher, and without it signals have their default action`() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            var watcher = SignalWatcher()
            guard let events = watcher?.events, SignalWatcher() == nil else { exit(3) }
            watcher = nil
            // The stream ends with its watcher.
            for await _ in events { exit(4) }
            guard SignalWatcher() != nil else { exit(5) }
            kill(getpid(), SIGTERM)
            let (endless, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in endless {}
            continuation.finish()
        }
    }
}

@Suite struct CommandRunnerTests {
    private let bug: [String: CommandRunner.Action] = ["list": { _, _ in throw CancellationError() }]

    @Test func `data goes to standard output and messages to standard error`() async {
        let good = await run("version")
        #expect(good.output == "lecturectl \(ProgramVersion.number)\n")
        #expect(good.diagnostics.isEmpty)
        let bad = await run("versoin")
        #expect(bad.output.isEmpty)
        #expect(
            bad.diagnostics
                == "lecturectl: Unknown command 'versoin'. Did you mean 'version'? See 'lecturectl --help'.\n")
    }

    @Test func `an error ends with its status, and is a JSON line on request`() async {
        let outcome = await run(
            "list", "--json", actions: ["list": { _, _ in throw LectureError(.storeForeign, detail: "/s") }])
        #expect(outcome.status == .data)
        #expect(outcome.output.hasPrefix(#"{"event":"error","code":-20001,"name":"store_foreign","message":"/s: "#))
        #expect(outcome.diagnostics.hasPrefix("lecturectl: /s: the database belongs to another program"))
    }

    @Test func `a usage error is a JSON line as well`() async {
        let outcome = await run("list", "--json", "--stat")
        #expect(outcome.status == .usage)
        #expect(outcome.output.contains(#""name":"parameter""#))
    }

    @Test func `an unknown error is reported as a bug`() async {
        let outcome = await run("list", actions: bug)
        #expect(outcome.status == .software)
        #expect(outcome.diagnostics.contains("CancellationError"))
    }

    @Test func `output that cannot be written ends with 74, silently when the pipe is closed`() async {
        for (number, expected) in [(EPIPE, ""), (ENOSPC, "no space is left")] {
            let diagnostics = MemorySink()
            let context = context(["version"], output: FailingSink(number: number), diagnostics: diagnostics)
            #expect(await CommandRunner(actions: [:]).run(context) == .inputOutput)
            #expect(expected.isEmpty ? diagnostics.text.isEmpty : diagnostics.text.contains(expected))
        }
    }

    @Test func `a message cannot control the terminal`() {
        let diagnostics = MemorySink()
        context([], output: MemorySink(), diagnostics: diagnostics).say("a\u{1B}[2Jb\nc")
        #expect(diagnostics.text == "lecturectl: a\u{FFFD}[2Jb\u{FFFD}c\n")
    }

    @Test(
        arguments: [
            ("8:12", 8, 12), ("0:18446744073709551615", 0, .max), ("8", nil, nil), ("", nil, nil), ("8:", nil, nil),
            (":12", nil, nil), ("8:12:1", nil, nil), ("8:-1", nil, nil), ("8: 12", nil, nil), ("a:b", nil, nil),
        ] as [(String, UInt64?, UInt64?)])
    func `a stream of the journal is a device and an inode`(text: String, device: UInt64?, inode: UInt64?) {
        #expect(JournalStream(text)?.device == device)
        #expect(JournalStream(text)?.inode == inode)
    }

    @Test func `only the descriptor that the variable names is the journal's`() throws {
        let scratch = try ScratchDirectory()
        let descriptor = unsafe open(try scratch.write("journal", ""), O_RDONLY)
        defer { close(descriptor) }
        var facts = stat()
        try #require(unsafe fstat(descriptor, &facts) == 0)
        let name = "\(facts.st_dev):\(facts.st_ino)"
        #expect(JournalStream.isJournal(descriptor, ["JOURNAL_STREAM": name]))
        for other in ["\(facts.st_dev):\(facts.st_ino + 1)", "\(facts.st_dev + 1):\(facts.st_ino)", "journal"] {
            #expect(!JournalStream.isJournal(descriptor, ["JOURNAL_STREAM": other]), "\(other)")
        }
        #expect(!JournalStream.isJournal(descriptor, [:]) && !JournalStream.isJournal(-1, ["JOURNAL_STREAM": name]))
    }

    @Test(arguments: [(MessagePriority.error, "<3>"), (.warning, "<4>"), (.information, "<6>")])
    func `a message to the journal begins with its priority, and no other one does`(
        priority: MessagePriority, prefix: String
    ) {
        for isJournal in [true, false] {
            let diagnostics = MemorySink()
            let plain = context([], output: MemorySink(), diagnostics: diagnostics)
            CommandContext(
                arguments: [], environment: [:], output: plain.output, diagnostics: diagnostics,
                outputIsTerminal: false, diagnosticsIsTerminal: false, diagnosticsIsJournal: isJournal,
                terminalSize: plain.terminalSize, clock: plain.clock, signals: plain.signals
            ).say("x", priority)
            #expect(diagnostics.text == "\(isJournal ? prefix : "")lecturectl: x\n")
        }
    }
}

/// Reads a handle to its end on its own thread.
///
/// `@unchecked Sendable`: `result` is written by the thread before it signals and read after the wait.
private final class Drain: @unchecked Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private var result = Data()

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            result = handle.readDataToEndOfFile()
            finished.signal()
        }
    }

    func data() -> Data {
        finished.wait()
        return result
    }
}
