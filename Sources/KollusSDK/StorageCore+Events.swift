import Foundation
import LectureKit
import LectureModel

/// Turns the library's events into the delegate's and the typed ones. Runs on the manager's queue.
extension StorageCore {
    func route(_ event: LectureEvent, _ manager: isolated LectureManager) {
        switch event {
        case .queued(let content), .advanced(let content): moved(content, manager)
        case .progress(let progress): came(progress, manager)
        case .completed(let content): completed(content, manager)
        case .failed(let content): ended(content, isFinal: true, manager)
        case .stopped(let content): ended(content, isFinal: false, manager)
        case .removed(let key): removed(key)
        case .licenceGranted(let key): tell(.licenceGranted(key: key.text))
        case .licenceDeleted(let key): state.withLock { _ = $0.ordered.insert(key) }
        case .licenceExchange(let exchange):
            let told = KollusExchange(
                server: exchange.server, items: exchange.items, answer: exchange.answer,
                error: exchange.error.map { KollusError($0) })
            tell(.licenceExchange(told))
            deliverer.post(.exchange(told))
        case .renewalBegan(let total, _): tell(.renewalBegan(total: total))
        case .renewed(let key, let current, let count, let error):
            let error = error.map { KollusError($0) }
            tell(.renewed(key: key.text, current: current, count: count, error: error))
            deliverer.post(.renewal(current: current, count: count, error: error))
        case .renewalEnded(let report): tell(.renewalEnded(KollusRenewal(report)))
        case .reportExchange(let exchange):
            tell(.reportsExchanged(KollusReportExchange(exchange)))
            for data in exchange.data { deliverer.post(.report(data: data, answer: exchange.answer)) }
        case .trouble(let error): tell(.trouble(KollusError(error)))
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
        // An event about a content whose row cannot be read is told by the library's own trouble.
        guard let details = (try? manager.details(key)) ?? nil else { return nil }
        return KollusContent(
            details, receivedBytes: bytes, lastError: state.withLock { $0.lastErrors[key] }, isEnding: isEnding)
    }

    private func isSilent(_ key: ContentKey) -> Bool { state.withLock { $0.removed.contains(key) } }

    private func moved(_ content: Content, _ manager: isolated LectureManager) {
        guard hub.hasListeners, !isSilent(content.key), let picture = picture(content.key, manager) else { return }
        if content.state == .queued {
            let error = content.error.map { KollusError($0) }
            tell(.waiting(picture, error: error, until: content.nextAttempt?.date))
        } else {
            tell(.started(picture))
        }
    }

    private func came(_ progress: DownloadProgress, _ manager: isolated LectureManager) {
        let key = progress.key
        // Only forward: a file that has changed on its server begins anew, a bar does not.
        let isNews = state.withLock { state -> Bool in
            guard var ticket = state.tickets[key], !ticket.isPaused, progress.bytes > ticket.bytes else { return false }
            ticket.bytes = progress.bytes
            state.tickets[key] = ticket
            return true
        }
        guard isNews || hub.hasListeners, !isSilent(key), let now = picture(key, manager, bytes: progress.bytes),
            // Complete is told by the event that says so.
            !now.downloaded
        else { return }
        tell(
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
            // A cancel that came too late: it is complete, and that is its end.
            let wasEnding = state.ending.removeValue(forKey: content.key) != nil
            return state.tickets.removeValue(forKey: content.key) != nil || wasEnding
        }
        guard !isSilent(content.key), let picture = picture(content.key, manager) else { return }
        tell(.completed(picture))
        if hadTicket { deliverer.post(.download(picture, error: nil, isFinal: true)) }
    }

    /// A content that stands still. What passes by itself is no end; what does not is the final event of its download,
    /// and then it stays so until the application asks for it again.
    private func ended(_ content: Content, isFinal: Bool, _ manager: isolated LectureManager) {
        let key = content.key
        if isSilent(key) { return }
        // It was cancelled: whatever else has become of it is not told.
        if state.withLock({ $0.ending[key] != nil }) { return }
        if !isFinal {
            switch content.stopReason {
            case .schedule, .serverWait, .dependency, nil:
                guard hub.hasListeners, let picture = picture(key, manager) else { return }
                let error = content.error.map { KollusError($0) }
                return tell(.waiting(picture, error: error, until: content.nextAttempt?.date))
            case .user: return stoodStill(key, manager)
            case .network, .space, .licenceRefused, .quota: break
            }
        }
        let error = KollusError(content.error ?? LectureError(content.stopReason == .space ? .storageFull : .bug))
        let ticket = state.withLock { state in
            state.lastErrors[key] = error
            return state.tickets.removeValue(forKey: key)
        }
        // Without a ticket it is the library's own business, or another program's.
        if ticket != nil, !isFinal { try? manager.pause(key) }
        guard let picture = picture(key, manager, bytes: ticket?.bytes) else { return }
        tell(isFinal ? .failed(picture, error) : .stopped(picture, error))
        if ticket != nil { deliverer.post(.download(picture, error: error, isFinal: true)) }
    }

    /// Paused or cancelled: by this storage, or by somebody else.
    private func stoodStill(_ key: ContentKey, _ manager: isolated LectureManager) {
        guard let ticket = state.withLock({ $0.tickets[key] }) else { return }
        if ticket.isPaused {
            if let picture = picture(key, manager) { tell(.paused(picture)) }
            return
        }
        // A wish that came meanwhile takes it up again.
        if (try? manager.isWanted(key)) != false { return }
        state.withLock { _ = $0.tickets.removeValue(forKey: key) }
        tellCancelled(key, ticket, manager)
    }

    /// The final event of a download that is being wound up, if there is one.
    func tellEnding(_ key: ContentKey, _ manager: isolated LectureManager) {
        guard let ticket = state.withLock({ $0.ending.removeValue(forKey: key) }) else { return }
        tellCancelled(key, ticket, manager)
    }

    /// The final event of a download that was cancelled. Its numbers do not fall behind what was told before;
    /// `downloadStopSize` says what is on the disk.
    private func tellCancelled(_ key: ContentKey, _ ticket: Ticket, _ manager: isolated LectureManager) {
        guard let picture = picture(key, manager, bytes: ticket.bytes, isEnding: true) else { return }
        tell(.cancelled(picture))
        guard self[\.settings].cancelledDownload == .isError else { return }
        deliverer.post(.download(picture, error: KollusError(.ERROR_CANCEL_DOWNLOAD, detail: key.text), isFinal: true))
    }

    private func removed(_ key: ContentKey) {
        let byServer = state.withLock { state in
            (state.tickets[key], state.lastErrors[key], state.ending[key]) = (nil, nil, nil)
            return state.ordered.remove(key) != nil
        }
        deliverer.forget(key.text)
        tell(.removed(key: key.text, byServer: byServer))
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
