import Dispatch
import LectureCrypto
import LectureDownload
import LectureEngine
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore
import LectureXML

/// The active part of downloading: the engine with its ports, and the callers waiting for it to become idle.
///
/// Created with the first download and not before, so that a list or a query starts no thread and no network.
///
/// `@unchecked Sendable`: every method but `wake` must be called on the core queue, where the host runs its steps.
final class DownloadService: LoopService, @unchecked Sendable {
    let engine: DownloadEngine
    let index: SQLiteDownloadIndex
    let run: RunID
    /// Whether complete lectures are being compared with their sources.
    var isChecking: () -> Bool = { false }
    /// Receives a complete lecture that a link led to, with the digest to compare, if there is one.
    var linkLedTo: (ContentID, [UInt8]?) -> Void = { _, _ in }
    /// This program's registration at the store.
    var session: StoreSession { host.session }
    var owner: OwnerID { session.owner }
    private let host: EngineHost
    private var stopWaiters = StopWaiters()
    private var idleWaiters: [IdleWaiter] = []
    /// Changes made by other processes.
    private var follower = Follower()

    /// A caller that waits until the engine is idle.
    private struct IdleWaiter {
        var longestWait: Duration
        var deadline: BootInstant?
        var waiter: Waiter<Bool>
    }

    /// Creates the engine, and adds its machine to the loop.
    ///
    /// - Throws: ``LectureError``: `configuration` for settings that cannot be used, or a store's code.
    init(
        _ configuration: LectureConfiguration, index: SQLiteDownloadIndex, files: any PartFiles,
        digests: any DigestMaker, seals: any ContentSealing, licensing: any DownloadLicensing, host: EngineHost,
        hearsOthers: Bool
    ) throws {
        (self.index, self.host) = (index, host)
        var settings = try configuration.downloadSettings()
        settings.hearsOthers = hearsOthers
        let (session, inbox): (StoreSession, Inbox<EngineEvent>) = (host.session, host.inbox())
        run = try index.owners.beginRun(owner: session.owner, command: configuration.programName, now: host.clock.now())
        let ports = DownloadEngine.Ports(
            transport: session.transport, files: files, digests: digests, xml: LibXMLReader(),
            blocks: OpenSSLBlocks(), clock: host.clock, offload: DispatchOffload(inbox: inbox),
            resolver: ClosureResolver(resolve: configuration.resolver, inbox: inbox),
            licensing: licensing, seals: seals)
        engine = DownloadEngine(
            ports: ports, settings: settings, owner: session.owner, run: run, inbox: inbox, in: host.loop)
        engine.start()
        host.serve(self)
    }

    // MARK: Steps

    /// Runs a step soon. From any thread.
    func wake() { host.wake() }

    /// Starts what was requested.
    ///
    /// - Parameter count: how many lectures; for none no connection has to be made.
    func startRequested(_ count: Int) {
        if count > 0 { session.prepareRequests() }
        engine.setNeedsStep()
        wake()
    }

    /// What the next step finds.
    var traffic: StepTimer.Traffic {
        StepTimer.Traffic(exchanges: engine.exchangeCount, events: engine.inbox.count)
    }

    var isStopped: Bool { stopWaiters.isStopped }

    func finishStep() {
        let step = engine.take()
        for effect in step.effects { engine.perform(effect) }
        for notice in step.notices { notify(notice) }
        if let observation = session.observation {
            observation.fetched(engine.statistics.bytesFetched, isExact: engine.activeCount == 0)
            observation.active(engine.progressOfActive.count)
        }
        reportFollowed()
        answerIdleWaiters()
    }

    private func notify(_ notice: EngineNotice) {
        switch notice {
        case .event(let event): publish(event)
        case .changed(let item, let event):
            follower.reported(item.id, item.content)
            publish(event)
        case .alreadyComplete(let id, let digest): linkLedTo(id, digest)
        case .failure(let error): publish(.trouble(error))
        case .stopped: finishStop()
        }
    }

    private func publish(_ event: LectureEvent) {
        guard case .removed(let key) = event else { return host.hub.send(event) }
        follower.forget(key)
        host.hub.send(event)
        host.licences?.engine.contentRemoved(key)
    }

    // MARK: Lectures that other processes work on

    /// Reports changes of a lecture from now on, also when another process works on it.
    ///
    /// - Parameter content: the lecture.
    /// - Throws: ``LectureError`` when the store cannot be read.
    func follow(_ content: ContentID) throws {
        guard let item = try index.contents.item(content) else { return }
        follower.add(content, item.content)
    }

    /// Reports what other processes have changed since the last check, at most four times a second.
    private func reportFollowed() {
        guard !follower.isIdle, follower.isDue(host.clock.boot()), let version = try? index.dataVersion(),
            follower.isNews(version)
        else { return }
        for (id, key) in follower.lectures where !engine.isWorking(on: id) {
            let row: ItemRecord?
            do { row = try index.contents.item(id) } catch { continue }
            for change in follower.changes(of: id, key, row?.content) {
                switch change {
                case .gone: host.hub.send(.removed(key))
                case .state(let content): host.hub.send(LectureEvent(content))
                case .bytes(let content):
                    var progress = DownloadProgress(key: key, title: content.title, state: content.state)
                    (progress.bytes, progress.total) = (content.committedBytes, content.totalBytes)
                    host.hub.send(.progress(progress))
                }
            }
        }
    }

