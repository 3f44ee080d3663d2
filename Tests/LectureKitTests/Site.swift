import Foundation
import LectureTestSupport

/// A directory to serve, and a place for a store, both new and gone with the test.
final class Site {
    let directory: TemporaryDirectory
    let root: String
    var store: String { "\(directory.path)/store" }

    init() throws {
        directory = try TemporaryDirectory()
        root = "\(directory.path)/site"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    /// Makes a file of random bytes.
    func file(_ name: String, bytes count: Int) throws -> Data {
        var generator = SystemRandomNumberGenerator()
        var bytes = Data(capacity: count)
        while bytes.count < count {
            unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0.prefix(count - bytes.count)) }
        }
        try bytes.write(to: URL(filePath: "\(root)/\(name)"))
        return bytes
    }
}
