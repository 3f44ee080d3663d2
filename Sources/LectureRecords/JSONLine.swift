package import LectureFormats
package import LectureKit
package import LectureModel

/// The lines of `--json`: a contract, described by docs/json. Each line is one object with its line end. Members
/// without a value are omitted.
package enum JSONLine {
    // MARK: Events

    /// A lecture entered the queue.
    ///
    /// - Parameter content: its current state.
    /// - Returns: the line.
    package static func queued(_ content: Content) -> String { event("queued", content) { _ in } }

    /// A lecture is complete.
    ///
    /// - Parameter content: its current state.
    /// - Returns: the line.
    package static func completed(_ content: Content) -> String {
        event("completed", content) { writer in
            writer.member("bytes", content.committedBytes)
            writer.member("total", content.totalBytes)
            writer.member("sha256", content.sha256.map { Hexadecimal.text($0) })
            writer.member("downloaded_ms", content.completed?.milliseconds)
        }
    }

    /// A lecture failed permanently.
    ///
    /// - Parameter content: its current state.
    /// - Returns: the line.
    package static func failed(_ content: Content) -> String {
        event("failed", content) { writer in
            problem(content.error, &writer)
            writer.member("attempts", content.attempts)
        }
    }

    /// A lecture stopped for a temporary reason.
    ///
    /// - Parameter content: its current state.
    /// - Returns: the line.
    package static func stopped(_ content: Content) -> String {
        event("stopped", content) { writer in
            writer.member("stop_reason", content.stopReason?.name)
            problem(content.error, &writer)
            writer.member("bytes", content.committedBytes)
            writer.member("total", content.totalBytes)
            writer.member("attempts", content.attempts)
            writer.member("next_attempt_ms", content.nextAttempt?.milliseconds)
        }
    }

    /// A lecture was removed.
    ///
    /// - Parameter key: its key.
    /// - Returns: the line.
    package static func removed(_ key: ContentKey) -> String {
        line { writer in
            writer.member("event", "removed")
            writer.member("key", key.text)
        }
    }

    /// An error that is not the final state of a lecture: in the command line, the store or a line of a course list.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: the message printed on standard error.
    ///   - key: the lecture's key, if there is one.
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

    /// A lecture received bytes.
    ///
    /// - Parameter progress: how far it is.
    /// - Returns: the line.
    package static func progress(_ progress: DownloadProgress) -> String {
        line { writer in
            writer.member("event", "progress")
            writer.member("key", progress.key.text)
            writer.member("title", progress.title)
            writer.member("state", progress.state.name)
            writer.member("bytes", progress.bytes)
            writer.member("total", progress.total)
            writer.member("speed_bps", Int64(progress.bytesPerSecond))
            writer.member("eta_s", progress.remaining.map { $0.milliseconds / 1000 })
        }
    }

    /// A client of a server may have missed events.
    ///
    /// - Returns: the line.
    package static func gap() -> String { line { writer in writer.member("event", "gap") } }

    /// A lecture was complete before the run; nothing was downloaded.
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
    /// - Parameter content: its current state.
    /// - Returns: the line.
    package static func outdated(_ content: Content) -> String {
        event("outdated", content) { writer in writer.member("playable", content.isPlayable) }
    }

    /// It could not be checked whether a complete lecture is still what is requested.
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

    /// The finished file was also placed outside the store.
    ///
    /// - Parameters:
    ///   - key: the lecture's key.
    ///   - path: where it was placed.
    /// - Returns: the line.
    package static func published(_ key: ContentKey, path: String) -> String {
        line { writer in
            writer.member("event", "published")
            writer.member("key", key.text)
            writer.member("path", path)
        }
    }

    /// The planned action of a dry run for a lecture.
    ///
    /// - Parameter planned: the planned action.
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
            writer.member("bytes", lecture.committedBytes)
        }
    }

    /// A lecture was verified.
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

    /// A media file of a lost database.
    ///
    /// - Parameter rebuilt: what was made from it.
    /// - Returns: the line.
    package static func rebuilt(_ rebuilt: RebuiltFile) -> String {
        line { writer in
            writer.member("event", "rebuilt")
            writer.member("file", rebuilt.file.path)
            writer.member("bytes", rebuilt.file.bytes)
            writer.member("outcome", rebuilt.outcome.name)
            writer.member("key", rebuilt.outcome.key?.text)
            writer.member("sha256", rebuilt.sha256.map(Hexadecimal.text))
        }
    }

    // MARK: Records

    /// One lecture of a list.
    ///
    /// - Parameters:
    ///   - content: its current state.
    ///   - licence: its licence, as validated now; nil when it needs none.
    ///   - pinned: since when it is pinned; nil when it is not.
    /// - Returns: the line.
    package static func content(
        _ content: Content, licence: LicenceStatus? = nil, pinned: Timestamp? = nil
    ) -> String {
        var writer = JSONWriter(reserving: 1024)
        write(content, licence: licence, pinned: pinned, &writer)
        return writer.text
    }

    /// Writes the same line after others.
    ///
    /// - Parameters:
    ///   - content: its current state.
    ///   - licence: its licence.
    ///   - pinned: since when it is pinned.
    ///   - writer: what it is written to.
    package static func write(
        _ content: Content, licence: LicenceStatus?, pinned: Timestamp?, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
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
            writer.member("bytes", content.committedBytes)
            writer.member("total", content.totalBytes)
            writer.member("chunks_proven", content.committedChunks)
            writer.member("chunks_total", content.totalChunks)
            writer.member("sha256", content.sha256.map { Hexadecimal.text($0) })
            writer.member("duration_s", content.duration.map { Double($0.milliseconds) / 1000 })
            writer.member("added_ms", content.added.milliseconds)
            writer.member("downloaded_ms", content.completed?.milliseconds)
            if let licence { judgement(licence, &writer) }
            writer.member("attempts", content.attempts)
            writer.member("next_attempt_ms", content.nextAttempt?.milliseconds)
            writer.member("pinned_ms", pinned?.milliseconds)
        }
        writer.endLine()
    }

    /// One attempt of a lecture, for `why`.
    ///
    /// - Parameters:
    ///   - attempt: the attempt.
    ///   - key: the lecture's key.
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

    /// A program's version.
    ///
    /// - Parameters:
    ///   - number: the semantic version.
    ///   - program: its name.
    /// - Returns: the line.
    package static func version(_ number: String, of program: String) -> String {
        line { writer in
            writer.member("record", "version")
            writer.member("program", program)
            writer.member("version", number)
        }
    }

    /// The store at a glance.
    ///
    /// - Parameter overview: the state of the store, and what needs attention.
    /// - Returns: the line.
    package static func status(_ overview: StoreOverview) -> String {
        line { writer in
            writer.member("record", "status")
            writer.object("states") { writer in
                for state in ItemState.allCases { writer.member(state.name, overview.status.counts[state] ?? 0) }
            }
            writer.member("bytes", overview.status.committedBytes)
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

    /// The reason for a lecture's state; its attempts follow as separate lines.
    ///
    /// - Parameters:
    ///   - diagnosis: the library's diagnosis.
    ///   - licence: its licence, as validated now; nil when it needs none.
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

    /// Writes the members of an error, if there is one.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - writer: what they are written to.
    package static func problem(_ error: LectureError?, _ writer: inout JSONWriter) {
        guard let error else { return }
        writer.member("code", error.code.number)
        writer.member("name", error.code.name)
        writer.member("message", error.message)
    }

    /// One line.
    ///
    /// - Parameter body: writes the members.
    /// - Returns: the line with its end.
    package static func line(_ body: (inout JSONWriter) -> Void) -> String { JSONWriter.object(body) + "\n" }
}

/// URLs for output.
package enum URLText {
    /// A URL without its query, fragment and user, which may have signatures and passwords.
    ///
    /// - Parameter url: the URL.
    /// - Returns: what is left.
    package static func withoutSecrets(_ url: String) -> String {
        // By bytes: characters of a string are many times slower, and a list has a URL in every line.
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let place = end.map { String(url[..<$0]) } ?? url
        return place.utf8.contains(UInt8(ascii: "@")) ? withoutCredentials(place) : place
    }

    /// A URL without its user and password.
    ///
    /// - Parameter url: the URL.
    /// - Returns: the URL with an ellipsis in their place.
    package static func withoutCredentials(_ url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        guard let at = url[start..<end].lastIndex(of: "@") else { return url }
        return "\(url[..<start])…\(url[at...])"
    }
}
