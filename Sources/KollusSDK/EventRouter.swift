import Foundation
import LectureKit
import LectureModel

/// Turns the library's events into the delegate's and the typed ones. Runs on the manager's queue.
struct EventRouter: Sendable {
    /// The storage's state: its tickets say which events the application waits for.
    let state: Guarded<StorageCore.State>
    let hub: EventHub<KollusEvent>
    let deliverer: Deliverer
    let players: PlayerRegistry

    private func notify(_ event: KollusEvent) { hub.send(event) }

    func route(_ event: LectureEvent, _ manager: isolated LectureManager) {
        state.withLock { $0.known.take(event) }
        switch event {
        case .queued(let content), .advanced(let content): moved(content, manager)
        case .progress(let progress): came(progress, manager)
        case .completed(let content): completed(content, manager)
        case .failed(let content): ended(content, isFinal: true, manager)
        case .stopped(let content): ended(content, isFinal: false, manager)
        case .removed(let key): removed(key)
        case .licenceGranted(let key): notify(.licenceGranted(key: key.text))
        case .licenceDeleted(let key): state.withLock { _ = $0.ordered.insert(key) }
        case .licenceExchange(let exchange):
            let reported = KollusExchange(
                server: exchange.server, items: exchange.items, answer: exchange.answer,
                error: exchange.error.map { KollusError($0) })
            notify(.licenceExchange(reported))
            players.send(.licenceExchange(reported))
            deliverer.post(.exchange(reported))
        case .renewalBegan(let total, _): notify(.renewalBegan(total: total))
        case .renewed(let key, let current, let count, let error):
            let error = error.map { KollusError($0) }
            notify(.renewed(key: key.text, current: current, count: count, error: error))
            deliverer.post(.renewal(current: current, count: count, error: error))
        case .renewalEnded(let report): notify(.renewalEnded(KollusRenewal(report)))
        case .reportExchange(let exchange):
            let reported = KollusReportExchange(exchange)
            notify(.reportsExchanged(reported))
            players.send(.reportsExchanged(reported))
            for data in exchange.data { deliverer.post(.report(data: data, answer: exchange.answer)) }
        case .trouble(let error): notify(.trouble(KollusError(error)))
        // A newer version of a complete lecture is queued with an event of its own.
        case .unchanged, .outdated, .checkFailed: break
        case .licenceEnded, .published, .publishingFailed, .reportsProgress, .reportsDelivered, .reportRefused,
            .reportObstacle, .reportsSent:
            break
        }
    }

    // MARK: Transfers

    private func picture(
        _ key: ContentKey, _ manager: isolated LectureManager, bytes: Int64? = nil, isEnding: Bool = false
    ) -> KollusContent? {
        guard let details = details(key, manager) else { return nil }
        return KollusContent(
            details, receivedBytes: bytes, lastError: state.withLock { $0.lastErrors[key] }, isEnding: isEnding)
    }

    /// Reads the details of a content, and keeps them for the progress that follows. A content whose row cannot be read
    /// is skipped; the library reports the error itself.
    private func details(_ key: ContentKey, _ manager: isolated LectureManager) -> ContentDetails? {
        let writes = try? manager.writesWithoutEvents()
        guard let details = (try? manager.detail(key)) ?? nil else { return nil }
        if let writes { state.withLock { $0.known.keep(details, after: writes, at: Timestamp(Date())) } }
        return details
    }

    /// A content at a moment of its download; nothing is read if the last details are still true.
    private func picture(_ progress: DownloadProgress, _ manager: isolated LectureManager) -> KollusContent? {
        let (key, writes) = (progress.key, try? manager.writesWithoutEvents())
        let (known, error) = state.withLock { state in
            (
                writes.flatMap { state.known.details(progress, after: $0, at: Timestamp(Date())) },
                state.lastErrors[key]
            )
        }
        guard let details = known ?? details(key, manager) else { return nil }
        return KollusContent(details, receivedBytes: progress.bytes, lastError: error)
    }

    /// Sends one event when a download is accepted: a short one may be over before the next.
    func notifyStarted(_ key: ContentKey, _ manager: isolated LectureManager) {
        guard let picture = details(key, manager).map({ KollusContent($0) }), !picture.downloaded else { return }
        state.withLock { state in
            state.tickets[key]?.percent = picture.downloadProgress
            state.tickets[key]?.bytes = picture.downloadSize
        }
        deliverer.post(.download(picture, error: nil, isFinal: false))
    }

    private func isSilent(_ key: ContentKey) -> Bool { state.withLock { $0.removed.contains(key) } }

    private func moved(_ content: Content, _ manager: isolated LectureManager) {
        guard hub.hasListeners, !isSilent(content.key), let picture = picture(content.key, manager) else { return }
        if content.state == .queued {
            let error = content.error.map { KollusError($0) }
            notify(.waiting(picture, error: error, until: content.nextAttempt?.date))
        } else {
            notify(.started(picture))
        }
    }

