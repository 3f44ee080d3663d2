import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

extension Site {
    /// A manager with the test's own device key.
    func streamer(_ change: (inout LectureConfiguration) -> Void = { _ in }) throws -> LectureManager {
        try manager { configuration in
            configuration.deviceDirectory = "\(directory.path)/device"
            configuration.stallTimeout = .seconds(20)
            change(&configuration)
        }
    }

    /// The files below the store's cache, relative to it, with their lengths.
    func cacheFiles() throws -> [String: Int] {
        let cache = "\(store)/cache"
        var found: [String: Int] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: cache) ?? .init() {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(cache)/\(name)")
            if attributes[.type] as? FileAttributeType == .typeRegular { found[name] = attributes[.size] as? Int }
        }
        return found
    }
}

/// Collects the bytes of a read.
final class Basket: Sendable {
    private let held = Guarded(Data())

    var data: Data { held.withLock { $0 } }

    func take(_ bytes: [UInt8]) { held.withLock { $0.append(contentsOf: bytes) } }
}

extension LectureStream {
    /// Reads into memory.
    func data(_ range: Range<Int64>? = nil) async throws -> Data {
        let basket = Basket()
        try await read(range: range) { basket.take($0) }
        return basket.data
    }
}

extension SandboxOrigin {
    /// The bytes of a lecture, by another client.
    func bytes(of path: String) async throws -> Data {
        let ending = try await ChildProcess.run("/usr/bin/curl", ["-sf", "\(http)\(path)"])
        try #require(ending.status == 0)
        return ending.output
    }
}

/// The errors that a manager reports.
final class StoreFailures: Sendable {
    private let held = Guarded<[LectureError]>([])

    var codes: [LectureError.Code] { held.withLock { $0.map(\.code) } }

    init(_ manager: LectureManager) {
        let held = held
        manager.observe { _, event in
            if case .trouble(let error) = event { held.withLock { $0.append(error) } }
        }
    }
}
