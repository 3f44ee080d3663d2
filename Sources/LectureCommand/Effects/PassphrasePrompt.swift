import Dispatch
import Glibc
import LectureKit
import LectureModel

/// Asks for a passphrase on the terminal, without echo.
///
/// `@unchecked Sendable`: the descriptor does not change, and everything is read on the prompt's own serial queue.
final class PassphrasePrompt: @unchecked Sendable {
    private static let longest = 1024
    private let terminal: Int32
    private let queue = DispatchQueue(label: "lecturectl.passphrase")

    /// Opens the terminal of the process; nil when there is none.
    init?() {
        terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if terminal < 0 { return nil }
    }

    deinit { close(terminal) }

    /// Asks once.
    ///
    /// - Parameter question: printed before.
    /// - Returns: what was typed up to the line end.
    /// - Throws: `LectureError` with the code `cancelled` at Control-C or Control-D, or `readFile`.
    func ask(_ question: String) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read(question) }) }
        }
    }

    private func read(_ question: String) throws(LectureError) -> [UInt8] {
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else { throw Self.failure() }
        var silent = settings
        // Without ISIG, Control-C arrives as a byte: the terminal must be restored before the program ends.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw Self.failure() }
        defer {
            _ = unsafe tcsetattr(terminal, TCSAFLUSH, &settings)
            write("\n")
        }
        write(question)
        var text: [UInt8] = []
        while text.count < Self.longest {
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count == 1, byte == 0x0A { return text }
            guard count == 1, byte != 0x03 else { throw LectureError(.cancelled) }
            text.append(byte)
        }
        throw LectureError(.parameter, detail: "passphrase", cause: "more than \(Self.longest) bytes")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(terminal, bytes, bytes.count)
    }

    private static func failure() -> LectureError {
        LectureError(.readFile, detail: "terminal", cause: ConfigurationFile.systemMessage(errno))
    }
}

/// Core dumps of this process.
enum CoreDumps {
    /// Disables them: secrets are in memory that core dumps exclude, but values computed from them may not be.
    static func forbid() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
