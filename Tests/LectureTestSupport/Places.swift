import Foundation
import Glibc
import LectureModel

/// The paths of a test run.
package enum Places {
    /// The directory of the built programs, which is that of the test runner.
    private static var products: URL { URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent() }

    /// A program of this package.
    ///
    /// - Parameter name: of the executable product.
    /// - Returns: its path.
    package static func builtProduct(_ name: String) -> String { products.appending(path: name).path }

    /// The root of the repository: the directory with `Package.swift` above a file, however deep the file is.
    ///
    /// - Parameter file: a file of this package; leave it out.
    /// - Returns: its path.
    package static func repository(_ file: String = #filePath) -> String {
        var directory = URL(filePath: file).deletingLastPathComponent()
        while directory.path.count > 1,
            !FileManager.default.fileExists(atPath: directory.appending(path: "Package.swift").path)
        {
            directory.deleteLastPathComponent()
        }
        return directory.path
    }

    /// A program of the system; the usual directories are searched too, since PATH may lack them.
    ///
    /// - Parameter name: for instance `nginx`.
    /// - Returns: its path.
    /// - Throws: ``ChildProcess/Failure`` when it is not installed.
    package static func command(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        // Without the type, `split` resolves to the overload that returns arrays of characters.
        let directories: [String] = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin"]
        let candidates = directories.map { "\($0)/\(name)" }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw ChildProcess.Failure(description: "\(name) is not installed: run Tools/setup")
        }
        return found
    }

    /// A port of 127.0.0.1 that is free now; never the same twice in one test run.
    ///
    /// - Returns: its number.
    /// - Throws: ``ChildProcess/Failure`` when the system has none.
    package static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = try unusedPort()
            if handedOut.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ChildProcess.Failure(description: "no free port")
    }

    private static let handedOut = Guarded<Set<Int>>([])

    private static func unusedPort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ChildProcess.Failure(description: "no socket: errno \(errno)") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard result else { throw ChildProcess.Failure(description: "no port: errno \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// A directory that is deleted with its last reference.
package final class TemporaryDirectory: Sendable {
    /// Without a slash at the end.
    package let path: String

    /// Makes a directory that only its owner may enter.
    ///
    /// - Parameter parent: where; `nil` for the system's temporary directory.
    /// - Throws: the system's error.
    package init(in parent: String? = nil) throws {
        path = (parent ?? NSTemporaryDirectory().trimmingSuffix("/")) + "/lecture-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Makes a directory in memory, for stores whose durability is not the subject: a database syncs at every commit.
    ///
    /// - Returns: the directory; an ordinary one where memory has no file system with at least a gigabyte.
    /// - Throws: the system's error.
    package static func inMemory() throws -> TemporaryDirectory {
        let memory = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        let isUsable = free >= 1 << 30 && FileManager.default.isWritableFile(atPath: memory)
        return try TemporaryDirectory(in: isUsable ? memory : nil)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something inside.
    ///
    /// - Parameter name: relative.
    /// - Returns: the whole path.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file inside.
    ///
    /// - Parameters:
    ///   - text: the content.
    ///   - name: relative; missing directories are made.
    /// - Returns: its path.
    /// - Throws: the system's error.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Writes a file inside.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - name: relative; missing directories are made.
    /// - Returns: its path.
    /// - Throws: the system's error.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let url = URL(filePath: file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
