import Foundation
import LectureCrypto
package import LectureDownload
import LectureFormats
package import LectureModel
package import LectureStore
import LectureTestSupport

/// A world with its network, its disk and a store in a real SQLite database, in which programs run.
package final class Scene {
    /// Time and randomness.
    package let world: VirtualWorld
    /// All servers.
    package let network = ScriptedNetwork()
    /// The disk.
    package let disk: MemoryDisk
    /// Where the store lies.
    package let location: StoreLocation
    /// The store, for requests from outside.
    package let index: SQLiteDownloadIndex
    /// The settings of the next program.
    package var settings = DownloadSettings()
    /// The running program.
    package private(set) var program: Program
    private var programs = 1
    private let place: Surroundings
    /// Which media is sealed.
    package var seals: WorldSealing { place.seals }
    private let directory: TemporaryDirectory

    /// Makes a world with a new store and a program that runs in it.
    ///
    /// - Parameters:
    ///   - seed: the same one brings the same run.
    ///   - settings: the settings of the program.
    ///   - seals: whether media is sealed.
    /// - Throws: an error of the store.
    package init(
        seed: UInt64 = 1, settings: DownloadSettings = DownloadSettings(), seals: Bool = false
    ) throws {
        world = VirtualWorld(seed: seed)
        directory = try TemporaryDirectory.inMemory()
        location = try StoreLocation.copied(to: directory.file("store"))
        index = try SQLiteDownloadIndex(opening: location, now: world.now)
        let digests = try OpenSSLDigests(proofKey: try index.identity().proofKey)
        disk = MemoryDisk(world: world, digests: digests)
        self.settings = settings
        place = Surroundings(
            world: world, network: network, disk: disk, location: location, seals: WorldSealing(isOn: seals))
        program = try Program(Life(program: 1), in: place, settings)
    }

    /// Registers a request and puts it into the running program's run.
    ///
    /// - Parameters:
    ///   - url: the source.
    ///   - isGateway: whether it is a gateway's link.
    ///   - change: changes the request before it is registered.
    /// - Returns: the lecture's key.
    /// - Throws: an error of the store.
    @discardableResult
    package func want(
        _ url: String, isGateway: Bool = false, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> ContentKey {
        var request = DownloadRequest(url: url)
        change(&request)
        let identity = Array(url.utf8)
        let registered = try index.requests.enqueue(
            request, source: RequestSource(derivedKey: try ContentKey(url), identity: identity, isGateway: isGateway),
            check: .list, now: world.now)
        try index.owners.join(program.run, content: registered.id)
        program.setNeedsStep()
        return registered.key
    }

    /// The running program is killed, and another replaces it.
    package func crash(powerCut: Bool = false) throws {
        world.kill(program: program.number)
        let dead = program.owner
        programs += 1
        if powerCut { disk.cutPower() } else { disk.close(program: program.number) }
        try index.owners.dismissOwner(dead, now: world.now)
        program = try Program(Life(program: programs), in: place, settings)
        _ = try index.owners.joinUnfinished(program.run)
    }

    /// A second program on the same store, in the same world.
    package func another() throws -> Program {
        programs += 1
        let other = try Program(Life(program: programs), in: place, settings)
        _ = try index.owners.joinUnfinished(other.run)
        return other
    }

    /// A lecture as the store has it.
    package func content(_ key: ContentKey) throws -> Content? { try index.contents.item(key)?.content }

    /// The finished bytes of a lecture; nil when it is not complete.
    package func bytes(_ key: ContentKey) throws -> [UInt8]? {
        guard let item = try index.contents.item(key), item.content.state == .completed,
            let version = item.currentVersion,
            let media = try index.versions.resources(version).first
        else { return nil }
        return disk.files[media.path]
    }

    /// Contradictions between the store and the disk; none when all is well.
    package func contradictions() throws -> [String] {
        // The keys of this world's sealed files are in its memory and not in the store.
        let keyless = "a sealed file is verified but its lecture has no key"
        var found = world.findings + (try StoreMaintenance.check(location)).filter { !$0.hasPrefix(keyless) }
        let queries = try SQLiteContentQueries(opening: location)
        for content in try queries.contents(ContentFilter(), sort: .title, page: ContentPage()) {
            guard let item = try index.contents.item(content.key), let version = item.currentVersion else { continue }
            for resource in try index.versions.resources(version) where resource.state == .finalized {
                let cipher = resource.seal == .plain ? nil : try seals.cipher(for: item, role: resource.role)
                let damaged = try? disk.verify(
                    path: resource.path, resource: resource.id, total: resource.total ?? 0, grid: resource.grid,
                    cipher: cipher, proofs: try index.resources.chunks(resource.id), pace: { _ in true })
                if resource.seal == .open { found.append("\(content.key): \(resource.path) stands and is not clean") }
                if damaged != [] { found.append("\(content.key): \(resource.path) is missing or damaged") }
                if resource.committedBytes != resource.total { found.append("\(content.key): counted bytes differ") }
            }
        }
        return found
    }

    // MARK: Time

    /// Lets the running program work until it is idle.
    package func rest(within longest: Duration = .seconds(7200)) throws {
        try run(within: longest) { try self.program.isIdle(in: self.index, at: self.world.now) }
    }

    /// Lets the running program work until a condition is true.
    package func run(within longest: Duration = .seconds(7200), until isReached: () throws -> Bool) throws {
        let end = world.boot + longest.nanosecondCount
        while world.boot < end {
            program.stepIfDue()
            if try isReached() { return }
            advance([program])
        }
        world.found("did not come to its end within \(longest)")
    }

    /// Lets the running program work for some time.
    package func work(for time: Duration) {
        let end = world.boot + time.nanosecondCount
        while world.boot < end {
            program.stepIfDue()
            advance([program])
        }
    }

    /// Advances time to the next due event.
    package func advance(_ running: [Program]) {
        let due = running.compactMap(\.next).min() ?? Int64.max
        let next = min(due, world.nextHappening ?? .max)
        guard next < .max else { return world.pass(to: world.boot + 1_000_000_000) }
        // Events within some milliseconds are handled together, as on a busy machine.
        world.pass(to: max(next, world.boot + 4_000_000))
    }
}