    /// Sets the timeout and retries from the next request on.
    func usePatience(_ configuration: LectureConfiguration) {
        var settings = engine.settings
        (settings.stallTimeout, settings.maxAttempts) = (configuration.stallTimeout, configuration.maxAttempts)
        engine.configure(settings)
    }

    // MARK: Waiting until idle

    /// Waits until nothing of the run will progress within `longestWait`, or the deadline has passed.
    ///
    /// The result is whether it became idle before the deadline.
    func waitUntilIdle(longestWait: Duration, deadline: BootInstant?, _ waiter: Waiter<Bool>) {
        guard !stopWaiters.isStopped else {
            waiter.answer(false)
            return
        }
        idleWaiters.append(IdleWaiter(longestWait: longestWait, deadline: deadline, waiter: waiter))
        wake()
    }

    /// The caller stops waiting; the work continues.
    func forget(_ waiter: Waiter<Bool>) { idleWaiters.removeAll { $0.waiter === waiter } }

    private func answerIdleWaiters() {
        guard !idleWaiters.isEmpty else { return }
        let boot = host.clock.boot()
        var left: [IdleWaiter] = []
        for waiter in idleWaiters {
            if let deadline = waiter.deadline, boot >= deadline {
                waiter.waiter.answer(false)
            } else if isIdle(longestWait: waiter.longestWait) {
                waiter.waiter.answer(true)
            } else {
                left.append(waiter)
            }
        }
        idleWaiters = left
    }

    /// Whether nothing of the run progresses, or will by itself within `longestWait`.
    ///
    /// Delays requested by a server and the timetable are waited for; a network that is down, a full disk and an
    /// exhausted quota are not: they are reported, and the next run continues.
    private func isIdle(longestWait: Duration) -> Bool {
        guard engine.activeCount == 0 else { return false }
        // A store that cannot be written for seconds is like a full disk: reported, and left to the next run.
        if engine.isFailing { return true }
        // Until then nothing counts as queued: the items are leased but not being worked on.
        if engine.isRecovering { return false }
        // For example, a server is being notified that a download is complete.
        if host.licences?.isBusy == true { return false }
        if isChecking() { return false }
        do {
            guard try !index.owners.hasQueued(run: run),
                try index.owners.leasedElsewhere(run: run, owner: owner) == 0
            else { return false }
            guard try index.owners.nextDue(run: run) != nil else { return true }
            let now = host.clock.now()
            return try !index.owners.contents(run, state: .stopped, limit: 100_000).contains { content in
                switch content.stopReason {
                case .schedule: true
                case .serverWait, .dependency: try passes(content, within: longestWait, now: now)
                case .user, .network, .space, .licenceRefused, .quota, nil: false
                }
            }
        } catch {
            // The engine itself reports a store that cannot be read; waiting continues.
            return false
        }
    }

    /// Whether a lecture's wait will be over soon enough.
    private func passes(_ content: Content, within longestWait: Duration, now: Timestamp) throws -> Bool {
        guard let due = content.nextAttempt else { return false }
        if due <= now + longestWait { return true }
        let start = try index.contents.item(content.key)?.waitSet ?? now
        return RetryWait(setAt: start, due: due).remaining(at: now) <= longestWait
    }

    // MARK: Stopping

    /// Ends all work cleanly.
    func stop(_ continuation: CheckedContinuation<Void, Never>) {
        if stopWaiters.wait(continuation, for: self) { engine.stop() }
    }

    private func finishStop() {
        guard stopWaiters.stopped() else { return }
        for waiter in idleWaiters { waiter.waiter.answer(false) }
        idleWaiters = []
        stopWaiters.resume()
    }
}

/// Runs blocking work on Dispatch's own threads.
struct DispatchOffload: WorkOffload {
    let inbox: Inbox<EngineEvent>
    private let queue = DispatchQueue(label: "lecturekit.offload", qos: .utility, attributes: .concurrent)

    init(inbox: Inbox<EngineEvent>) { self.inbox = inbox }

    func run(_ work: @escaping @Sendable () -> EngineEvent) {
        queue.async { [inbox] in inbox.post(work()) }
    }
}

/// Asks the application's closure for new URLs.
struct ClosureResolver: URLResolver {
    let resolve: LectureConfiguration.URLResolver?
    let inbox: Inbox<EngineEvent>

    var isPresent: Bool { resolve != nil }

    func resolve(_ content: ContentID, key: ContentKey, sourceURL: String) {
        guard let resolve else { return }
        Task { [inbox] in
            do {
                let urls = try await resolve(key, sourceURL)
                inbox.post(.resolved(content, urls: urls, nil))
            } catch {
                let reason = error as? LectureError ?? LectureError(.status(403), cause: "the resolver failed")
                inbox.post(.resolved(content, urls: [], reason))
            }
        }
    }
}
