import Glibc

/// An error that ends the program, with the matching exit status of sysexits.h.
struct Problem: Error {
    let status: Int32
    let text: String

    static func usage(_ text: String) -> Self { Self(status: 64, text: "\(text); see lecture-sandbox --help") }
    static func cannotCreate(_ text: String) -> Self { Self(status: 73, text: text) }
    static func input(_ text: String) -> Self { Self(status: 65, text: text) }
}

/// A value behind a lock.
///
/// A pthread lock, because `Synchronization.Mutex` reports false races under the
/// thread sanitizer.
///
/// `@unchecked Sendable`: the value is only touched between lock and unlock, and the pointers never change.
@safe
final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

/// Writes to the standard streams, unbuffered.
enum Output {
    static func data(_ text: String) { write(text, to: 1) }
    static func error(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 { bytes = bytes.dropFirst(written) } else if written < 0 && errno != EINTR { return }
        }
    }
}

/// Wall time in milliseconds since the epoch.
func nowMilliseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

/// Wall time in seconds since the epoch.
func nowSeconds() -> Int64 { nowMilliseconds() / 1000 }

/// Nanoseconds of the monotonic clock.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Reads a whole small file.
///
/// - Parameter path: the file's path.
/// - Returns: its bytes.
/// - Throws: ``Problem`` when it cannot be read.
func readFile(_ path: String) throws -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Problem.input("cannot read \(path): \(systemMessage())") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw Problem.input("cannot read \(path): \(systemMessage())") }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

/// Writes a whole small file that only its owner may read.
///
/// - Parameters:
///   - bytes: the content.
///   - path: the file's path; an existing file is replaced.
/// - Throws: ``Problem`` when it cannot be written.
func writeFile(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Problem.cannotCreate("cannot write \(path): \(systemMessage())") }
    defer { close(descriptor) }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw Problem.cannotCreate("cannot write \(path): \(systemMessage())") }
}

/// The system's message for the last error.
func systemMessage() -> String {
    let number = errno
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}
