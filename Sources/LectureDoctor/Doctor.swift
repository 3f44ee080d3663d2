public import LectureKit
import LectureModel

/// Examines an installation: its configuration, store, disk, device key and clock, and the servers that it needs.
///
/// Nothing is changed: a missing store and key are not made, an older store is not migrated. The servers are asked for
/// their root, all at the same time, without credentials.
public struct Doctor: Sendable {
    /// The settings of the installation.
    public var configuration: LectureConfiguration
    /// The configuration file that they come from; nil when there is none.
    public var file: String?
    /// Further servers to ask: http or https URLs.
    public var servers: [String] = []
    /// Whether servers are asked.
    public var asksServers = true
    /// How long a server may take to answer.
    public var limit: Duration = .seconds(10)
    /// How many servers of the store are asked: those that most depend on.
    public var mostServers = 32

    /// Creates a doctor.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the installation.
    ///   - file: the configuration file that they come from.
    public init(_ configuration: LectureConfiguration, file: String? = nil) {
        (self.configuration, self.file) = (configuration, file)
    }

    /// Examines everything.
    ///
    /// - Parameter clock: the wall clock.
    /// - Returns: what is known; ``Examination/findings`` has what follows from it.
    /// - Throws: `LectureError` with `urlInvalid` or `urlScheme` for one of ``servers``; `CancellationError` when the
    ///   task is cancelled.
    public func examine(clock: @escaping @Sendable () -> Timestamp) async throws -> Examination {
        let named = try servers.map { url throws(LectureError) in try StoreServer(use: .media, url: url) }
        var examination = Examination(now: clock())
        examination.configurationFile = file
        examination.mistakes = file.map { LectureConfiguration.mistakes(inFile: $0) } ?? []
        examination.storeDirectory = configuration.storeDirectory
        examination.deviceDirectory = configuration.deviceDirectory
        examination.asksServers = asksServers
        if let directory = configuration.deviceDirectory {
            do throws(LectureError) {
                examination.device = .success(try DeviceHome(directory: directory).presentIdentity())
            } catch { examination.device = .failure(error) }
        }
        var known: [StoreServer]
        (examination.store, known) = await openStore()
        guard asksServers else { return examination }
        known = Array(known.prefix(mostServers))
        known += named.filter { named in !known.contains { $0.origin == named.origin } }
        examination.contacts = try await contacts(known, clock: clock)
        return examination
    }

    private func openStore() async -> (Examination.Store, [StoreServer]) {
        let directory = configuration.storeDirectory
        guard StoreTools.exists(directory) else { return (.missing, configuredServers()) }
        do throws(LectureError) {
            let pending = try StoreTools.facts(of: directory).pending
            guard pending.isEmpty else { return (.old(pending), configuredServers()) }
            // Its endpoints follow the configuration when something works with it.
            var configuration = configuration
            configuration.webhooks = nil
            let manager = try LectureManager(configuration)
            let result: (Examination.Store, [StoreServer])
            do throws(LectureError) {
                let figures = Examination.Figures(
                    metrics: try await manager.metrics(courses: 0), objection: try await manager.licenceObjection(),
                    judged: try? await manager.licences.time(), readOnly: await manager.whyReadOnly)
                result = (.open(figures), try await manager.servers())
            } catch {
                result = (.refused(error), configuredServers())
            }
            await manager.close()
            return result
        } catch {
            return (.refused(error), configuredServers())
        }
    }

    private func configuredServers() -> [StoreServer] {
        let url = configuration.statistics.target?.url
        return [try? url.map { url throws(LectureError) in try StoreServer(use: .reports, url: url) }].compactMap {
            $0 ?? nil
        }
    }

    private func contacts(
        _ servers: [StoreServer], clock: @escaping @Sendable () -> Timestamp
    ) async throws -> [Examination.Contact] {
        try await withThrowingTaskGroup(of: (Int, Examination.Contact).self) { group in
            for (place, server) in servers.enumerated() {
                group.addTask { [configuration, limit] in
                    do {
                        let answer = try await configuration.contact(server.origin, within: limit)
                        return (place, Examination.Contact(server, .success(answer), at: clock()))
                    } catch let error as LectureError {
                        return (place, Examination.Contact(server, .failure(error), at: clock()))
                    }
                }
            }
            var found: [(Int, Examination.Contact)] = []
            for try await one in group { found.append(one) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
