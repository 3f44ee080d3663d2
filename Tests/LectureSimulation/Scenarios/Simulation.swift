import LectureCrypto
import LectureDownload
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport

/// Runs one scenario: the real engine and the real store in a simulated world, with all its faults.
///
/// Confined to one thread; one per thread may run at once.
package final class Simulation {
    /// The result of a scenario.
    package struct Outcome: Sendable {
        /// Violated invariants, as sentences; none when all is well.
        package var findings: [String]
        /// Steps of engines.
        package var steps: Int
        /// Actions of programs.
        package var actions: Int
        /// Programs that ran.
        package var programs: Int
        /// Requests for media.
        package var requests: Int
        /// The run's length, in virtual seconds.
        package var seconds: Int
        /// A hash of the whole run, equal for every run of the same scenario.
        package var fingerprint: UInt64
    }

    let scenario: Scenario
    let world: VirtualWorld
    let network = ScriptedNetwork()
    let servers: Servers
    /// The licence server and the learning management system.
    let partners: PartnerServers
    /// The reports of the world that are stored, by their ids.
    var reports: Set<String> = []
    let disk: MemoryDisk
    var place: Surroundings
    /// The store as seen from outside.
    var onlooker: SQLiteDownloadIndex
    var onlookerConnection: Connection
    var blocker: Connection?
    var programs: [Program] = []
    var watch: Watch
    var expectedDigest: [Int: [UInt8]] = [:]
    /// Changed requests and other disturbances of a lecture's work since the last death.
    var interruptions = 0
    /// Bytes that a lecture had committed when the last program died, and that were delivered until then.
    var sinceDeath: [Int: (committed: Int, delivered: Int)] = [:]
    private let files: StoreFiles
    private var started = 0
    private var deathsUsed = 0
    /// Scheduled actions of the world.
    private var waiting = 0
    private var steps = 0

    /// Prepares a scenario.
    ///
    /// - Parameters:
    ///   - scenario: the scenario to run.
    ///   - story: receives the trace line by line; nil for no trace.
    /// - Throws: an error of the store.
    package init(_ scenario: Scenario, story: ((String) -> Void)? = nil) throws {
        self.scenario = scenario
        world = VirtualWorld(seed: scenario.seed)
        world.story = story
        files = try StoreFiles()
        let location = try files.fresh()
        onlookerConnection = try ConnectionPool.open(location)
        onlooker = SQLiteDownloadIndex(connection: onlookerConnection)
        let digests = try OpenSSLDigests(proofKey: try onlooker.identity().proofKey)
        disk = MemoryDisk(world: world, digests: digests)
        disk.syncsAfter = UInt64(scenario.work.groupBytes)
        servers = Servers(scenario, world: world)
        partners = PartnerServers(world)
        place = Surroundings(world: world, network: network, disk: disk, location: location)
        place.census.isKept = true
        if scenario.work.isWhole == true { place.partners = try Partners() }
        watch = Watch(world: world, servers: servers, disk: disk)
        if let seconds = scenario.work.closesAfter {
            // So many seconds before six o'clock.
            world.clock.wallAtBoot = 1_700_006_400_000 - Int64(seconds) * 1000 - 1000
        }
        wire()
    }

    deinit { files.remove() }

    private func wire() {
        network.answering = { [unowned self] request, program in
            watch.asked(request, by: program)
            return partners.answer(to: request) ?? servers.answer(to: request)
        }
        network.onBytes = { [unowned self] request, count in
            if let lecture = servers.lecture(of: request.url) { servers.served[lecture].delivered += count }
        }
        network.onHead = { [unowned self] program, request, answer in
            watch.heard(request, answer, of: program)
        }
        disk.onDelete = { [unowned self] path in watch.deletes(path, onlookerConnection) }
        var counts: [DiskOperation: Int] = [:]
        disk.fault = { [unowned self] operation, path in
            counts[operation, default: 0] += 1
            let number = counts[operation] ?? 0
            for fault in scenario.diskFaults where fault.operation == operation {
                guard (fault.number..<fault.number + fault.count).contains(number) else { continue }
                world.record("    the disk refuses to \(operation) \(path)")
                watch.hasDiskFailed = true
                return LectureError(fault.isFull ? .storageFull : .writeFile, cause: "scripted")
            }
            return nil
        }
    }

    // MARK: The run

    /// Runs the scenario.
    ///
    /// - Returns: its result.
    /// - Throws: an error of the store that was not injected.
    package func run() throws -> Outcome {
        for number in scenario.lectures.indices { want(number) }
        for request in scenario.requests { later(request.at) { [unowned self] in carryOut(request) } }
        for fault in scenario.storeFaults { schedule(fault) }
        for step in scenario.clockSteps {
            later(step.at) { [unowned self] in
                world.clock.wallAtBoot =
                    step.by.map { world.clock.wallAtBoot + Int64($0) * 1000 } ?? -world.boot / 1_000_000
                watch.clockWasSet()
                world.record("    the clock is set to \(world.now.milliseconds / 1000)")
            }
        }
        if scenario.work.isWhole == true { scheduleReports() }
        for _ in 0..<scenario.work.programs { start() }
        try work()
        if world.findings.isEmpty { try end() }
        if world.findings.isEmpty { try Judge(simulation: self).judge() }
        return Outcome(
            findings: world.findings, steps: steps, actions: world.lives.values.reduce(0) { $0 + $1.actions },
            programs: started, requests: servers.served.reduce(0) { $0 + $1.requests },
            seconds: Int(world.boot / 1_000_000_000), fingerprint: fingerprint())
    }

    func later(_ milliseconds: Int, _ work: @escaping () -> Void) {
        waiting += 1
        world.after(.milliseconds(milliseconds)) { [unowned self] in
            waiting -= 1
            work()
        }
    }

    private func work() throws {
        while try !isIdle() {
            guard mayContinue() else { return }
            turn()
        }
    }

    private func turn() {
        for program in programs {
            program.stepIfDue()
            watch.stepped(program)
            removeDead()
        }
        steps += 1
        advance()
    }

    /// The bounds of liveness: a run that does not become idle is a finding.
    private func mayContinue() -> Bool {
        if !world.findings.isEmpty { return false }
        if steps > 20_000 { world.found("no rest after \(steps) steps") }
        if world.boot > 4 * 3600 * 1_000_000_000 { world.found("no rest after four hours") }
        return world.findings.isEmpty
    }

    private func advance() {
        let due = programs.compactMap(\.next).min()
        let happening = world.nextHappening
        guard let due else { return world.pass(to: max(happening ?? 0, world.boot + 1_000_000)) }
        if let happening, happening < due { return world.pass(to: max(happening, world.boot + 4_000_000)) }
        // When only polling is due a machine may be late; hours of it would be simulated step by step.
        let isIdle = programs.allSatisfy { $0.transport.runningCount == 0 }
        let late = isIdle ? Int64(world.some(0...(programs.allSatisfy { $0.engine.activeCount == 0 } ? 6000 : 700))) : 0
        let moment = max(due, world.boot + 4_000_000) + late * 1_000_000
        world.pass(to: min(moment, max(happening ?? .max, world.boot + 4_000_000)))
    }

    /// Whether all is idle, and stays so for an hour.
    private func isIdle() throws -> Bool {
        guard waiting == 0 else { return false }
        // A program that has not made a step yet does not know its work.
        guard programs.allSatisfy({ $0.lastStep > 0 && $0.engine.activeCount == 0 && $0.transport.runningCount == 0 })
        else {
            return false
        }
        guard place.storeFault.kind == nil, try areCompanionsIdle() else { return false }
        let leased = try onlookerConnection.first("SELECT count(*) FROM content WHERE lease_owner IS NOT NULL") {
            $0.int(0)
        }
        guard leased == 0, try onlooker.contents.contentsToRemove(limit: 1).isEmpty else { return false }
        // A server that asked for a year is not awaited, nor one that never comes back.
        let isLate = world.boot > 1200 * 1_000_000_000 && servers.neverComes
        if isLate { return true }
        let latest = servers.hasAskedForAYear ? world.now + .seconds(3600) : Timestamp(milliseconds: .max)
        return try programs.allSatisfy { program in
            try onlooker.owners.nextDue(run: program.run).map { $0 > latest } ?? true
        }
    }

    // MARK: Programs

    private func settings() -> DownloadSettings {
        var settings = DownloadSettings()
        settings.jobs = scenario.work.jobs
        settings.connections = scenario.work.connections
        settings.groupInterval = .milliseconds(scenario.work.groupMilliseconds)
        settings.rateLimit = scenario.work.rateLimit
        if scenario.work.closesAfter != nil { settings.timetable = try? Timetable("00:00-00:01=off,else=full") }
        return settings
    }

    /// A program starts; one that cannot is started again a second later, as a user would do.
    private func start() {
        started += 1
        var doom: Life.Doom?
        if deathsUsed < scenario.deaths.count {
            let death = scenario.deaths[deathsUsed]
            doom = Life.Doom(action: death.action, isAfter: death.isAfter)
        }
        let life = Life(program: started, doom: doom)
        life.death = doom == nil ? nil : scenario.deaths[deathsUsed]
        if doom != nil { deathsUsed += 1 }
        do {
            let program = try Program(life, in: place, settings())
            if scenario.lectures.contains(where: { $0.source == .resolver }) {
                program.resolver.answering = { [unowned self] url in servers.resolve(url) }
            }
            program.store.onCommit = { [unowned self, unowned program] writes in
                try watch.committed(writes, by: program)
            }
            program.onNotices = { [unowned self, unowned program] reported in
                try watch.reported(reported, by: program)
            }
            _ = try program.store.use {
                try program.index.transaction { try $0.index.owners.joinUnfinished(program.run) }
            }
            programs.append(program)
        } catch {
            if world.isAlive(life.program) {
                world.record("    \(life.program) cannot start: \(error)")
                world.kill(program: life.program)
                life.death = nil
                place.census.dismiss(program: life.program)
                later(1000) { [unowned self] in start() }
            } else {
                removeDead(life)
            }
        }
    }

    /// Programs that died in this step are removed, and others start.
    private func removeDead() {
        while let program = programs.first(where: { !world.isAlive($0.number) }) {
            guard let life = world.lives[program.number] else { return }
            programs.removeAll { $0 === program }
            place.connections.giveBack(program.connection)
            removeDead(life)
        }
    }

    private func removeDead(_ life: Life) {
        place.census.dismiss(program: life.program)
        disk.close(program: life.program)
        watch.died(life.program)
        guard let death = life.death else { return }
        var successors = 1
        if death.cutsPower {
            world.record("    THE POWER FAILS")
            for program in programs {
                successors += 1
                world.kill(program: program.number)
                place.census.dismiss(program: program.number)
                watch.died(program.number)
            }
            programs = []
            disk.cutPower()
            do { try restoreStore() } catch { world.found("the store cannot be opened after a power cut: \(error)") }
        }
        do { try recordDeath() } catch { world.found("the store cannot be read after a death: \(error)") }
        for _ in 0..<successors { later(death.pause) { [unowned self] in start() } }
    }

    private func recordDeath() throws {
        interruptions = 0
        watch.pauses = 0
        for number in scenario.lectures.indices {
            let committed = try item(number)?.content.committedBytes ?? 0
            sinceDeath[number] = (Int(committed), servers.served[number].delivered)
        }
        try watch.holdRowsAgainstDisk(onlooker, onlookerConnection)
    }

    /// The files as on the disk when the power fails: connections are not closed, and the next commit may be partly
    /// written.
    private func restoreStore() throws {
        let torn = world.chance(40) ? world.some(1...9000) : 0
        place.location = try files.survivors(of: place.location, tornBytes: torn)
        blocker = nil
        place.connections.forget()
        onlookerConnection = try StoreDatabase.openWriter(place.location, now: world.now).connection
        try onlookerConnection.run(script: "PRAGMA busy_timeout = 0")
        onlooker = SQLiteDownloadIndex(connection: onlookerConnection)
        files.removeFormer()
        if place.storeFault.kind == .busy { place.storeFault.kind = nil }
    }

    // MARK: Store failures

    private func schedule(_ fault: StoreFault) {
        later(fault.at) { [unowned self] in
            place.storeFault.kind = fault.kind
            place.storeFault.left = fault.count
            watch.hasStoreFailed = true
            if fault.kind == .busy {
                do {
                    let other = try Connection(path: onlookerConnection.path, access: .readWrite)
                    try other.run(script: "BEGIN IMMEDIATE")
                    blocker = other
                } catch {
                    world.record("    the store could not be locked: \(error)")
                }
            }
            later(fault.lasts) { [unowned self] in
                try? blocker?.run(script: "ROLLBACK")
                blocker = nil
                place.storeFault.kind = nil
            }
        }
    }

    // MARK: The end

    /// All programs end cleanly, and one more checks that no work is left. Lectures that stopped for the network, the
    /// disk or the quota are retried by any new program.
    private func end() throws {
        try stopAll()
        let isTriedAgain = try onlookerConnection.first(
            "SELECT 1 FROM content WHERE state = 5 AND desire = 0 AND stop_reason IN (?, ?, ?) LIMIT 1",
            StopReason.network, StopReason.space, StopReason.quota
        ) { _ in true }
        if isTriedAgain != nil { return }
        guard world.findings.isEmpty, !scenario.deaths.isEmpty || !scenario.requests.isEmpty || watch.hasStoreFailed
        else { return }
        let requests = network.requests.count
        deathsUsed = scenario.deaths.count
        start()
        try work()
        if network.requests.count > requests { world.found("a program found work where all had come to rest") }
        try stopAll()
    }

    /// Programs may die while they end; their successors have to become idle first.
    private func stopAll() throws {
        while !programs.isEmpty {
            let ending = programs
            for program in ending { program.stop() }
            while let program = programs.first(where: { program in ending.contains { $0 === program } }) {
                guard mayContinue() else { return }
                if try leave(program) { continue }
                turn()
            }
            try work()
        }
    }

    /// Removes a program that has ended; returns whether it has.
    private func leave(_ program: Program) throws -> Bool {
        guard program.isStopped else { return false }
        let reported = program.notices.count { if case .stopped = $0 { true } else { false } }
        if reported != 1 { world.found("a program reported its stop \(reported) times") }
        try onlooker.owners.dismissOwner(program.owner, now: world.now)
        programs.removeAll { $0 === program }
        place.census.dismiss(program: program.number)
        disk.close(program: program.number)
        place.connections.giveBack(program.connection)
        return true
    }

    private func fingerprint() -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ number: Int) { sum = (sum ^ UInt64(truncatingIfNeeded: number)) &* 0x100_0000_01B3 }
        add(steps)
        add(Int(world.boot))
        add(network.requests.count)
        add(network.delivered)
        for request in network.requests { add(Int(request.range?.first ?? 0)) }
        for life in world.lives.keys.sorted() { add(world.lives[life]?.actions ?? 0) }
        return sum
    }
}
