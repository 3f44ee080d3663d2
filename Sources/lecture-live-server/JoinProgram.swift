import Glibc
import LectureCrypto
import LectureFiles
import LectureLiveMedia
import LectureLiveServer
import LectureModel

/// The word `join`, which is not for people: it joins the recordings of a room into a sealed lecture.
///
/// ```
/// order (standard input) ──▶ recordings ──joined──▶ a file without a name ──sealed──▶ NAME.part ──renamed──▶ NAME
/// ```
///
/// Killed at any moment it leaves nothing in clear, and under the name nothing or everything.
enum JoinProgram {
    /// Runs it to its end.
    ///
    /// - Returns: the exit status: 0 once it has reported, whatever it reports.
    static func run() -> Int32 {
        // Viewers come first.
        _ = nice(10)
        // No dump of a crash may have the key.
        var none = rlimit()
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // A limit of the file size is an error like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        let order: JoinOrder?
        do throws(LectureError) { order = try JoinOrder(input()) } catch { return 70 }
        guard let order else {
            write("lecture-live-server: the order is not whole\n", to: STDERR_FILENO)
            return 64
        }
        return write(report(order).line, to: STDOUT_FILENO) ? 0 : 74
    }

    private static func report(_ order: JoinOrder) -> JoinReport {
        do throws(LectureError) {
            let file = try UnnamedFile(in: order.directory)
            let joined: MediaJoiner.Joined
            do throws(MediaJoiner.Failure) {
                joined = try MediaJoiner.join(order.inputs, descriptor: file.number)
            } catch {
                let place = error.input.map { "Recording \($0 + 1): " } ?? ""
                return .failed(place + error.description)
            }
            let facts = try file.seal(
                as: order.name, in: order.directory, SealedContent(order.key, content: order.content))
            return .joined(
                JoinedLecture(
                    frames: joined.frames, duration: joined.duration, byteCount: facts.byteCount,
                    sha256: facts.sha256, size: (joined.width, joined.height),
                    parts: joined.inputs.map { .init(skipped: $0.skipped, duration: $0.duration) }))
        } catch { return .failed(error.message) }
    }

    private static func input() -> [UInt8] {
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while all.count < JoinOrder.longest {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            all += buffer[..<count]
        }
        return all
    }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
