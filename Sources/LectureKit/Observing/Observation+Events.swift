import LectureModel

/// Events as log records and metrics. The names are stable: docs/use-in-your-package.md lists them.
extension Observation {
    // MARK: Store

    /// The store was opened.
    func opened(migrations: [String]) {
        guard !migrations.isEmpty else { return }
        log(.notice, .store, "The store's schema was migrated.", ["migrations": migrations.joined(separator: " ")])
        count("lecturekit_store_migrations_total", Int64(migrations.count))
    }

    /// The store could not be opened.
    func refused(_ error: any Error) {
        let error = error as? LectureError ?? LectureError(.bug)
        log(.error, .store, "The store could not be opened.", fields(error))
        count("lecturekit_store_troubles_total", 1, ["error": error.code.name])
    }

    private func storeFailed(_ error: LectureError) {
        log(.warning, .store, "The store or one of its files could not be used for now.", fields(error))
        count("lecturekit_store_troubles_total", 1, ["error": error.code.name])
    }

    // MARK: Verification

    /// A lecture was read and checked against its proofs.
    func verified(_ report: VerifyReport) {
        let isSound = report.damaged.isEmpty
        let fields = [
            "key": report.key.text, "chunks": "\(report.chunks)", "damaged_chunks": "\(report.damaged.count)",
        ]
        if isSound {
            log(.info, .verification, "A lecture was verified and is sound.", fields)
        } else {
            log(.error, .verification, "A lecture was verified and is damaged.", fields)
        }
        count("lecturekit_verifications_total", 1, ["result": isSound ? "sound" : "damaged"])
        count("lecturekit_verified_chunks_total", Int64(report.chunks))
        count("lecturekit_damaged_chunks_total", Int64(report.damaged.count))
    }

    // MARK: Events

    /// Records an event.
    func take(_ event: LectureEvent) {
        switch event {
        case .queued(let content): queued(content)
        case .advanced(let content):
            guard content.state != .removing, recordActivity(content.key, isActive: true) else { return }
            log(.info, .download, "A download started.", ["key": content.key.text])
            countDownload("started")
        case .completed(let content): completed(content)
        case .failed(let content): failed(content)
        case .stopped(let content): stopped(content)
        case .removed(let key):
            _ = recordActivity(key, isActive: false)
            log(.info, .download, "A lecture was removed.", ["key": key.text])
            countDownload("removed")
        case .publishingFailed(let key, _, let error):
            log(.error, .download, "A complete lecture could not be published.", fields(error, key))
        case .unchanged(let content): checked(content.key, "unchanged")
        case .outdated(let content): checked(content.key, "outdated")
        case .checkFailed(let key, let error): checked(key, "failed", error)
        case .trouble(let error): storeFailed(error)
        case .published, .progress: break
        case .licenceGranted, .renewalBegan, .renewed, .renewalEnded, .licenceExchange, .licenceEnded, .licenceDeleted:
            takeLicence(event)
        case .reportsProgress, .reportsDelivered, .reportExchange, .reportRefused, .reportObstacle, .reportsSent:
            takeReport(event)
        }
    }

    private func queued(_ content: Content) {
        // One that was not being downloaded is not reported.
        guard recordActivity(content.key, isActive: false) else { return }
        guard let error = content.error else {
            log(.info, .download, "A download went back to the queue.", ["key": content.key.text])
            return countDownload("queued")
        }
        log(
            .warning, .download, "A download is tried again later.",
            fields(error, content.key, ["attempts": "\(content.attempts)"]))
        countDownload("retried", error.code.name)
    }

    private func completed(_ content: Content) {
        _ = recordActivity(content.key, isActive: false)
        log(
            .info, .download, "A download is complete.",
            ["key": content.key.text, "bytes": "\(content.committedBytes)"])
        countDownload("completed")
    }

    private func failed(_ content: Content) {
        _ = recordActivity(content.key, isActive: false)
        log(.error, .download, "A download failed.", fields(content.error, content.key))
        countDownload("failed", content.error?.code.name)
    }

