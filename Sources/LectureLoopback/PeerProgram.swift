import Glibc
import LectureKit

/// The program at the other end of a connection, as far as the system says.
struct PeerProgram: Sendable, Hashable {
    /// Its process; nil where that cannot be seen, for instance in a sandbox.
    var process: Int32?
    /// What it calls itself: `User-Agent`.
    var agent: String

    /// Whether both are one program.
    func isSame(as other: Self) -> Bool {
        if let process, let second = other.process { return process == second }
        return agent == other.agent
    }

    /// Whether it still runs; true where that is unknown.
    var isRunning: Bool {
        guard let process else { return true }
        return kill(process, 0) == 0 || errno != ESRCH
    }
}

/// The sockets of this machine, as proc(5) shows them.
struct PeerSocket: Sendable, Hashable {
    /// Whose it is.
    let user: UInt32
    /// What names it in `/proc/PID/fd`.
    let inode: UInt64

    /// The other end of a connection on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - port: its port.
    ///   - server: the port of this end.
    /// - Returns: nil where the system does not show it.
    static func find(port: UInt16, server: UInt16) -> Self? {
        for (file, address) in [("tcp", "0100007F"), ("tcp6", "0000000000000000FFFF00000100007F")] {
            let ends = ["\(address):\(hexadecimal(port))", "\(address):\(hexadecimal(server))"]
            if let found = find(ends, in: text(of: "/proc/net/\(file)")) { return found }
        }
        return nil
    }

    /// Searches a table of proc(5).
    static func find(_ ends: [String], in table: String) -> Self? {
        for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
            guard words.count > 10, words[1].elementsEqual(ends[0].utf8), words[2].elementsEqual(ends[1].utf8),
                let user = UInt32(String(words[7]) ?? ""), let inode = UInt64(String(words[9]) ?? "")
            else { continue }
            return Self(user: user, inode: inode)
        }
        return nil
    }

    /// The process that has the socket.
    ///
    /// - Parameter likely: where to look first.
    /// - Returns: nil where it cannot be seen.
    func process(likely: Int32?) -> Int32? {
        let name = "socket:[\(inode)]"
        if let likely, Self.has(name, likely) { return likely }
        return Self.names(in: "/proc").lazy.compactMap { Int32($0) }.first { Self.has(name, $0) }
    }

    private static func has(_ socket: String, _ process: Int32) -> Bool {
        let directory = "/proc/\(process)/fd"
        return names(in: directory).contains { target(of: "\(directory)/\($0)") == socket }
    }

    private static func target(of path: String) -> String {
        var bytes = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink(path, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                // Sound: the kernel ends each name with a zero, within the field.
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.first != "." { names.append(name) }
        }
        return names
    }

    private static func text(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer[..<count]
        }
    }

    private static func hexadecimal(_ port: UInt16) -> String {
        let text = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}
