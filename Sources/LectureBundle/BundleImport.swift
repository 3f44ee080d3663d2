public import LectureKit
public import LectureModel

/// The import of a bundle: a source of lectures that downloads take in place of servers.
///
/// ```swift
/// let source = try BundleImport("algebra.tar", trusting: ["office.jwk"], device: DeviceHome(directory: directory))
/// var configuration = LectureConfiguration(storeDirectory: store)
/// source.apply(to: &configuration)
/// let manager = try LectureManager(configuration)
/// _ = try await manager.downloads.enqueue(source.requests)
/// try await manager.downloads.waitUntilIdle()
/// ```
///
/// So an import has the order of writes, the proofs, the limits, the events and the recovery of a download. Lectures
/// that need a licence ask their licence server.
public struct BundleImport: Sendable {
    /// The bundle, whose signer is trusted.
    package let bundle: BundleReader
    private let shelf: BundleShelf
    /// Lectures at once, unless another number was set.
    private static let jobs = 2

    /// Opens a bundle: verifies its signature and its list, and opens it with the device's key.
    ///
    /// - Parameters:
    ///   - path: the bundle, a regular file.
    ///   - keyFiles: files with public keys (JWK or JWK sets) whose bundles are trusted, beside the device's own.
    ///   - device: where the device's key is kept; it is created when there is none.
    ///   - keys: the lectures that are wanted; nil for all.
    /// - Throws: ``LectureError``: `readFile`, `bundleRefused`, `bundleNewer`, `bundleSignature`, `bundleDamaged`;
    ///   `bundleUntrusted`, `bundleNotForDevice`; `unknownContent` for a wanted lecture that is not in it;
    ///   `configuration` for a file that has no key.
    public init(
        _ path: String, trusting keyFiles: [String], device: DeviceHome, only keys: Set<ContentKey>? = nil
    ) throws(LectureError) {
        bundle = try BundleReader(path: path)
        var trusted: Set = [try device.identity().playerID]
        for file in keyFiles { trusted.formUnion(try BundleFiles.trusted(file)) }
        try bundle.requireTrust(in: trusted)
        shelf = try BundleShelf(bundle, key: try bundle.key(for: try device.key()), only: keys)
    }

    /// What to request of the library, in the order of the bundle.
    public var requests: [DownloadRequest] { shelf.requests }

    /// What could not be read so far: damaged chunks by name, and a medium that fails, each once.
    public var failures: [LectureError] { shelf.failures }

    /// Has a manager take the lectures from the bundle, with one connection for each, since a disk that is carried
    /// about is read fastest from start to end. Where the number of lectures at once was not set it is two, so that one
    /// is read while the other is written; each further one takes some 4 MiB of memory.
    ///
    /// - Parameter configuration: of the manager that is to be opened.
    public func apply(to configuration: inout LectureConfiguration) {
        configuration.nearby = shelf
        configuration.connections = 1
        if configuration.chosenJobs == nil { configuration.jobs = Self.jobs }
    }
}