    private func stopped(_ content: Content) {
        _ = recordActivity(content.key, isActive: false)
        let reason = content.stopReason?.name ?? "none"
        let fields = fields(content.error, content.key, ["reason": reason])
        if content.stopReason == .user {
            log(.info, .download, "A download was paused.", fields)
            countDownload("paused", reason)
        } else {
            log(.warning, .download, "A download has to wait.", fields)
            countDownload("stopped", reason)
        }
    }

    private func countDownload(_ event: String, _ reason: String? = nil) {
        count("lecturekit_downloads_total", 1, ["event": event, "reason": reason ?? "none"])
    }

    private func checked(_ key: ContentKey, _ result: String, _ error: LectureError? = nil) {
        log(
            error == nil ? .info : .warning, .download, "A complete lecture was compared with its source.",
            fields(error, key, ["result": result]))
        count("lecturekit_source_checks_total", 1, ["result": result])
    }

    private func takeLicence(_ event: LectureEvent) {
        switch event {
        case .licenceGranted(let key):
            log(.info, .licence, "A licence was granted.", ["key": key.text])
            count("lecturekit_licences_total", 1, ["event": "granted"])
        case .renewalBegan(let total, let done):
            log(.info, .licence, "A renewal started.", ["total": "\(total)", "done": "\(done)"])
        case .renewed(let key, _, _, let error):
            let message = error == nil ? "A licence was renewed." : "A licence could not be renewed."
            log(error == nil ? .info : .warning, .licence, message, fields(error, key))
            count(
                "lecturekit_licence_renewals_total", 1,
                ["result": error == nil ? "renewed" : "failed", "reason": error?.code.name ?? "none"])
        case .renewalEnded(let report):
            log(
                .info, .licence, "A renewal ended.",
                [
                    "total": "\(report.total)", "renewed": "\(report.renewed)", "failed": "\(report.failed)",
                    "waiting": "\(report.waiting)",
                ])
        case .licenceEnded(let key):
            log(.notice, .licence, "A licence server ended a licence.", ["key": key.text])
            count("lecturekit_licences_total", 1, ["event": "ended"])
        case .licenceDeleted(let key):
            log(.notice, .licence, "A licence server had a lecture deleted.", ["key": key.text])
            count("lecturekit_licences_total", 1, ["event": "deleted"])
        default: break
        }
    }

    private func takeReport(_ event: LectureEvent) {
        switch event {
        case .reportRefused(_, let reason, let error):
            log(.error, .report, "A report was refused for good.", fields(error, nil, ["reason": reason.name]))
            count("lecturekit_reports_total", 1, ["result": "dead"])
        case .reportObstacle(let obstacle):
            log(
                .warning, .report, "An LMS could not take reports.",
                fields(obstacle.error, nil, ["url": SafeURL.text(obstacle.url)]))
            count("lecturekit_report_obstacles_total", 1, ["error": obstacle.error.code.name])
        case .reportsSent(let result):
            log(
                .info, .report, "Sending reports ended.",
                [
                    "delivered": "\(result.delivered)", "refused": "\(result.refused)", "left": "\(result.left)",
                    "requests": "\(result.requests)",
                ])
        default: break
        }
    }

    /// Reports have reached their LMS.
    func delivered(_ reports: Int) {
        log(.info, .report, "Reports were delivered.", ["reports": "\(reports)"])
        count("lecturekit_reports_total", Int64(reports), ["result": "delivered"])
    }

    // MARK: Parts

    /// The error's frozen name and number and its sentence; its detail may name private data.
    private func fields(
        _ error: LectureError?, _ key: ContentKey? = nil, _ more: [String: String] = [:]
    ) -> [String: String] {
        var fields = more
        if let key { fields["key"] = key.text }
        if let error {
            (fields["error"], fields["error_number"]) = (error.code.name, "\(error.code.number)")
            fields["error_text"] = error.code.summary
        }
        return fields
    }
}

/// A URL that is safe to log.
enum SafeURL {
    /// Leaves out user, password, query and fragment, where signatures and tokens are.
    static func text(_ url: String) -> String {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        let start = bare.firstRange(of: "://")?.upperBound ?? bare.startIndex
        let end = bare[start...].firstIndex(of: "/") ?? bare.endIndex
        guard let at = bare[start..<end].lastIndex(of: "@") else { return String(bare) }
        return String(bare[..<start] + bare[bare.index(after: at)...])
    }
}
