import Dispatch
import Glibc
import LectureKit
import LectureModel

/// Reads a file or standard input in blocks, on a thread that may block.
///
/// `@unchecked Sendable`: the descriptor does not change, and every read happens on the reader's own serial queue.
package final class InputReader: @unchecked Sendable {
    private static let pieceSize = 65_536
    private let descriptor: Int32
    private let path: String
    private let code: LectureError.Code
    private let isOwner: Bool
    private let queue = DispatchQueue(label: "lecturectl.input")

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - code: the code of the error when it cannot be opened or read.
    /// - Throws: `LectureError` with that code.
    init(_ path: String, failure code: LectureError.Code = .courseList) throws(LectureError) {
        self.path = path
        self.code = code
        isOwner = path != "-"
        if path == "-" {
            descriptor = STDIN_FILENO
        } else {
            descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        }
        if descriptor < 0 { throw failure() }
    }

    /// Reads an open descriptor, such as that of standard input.
    ///
    /// - Parameter descriptor: it stays open.
    package init(descriptor: Int32) { (self.descriptor, path, code, isOwner) = (descriptor, "-", .readFile, false) }

    deinit {
        if isOwner, descriptor >= 0 { close(descriptor) }
    }

    /// The next bytes.
    ///
    /// - Returns: at most 64 KiB; nil at the end.
    /// - Throws: `LectureError` with the reader's code when they cannot be read.
    package func next() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    /// Whether a read would return at once, also at the end.
    func isReady() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [descriptor] in
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: unsafe poll(&request, 1, 0) != 0)
            }
        }
    }

    /// Everything up to the end.
    ///
    /// - Parameter limit: the maximum number of bytes.
    /// - Returns: the bytes.
    /// - Throws: `LectureError` with the reader's code when they cannot be read or exceed the limit.
    func all(limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await next() {
            bytes += piece
            guard bytes.count <= limit else {
                throw LectureError(code, detail: path, cause: "more than \(limit) bytes")
            }
        }
        return bytes
    }

    private func read() throws(LectureError) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            return count == 0 ? nil : Array(piece[..<count])
        }
    }

    private func failure() -> LectureError {
        LectureError(code, detail: path, cause: ConfigurationFile.systemMessage(errno))
    }
}