    private func came(_ progress: DownloadProgress, _ manager: isolated LectureManager) {
        let key = progress.key
        // Only forward: a file that has changed on its server restarts, but progress does not go back.
        let isNews = state.withLock { state -> Bool in
            guard var ticket = state.tickets[key], !ticket.isPaused, progress.bytes > ticket.bytes else { return false }
            ticket.bytes = progress.bytes
            state.tickets[key] = ticket
            return true
        }
        // Completion is reported by its own event.
        guard isNews || hub.hasListeners, !isSilent(key), progress.state != .completed,
            let now = picture(progress, manager), !now.downloaded
        else { return }
        notify(
            .progress(
                now,
                KollusProgress(
                    bytes: progress.bytes, total: progress.total, bytesPerSecond: progress.bytesPerSecond,
                    secondsLeft: progress.remaining?.seconds)))
        let isForward = state.withLock { state -> Bool in
            guard isNews, let percent = state.tickets[key]?.percent, now.downloadProgress >= percent else {
                return false
            }
            state.tickets[key]?.percent = now.downloadProgress
            return true
        }
        if isForward { deliverer.post(.download(now, error: nil, isFinal: false)) }
    }

    private func completed(_ content: Content, _ manager: isolated LectureManager) {
        let hadTicket = state.withLock { state in
            state.lastErrors[content.key] = nil
            // A cancel that was too late: the download completed, and that is its final event.
            let wasEnding = state.ending.removeValue(forKey: content.key) != nil
            return state.tickets.removeValue(forKey: content.key) != nil || wasEnding
        }
        guard !isSilent(content.key), let picture = picture(content.key, manager) else { return }
        notify(.completed(picture))
        if hadTicket { deliverer.post(.download(picture, error: nil, isFinal: true)) }
    }

    /// A content that stopped. A temporary stop is not final; any other is the final event of its download, and then it
    /// stays stopped until the application requests it again.
    private func ended(_ content: Content, isFinal: Bool, _ manager: isolated LectureManager) {
        let key = content.key
        if isSilent(key) { return }
        // It was cancelled: its other outcomes are not reported.
        if state.withLock({ $0.ending[key] != nil }) { return }
        if !isFinal {
            switch content.stopReason {
            case .schedule, .serverWait, .dependency, nil:
                guard hub.hasListeners, let picture = picture(key, manager) else { return }
                let error = content.error.map { KollusError($0) }
                return notify(.waiting(picture, error: error, until: content.nextAttempt?.date))
            case .user: return stoodStill(key, manager)
            case .network, .space, .licenceRefused, .quota: break
            }
        }
        let error = KollusError(content.error ?? LectureError(content.stopReason == .space ? .storageFull : .bug))
        let ticket = state.withLock { state in
            state.lastErrors[key] = error
            return state.tickets.removeValue(forKey: key)
        }
        // Without a ticket the download belongs to the library itself, or to another program.
        if ticket != nil, !isFinal { try? manager.pauseFetch(key) }
        guard let picture = picture(key, manager, bytes: ticket?.bytes) else { return }
        notify(isFinal ? .failed(picture, error) : .stopped(picture, error))
        if ticket != nil { deliverer.post(.download(picture, error: error, isFinal: true)) }
    }

    /// Paused or cancelled, by this storage or by another program.
    private func stoodStill(_ key: ContentKey, _ manager: isolated LectureManager) {
        guard let ticket = state.withLock({ $0.tickets[key] }) else { return }
        if ticket.isPaused {
            if let picture = picture(key, manager) { notify(.paused(picture)) }
            return
        }
        // A download that was requested meanwhile continues it.
        if (try? manager.isWanted(key)) != false { return }
        state.withLock { _ = $0.tickets.removeValue(forKey: key) }
        notifyCancelled(key, ticket, manager)
    }

    /// Sends the final event of a download that is being ended, if there is one.
    func notifyEnding(_ key: ContentKey, _ manager: isolated LectureManager) {
        guard let ticket = state.withLock({ $0.ending.removeValue(forKey: key) }) else { return }
        notifyCancelled(key, ticket, manager)
    }

    /// Sends the final event of a cancelled download. Its numbers are not lower than those reported before;
    /// `downloadStopSize` is what is on the disk.
    private func notifyCancelled(_ key: ContentKey, _ ticket: StorageCore.Ticket, _ manager: isolated LectureManager) {
        guard let picture = picture(key, manager, bytes: ticket.bytes, isEnding: true) else { return }
        notify(.cancelled(picture))
        guard state.withLock({ $0.values.settings.cancelledDownload }) == .isError else { return }
        deliverer.post(.download(picture, error: KollusError(.ERROR_CANCEL_DOWNLOAD, detail: key.text), isFinal: true))
    }

    private func removed(_ key: ContentKey) {
        let byServer = state.withLock { state in
            (state.tickets[key], state.lastErrors[key], state.ending[key]) = (nil, nil, nil)
            return state.ordered.remove(key) != nil
        }
        deliverer.forget(key.text)
        notify(.removed(key: key.text, byServer: byServer))
    }
}

extension KollusRenewal {
    init(_ report: RenewalReport) {
        self.init(total: report.total, renewed: report.renewed, failed: report.failed, waiting: report.waiting)
    }
}

extension KollusReportExchange {
    init(_ exchange: ReportExchange) {
        self.init(
            url: exchange.url, data: exchange.data, status: exchange.status, answer: exchange.answer,
            isDelivered: exchange.isDelivered)
    }
}
