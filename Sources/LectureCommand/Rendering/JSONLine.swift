package import LectureKit
package import LectureModel

/// The lines of `--json`: a contract, described by docs/json. Each line is one object with its line end. Members
/// without a value are left out.
package enum JSONLine {
    // MARK: Events

    /// A content entered the queue.
    ///
    /// - Parameter content: as it stands now.
    /// - Returns: the line.
    package static func queued(_ content: Content) -> String { event("queued", content) { _ in } }

    /// Bytes came.
    ///
    /// - Parameter item: how far it is.
    /// - Returns: the line.
    package static func progress(_ item: ProgressSnapshot.Item) -> String {
        line { writer in
            writer.member("event", "progress")
            writer.member("key", item.key)
            writer.member("title", item.title)
            writer.member("state", item.state.name)
            writer.member("bytes", item.bytes)
            writer.member("total", item.total)
            writer.member("speed_bps", item.speed)
            writer.member("eta_s", item.secondsLeft)
        }
    }

    /// A content is complete.
    ///
    /// - Parameter content: as it stands now.
    /// - Returns: the line.
    package static func completed(_ content: Content) -> String {
        event("completed", content) { writer in
            writer.member("bytes", content.provenBytes)
            writer.member("total", content.totalBytes)
            writer.member("sha256", content.sha256.map { Hexadecimal.text($0) })
            writer.member("downloaded_ms", content.completed?.milliseconds)
        }
    }

    /// A content failed for good.
    ///
    /// - Parameter content: as it stands now.
    /// - Returns: the line.
    package static func failed(_ content: Content) -> String {
        event("failed", content) { writer in
            problem(content.error, &writer)
            writer.member("attempts", content.attempts)
        }
    }

    /// A content stopped for a reason that may pass.
    ///
    /// - Parameter content: as it stands now.
    /// - Returns: the line.
    package static func stopped(_ content: Content) -> String {
        event("stopped", content) { writer in
            writer.member("stop_reason", content.stopReason?.name)
            problem(content.error, &writer)
            writer.member("bytes", content.provenBytes)
            writer.member("total", content.totalBytes)
            writer.member("attempts", content.attempts)
            writer.member("next_attempt_ms", content.nextAttempt?.milliseconds)
        }
    }

    /// A content is gone.
    ///
    /// - Parameter key: its key.
    /// - Returns: the line.
    package static func removed(_ key: ContentKey) -> String {
        line { writer in
            writer.member("event", "removed")
            writer.member("key", key.text)
        }
    }

    /// Something went wrong that is not the fate of one content: the command line, the store, a line of a course list.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: the sentence that was said on standard error.
    ///   - key: the content's key, where there is one.
    /// - Returns: the line.
    package static func error(_ code: LectureError.Code, message: String, key: String? = nil) -> String {
        line { writer in
            writer.member("event", "error")
            writer.member("key", key)
            writer.member("code", code.number)
            writer.member("name", code.name)
            writer.member("message", message)
        }
    }

    /// The last line of a run.
    ///
    /// - Parameter totals: what the run did.
    /// - Returns: the line.
    package static func summary(_ totals: RunTotals) -> String {
        line { writer in
            writer.member("event", "summary")
            writer.member("completed", totals.completed)
            writer.member("failed", totals.failed)
            writer.member("stopped", totals.stopped)
            writer.member("skipped", totals.skipped)
            writer.member("bytes_fetched", totals.bytesFetched)
            writer.member("bytes_reused", totals.bytesReused)
            writer.member("elapsed_s", Double(totals.elapsed.milliseconds) / 1000)
            writer.member("outdated", totals.outdated)
            writer.member("unchecked", totals.unchecked)
        }
    }

    /// A content was complete before the run; nothing was fetched.
    ///
    /// - Parameter key: its key.
    /// - Returns: the line.
    package static func skipped(_ key: ContentKey) -> String {
        line { writer in
            writer.member("event", "skipped")
            writer.member("key", key.text)
        }
    }

    /// A lecture that is complete is not what is requested, or its source has a newer version, which is downloaded now.
    ///
    /// - Parameter content: as it stands now.
    /// - Returns: the line.
    package static func outdated(_ content: Content) -> String {
        event("outdated", content) { writer in writer.member("playable", content.isPlayable) }
    }

    /// Whether a complete lecture is still what is requested could not be found out.
    ///
    /// - Parameters:
    ///   - key: its key.
    ///   - error: why not.
    /// - Returns: the line.
    package static func checkFailed(_ key: ContentKey, _ error: LectureError) -> String {
        line { writer in
            writer.member("event", "check_failed")
            writer.member("key", key.text)
            problem(error, &writer)
        }
    }

    /// The finished bytes stand at a path outside the store as well.
    ///
    /// - Parameters:
    ///   - key: the content's key.
    ///   - path: where they stand.
    /// - Returns: the line.
    package static func published(_ key: ContentKey, path: String) -> String {
        line { writer in
            writer.member("event", "published")
            writer.member("key", key.text)
            writer.member("path", path)
        }
    }

    /// What a dry run would do with a lecture.
    ///
    /// - Parameter planned: what would be done with a lecture.
    /// - Returns: the line.
    package static func planned(_ planned: PlannedDownload) -> String {
        line { writer in
            writer.member("event", "planned")
            writer.member("key", planned.request.key?.text)
            writer.member("title", planned.title)
            writer.member("url", URLText.withoutSecrets(planned.request.url))
            writer.member("plan", planned.kind.rawValue)
            writer.member("bytes", planned.bytes)
        }
    }

    /// A lecture that would be removed.
    ///
    /// - Parameter lecture: the lecture.
    /// - Returns: the line.
    package static func plannedRemoval(_ lecture: Content) -> String {
        line { writer in
            writer.member("event", "planned")
            writer.member("key", lecture.key.text)
            writer.member("title", lecture.title)
            writer.member("url", URLText.withoutSecrets(lecture.sourceURL))
            writer.member("plan", "gone")
            writer.member("bytes", lecture.provenBytes)
        }
    }

    /// What a dry run adds up to.
    ///
    /// - Parameter plan: the numbers.
    /// - Returns: the line.
    package static func plan(_ plan: PlanTotals) -> String {
        line { writer in
            writer.member("event", "plan")
            for kind in PlannedDownload.Kind.allCases { writer.member(kind.rawValue, plan.counts[kind] ?? 0) }
            writer.member("gone", plan.gone)
            writer.member("refused", plan.refused)
            writer.member("bytes", plan.bytes)
            writer.member("unknown_sizes", plan.unknownSizes)
            writer.member("room_bytes", plan.room)
            writer.member("fits", plan.fits)
            writer.member("done_ms", plan.estimate?.end.milliseconds)
        }
    }

    /// A content was read again.
    ///
    /// - Parameter report: what was found.
    /// - Returns: the line.
    package static func verified(_ report: VerifyReport) -> String {
        line { writer in
            writer.member("event", "verified")
            writer.member("key", report.key.text)
            writer.member("chunks", report.chunks)
            writer.array("damaged") { writer in
                for damage in report.damaged {
                    writer.object { writer in
                        writer.member("role", damage.role.name)
                        writer.member("first_byte", damage.firstByte)
                        writer.member("byte_count", damage.byteCount)
                    }
                }
            }
            writer.member("is_repair_queued", report.isRepairQueued)
            problem(report.mediaFault, &writer)
        }
    }

    // MARK: Records

    /// One content of a list.
    ///
    /// - Parameters:
    ///   - content: as it stands now.
    ///   - licence: its licence, as it is judged now; nil when it needs none.
    /// - Returns: the line.
    package static func content(_ content: Content, licence: LicenceStatus? = nil) -> String {
        line { writer in
            writer.member("record", "content")
            identity(content, &writer)
            writer.member("stop_reason", content.stopReason?.name)
            problem(content.error, &writer)
            writer.member("playable", content.isPlayable)
            if content.isOutdated { writer.member("outdated", true) }
            writer.member("type", content.type.name)
            writer.member("url", URLText.withoutSecrets(content.sourceURL))
            writer.member("course", content.course.isEmpty ? nil : content.course)
            writer.member("teacher", content.teacher.isEmpty ? nil : content.teacher)
            writer.member("folder", content.folder.isEmpty ? nil : content.folder)
            writer.member("priority", content.priority)
            writer.member("bytes", content.provenBytes)
            writer.member("total", content.totalBytes)
            writer.member("chunks_proven", content.provenChunks)
            writer.member("chunks_total", content.totalChunks)
            writer.member("sha256", content.sha256.map { Hexadecimal.text($0) })
            writer.member("duration_s", content.duration.map { Double($0.milliseconds) / 1000 })
            writer.member("added_ms", content.added.milliseconds)
            writer.member("downloaded_ms", content.completed?.milliseconds)
            if let licence { judgement(licence, &writer) }
            writer.member("attempts", content.attempts)
            writer.member("next_attempt_ms", content.nextAttempt?.milliseconds)
        }
    }

    /// One attempt of a content, for `why`.
    ///
    /// - Parameters:
    ///   - attempt: the attempt.
    ///   - key: the content's key.
    /// - Returns: the line.
    package static func attempt(_ attempt: Attempt, key: ContentKey) -> String {
        line { writer in
            writer.member("record", "attempt")
            writer.member("key", key.text)
            writer.member("time_ms", attempt.at.milliseconds)
            writer.member("duration_ms", attempt.duration.milliseconds)
            writer.member("origin", attempt.origin)
            writer.member("status", attempt.status)
            writer.member("curl_code", attempt.curlCode)
            writer.member("bytes", attempt.bytes)
            writer.member("range_first", attempt.rangeFirst)
            writer.member("range_count", attempt.rangeCount)
            writer.member("decision", attempt.decision)
            writer.member("detail", attempt.detail)
        }
    }

    /// The store at a glance.
    ///
    /// - Parameter overview: what there is, and what needs attention.
    /// - Returns: the line.
    package static func status(_ overview: StoreOverview) -> String {
        line { writer in
            writer.member("record", "status")
            writer.object("states") { writer in
                for state in ItemState.allCases { writer.member(state.name, overview.status.counts[state] ?? 0) }
            }
            writer.member("bytes", overview.status.provenBytes)
            writer.member("total", overview.status.totalBytes)
            writer.member("outdated", overview.outdated)
            writer.member("damaged", overview.damaged)
            writer.object("disk") { writer in
                writer.member("free_bytes", overview.space.free)
                writer.member("reserve_bytes", overview.space.reserve)
                writer.member("quota_bytes", overview.space.quota)
                writer.member("used_bytes", overview.space.used)
            }
            writer.member("licences_due", overview.licencesDue)
            writer.object("reports") { writer in
                writer.member("open", overview.openReports)
                writer.member("dead", overview.deadReports)
            }
            processes(overview.processes, &writer)
        }
    }

    /// Why a content is as it is; its attempts follow as lines of their own.
    ///
    /// - Parameters:
    ///   - diagnosis: what the library found.
    ///   - licence: its licence, as it is judged now; nil when it needs none.
    /// - Returns: the line.
    package static func why(_ diagnosis: Diagnosis, licence: LicenceStatus? = nil) -> String {
        line { writer in
            writer.member("record", "why")
            identity(diagnosis.content, &writer)
            writer.member("stop_reason", diagnosis.content.stopReason?.name)
            problem(diagnosis.content.error, &writer)
            writer.member("what", diagnosis.what)
            writer.member("why", diagnosis.why)
            writer.member("next", diagnosis.next)
            writer.member("remedy", diagnosis.remedy)
            writer.array("notes") { writer in for note in diagnosis.notes { writer.element(note) } }
            processes(diagnosis.processes, &writer)
            if let licence { judgement(licence, &writer) }
            writer.member("next_attempt_ms", diagnosis.content.nextAttempt?.milliseconds)
        }
    }

    /// The store's database and the effective settings.
    ///
    /// - Parameters:
    ///   - facts: what is known about the database; nil when there is none yet.
    ///   - configuration: the settings; printed without secrets.
    /// - Returns: the line.
    package static func store(_ facts: StoreFacts?, _ configuration: Configuration) -> String {
        line { writer in
            writer.member("record", "store")
            writer.member("path", configuration.storeDirectory.value)
            if let facts {
                writer.member("database", facts.path)
                writer.member("uuid", facts.uuid)
                writer.member("created_ms", facts.created.milliseconds)
                writer.member("schema_version", facts.applied.count)
                writer.array("migrations") { writer in for name in facts.applied { writer.element(name) } }
                writer.array("pending") { writer in for name in facts.pending { writer.element(name) } }
                writer.member("database_bytes", facts.databaseBytes)
                writer.member("log_bytes", facts.logBytes)
            }
            writer.array("settings") { writer in
                for setting in configuration.descriptions {
                    writer.object { writer in
                        writer.member("name", setting.name)
                        writer.member("value", setting.value)
                        writer.member("origin", setting.origin.rawValue)
                    }
                }
            }
        }
    }

    /// The program's version.
    ///
    /// - Parameter number: the semantic version.
    /// - Returns: the line.
    package static func version(_ number: String) -> String {
        line { writer in
            writer.member("record", "version")
            writer.member("program", CommandTable.programName)
            writer.member("version", number)
        }
    }

    // MARK: Parts

    private static func processes(_ processes: [StoreProcess], _ writer: inout JSONWriter) {
        writer.array("processes") { writer in
            for process in processes {
                writer.object { writer in
                    writer.member("pid", process.pid)
                    writer.member("command", process.command)
                    writer.member("started_ms", process.started?.milliseconds)
                    writer.member("lectures", process.lectures)
                    writer.member("is_writing", process.isWriting)
                }
            }
        }
    }

    private static func event(_ name: String, _ content: Content, _ more: (inout JSONWriter) -> Void) -> String {
        line { writer in
            writer.member("event", name)
            identity(content, &writer)
            more(&writer)
        }
    }

    private static func identity(_ content: Content, _ writer: inout JSONWriter) {
        writer.member("key", content.key.text)
        writer.member("title", content.title)
        writer.member("state", content.state.name)
    }

    static func problem(_ error: LectureError?, _ writer: inout JSONWriter) {
        guard let error else { return }
        writer.member("code", error.code.number)
        writer.member("name", error.code.name)
        writer.member("message", error.message)
    }

    static func line(_ body: (inout JSONWriter) -> Void) -> String { JSONWriter.object(body) + "\n" }
}

/// What a run did, for its last line.
package struct RunTotals: Sendable, Equatable {
    /// Items that became complete.
    package var completed = 0
    /// Items that failed for good.
    package var failed = 0
    /// Items that stopped for a reason that may pass.
    package var stopped = 0
    /// Items that were complete before.
    package var skipped = 0
    /// Items whose complete version was replaced, or is to be.
    package var outdated = 0
    /// Complete items of which could not be found out whether they are what is requested.
    package var unchecked = 0
    /// Bytes that came over the network.
    package var bytesFetched: Int64 = 0
    /// Bytes that were there already.
    package var bytesReused: Int64 = 0
    /// How long it took.
    package var elapsed = Duration.zero

    /// Makes totals of nothing.
    package init() {}
}

/// URLs for output.
enum URLText {
    /// A URL without its query, its fragment and its user: where signatures and passwords are.
    static func withoutSecrets(_ url: String) -> String {
        Configuration.withoutCredentials(String(url.prefix { $0 != "?" && $0 != "#" }))
    }
}
