import Glibc

/// A destination for bytes: a file descriptor, or memory in tests.
package protocol ByteSink: Sendable {
    /// Writes all bytes.
    ///
    /// - Parameter bytes: the bytes; they are not buffered.
    /// - Throws: ``OutputError`` when not all could be written.
    func write(_ bytes: [UInt8]) throws(OutputError)
}

extension ByteSink {
    /// Writes a text for people, in UTF-8.
    ///
    /// - Parameter text: the text, with its line ends.
    /// - Throws: ``OutputError`` when not all could be written.
    package func write(_ text: SafeText) throws(OutputError) { try write(Array(text.text.utf8)) }

    /// Writes a text for programs unchanged, in UTF-8: JSON lines, acknowledgements, paths, and the program's own
    /// documents. What others wrote in it may control a terminal.
    ///
    /// - Parameter machine: the text, with its line ends.
    /// - Throws: ``OutputError`` when not all could be written.
    package func write(machine: String) throws(OutputError) { try write(Array(machine.utf8)) }
}

/// Bytes could not be written. Ends with exit status 74.
package struct OutputError: Error, Equatable {
    /// The `errno` of the failed call.
    package let number: Int32

    /// Makes an error.
    ///
    /// - Parameter number: the `errno` of the failed call.
    package init(number: Int32) { self.number = number }

    /// Whether the reader has gone (`lecturectl list | head`), which is not reported.
    package var isClosedPipe: Bool { number == EPIPE }

    /// What happened and what to do.
    package var message: String {
        let reason =
            switch number {
            case ENOSPC, EDQUOT: "no space is left; free some and run the command again"
            case EBADF: "it is closed"
            case EIO: "the device reports an error"
            default: "system error \(number)"
            }
        return "Standard output cannot be written: \(reason)."
    }
}

/// Writes to a file descriptor with `write(2)`: Swift 6 does not allow `stdout`, and a buffer that is flushed at exit
/// would lose the error.
package struct FileDescriptorSink: ByteSink {
    /// The open descriptor; the sink does not close it.
    package let descriptor: Int32

    /// Makes a sink.
    ///
    /// - Parameter descriptor: an open descriptor that outlives the sink.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Writes all bytes, in as many calls as needed.
    ///
    /// - Parameter bytes: the bytes.
    /// - Throws: ``OutputError`` when not all could be written.
    package func write(_ bytes: [UInt8]) throws(OutputError) {
        let failure: Int32 = unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let count = unsafe Glibc.write(descriptor, piece.baseAddress, piece.count)
                if count >= 0 {
                    unsafe rest = unsafe rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another program made the shared terminal or pipe non-blocking.
                    waitUntilWritable()
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
        if failure != 0 { throw OutputError(number: failure) }
    }

    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, -1)
    }
}
