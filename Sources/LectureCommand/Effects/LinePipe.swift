import Dispatch
import Glibc

/// What a program that was started writes, line by line.
final class LinePipe: Sendable {
    /// The end for the program; closed here once it was started.
    let writer: Int32
    /// The lines; they end when no program has the other end.
    let lines: AsyncStream<String>

    /// Makes a pipe, whose lines are read from now on.
    ///
    /// - Returns: nil when the process has no more descriptors.
    init?() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (lines, report) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(256))
        (writer, self.lines) = (ends[1], lines)
        let reader = ends[0]
        // Not on a thread of Swift's pool, since reading blocks it.
        DispatchQueue.global().async { Self.read(reader, report) }
    }

    /// Closes this process's copy of the program's end.
    func started() { close(writer) }

    private static func read(_ descriptor: Int32, _ report: AsyncStream<String>.Continuation) {
        defer {
            close(descriptor)
            report.finish()
        }
        var (line, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                    report.yield(String(decoding: line, as: UTF8.self))
                    line = []
                } else if line.count < 4096 {
                    line.append(byte)
                }
            }
        }
        if !line.isEmpty { report.yield(String(decoding: line, as: UTF8.self)) }
    }
}
