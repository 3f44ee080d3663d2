package import LectureBundle
import LectureFormats
package import LectureKit
import LectureModel
package import LectureRecords

/// The lines about runs and settings. See ``JSONLine``.
extension JSONLine {
    /// The last line of a run.
    ///
    /// - Parameter totals: the totals.
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
            guard let peers = totals.peers else { return }
            writer.member("lectures_from_peers", peers.lectures)
            writer.member("bytes_from_peers", peers.bytes)
            writer.member("bytes_from_internet", peers.internetBytes)
            writer.member("without_digest", peers.withoutDigest)
        }
    }

    /// The totals of a dry run.
    ///
    /// - Parameter plan: the totals.
    /// - Returns: the line.
    package static func plan(_ plan: PlanTotals) -> String {
        line { writer in
            writer.member("event", "plan")
            for kind in PlannedDownload.Kind.allCases { writer.member(kind.rawValue, plan.counts[kind] ?? 0) }
            writer.member("gone", plan.gone)
            writer.member("refused", plan.refused)
            writer.member("bytes", plan.bytes)
            writer.member("unknown_sizes", plan.unknownSizes)
            writer.member("room_bytes", plan.space)
            writer.member("fits", plan.fits)
            writer.member("done_ms", plan.estimate?.end.milliseconds)
        }
    }

    /// The store's database and the effective settings.
    ///
    /// - Parameters:
    ///   - facts: facts about the database; nil when there is none yet.
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
}

/// The totals of a run, for its last line.
package struct RunTotals: Sendable, Equatable {
    /// Items that became complete.
    package var completed = 0
    /// Items that failed permanently.
    package var failed = 0
    /// Items that stopped for a temporary reason.
    package var stopped = 0
    /// Items that were complete before.
    package var skipped = 0
    /// Items whose complete version was replaced, or is to be.
    package var outdated = 0
    /// Complete items that could not be compared with what is requested.
    package var unchecked = 0
    /// Bytes received over the network.
    package var bytesFetched: Int64 = 0
    /// Bytes that were already present.
    package var bytesReused: Int64 = 0
    /// How long it took.
    package var elapsed = Duration.zero
    /// What came from branch servers; nil where none was named.
    package var peers: PeerTotals?

    /// Makes empty totals.
    package init() {}
}

/// What of a run came from branch servers, and what from the internet.
package struct PeerTotals: Sendable, Equatable {
    /// Lectures with bytes from branch servers.
    package let lectures: Int
    /// Bytes from branch servers.
    package let bytes: Int64
    /// Bytes from the internet.
    package let internetBytes: Int64
    /// Lectures that a branch server has, and that came from the internet since nothing proved them.
    package let withoutDigest: Int

    /// Makes totals.
    ///
    /// - Parameters:
    ///   - summary: what came from branch servers.
    ///   - fetched: the bytes of the run, from everywhere.
    package init(_ summary: PeerStores.Summary, fetched: Int64) {
        (lectures, bytes, withoutDigest) = (summary.lectures, summary.bytes, summary.withoutDigest)
        internetBytes = max(0, fetched - summary.bytes)
    }

    /// Messages for standard error.
    package var sentences: [String] {
        var sentences = [
            "From branch servers: \(HumanText.lectures(lectures)), \(HumanText.byteCount(bytes)); from the internet: "
                + "\(HumanText.byteCount(internetBytes))."
        ]
        if withoutDigest > 0 {
            sentences.append(
                "Not from branch servers, since the list names no digest: \(HumanText.lectures(withoutDigest)). "
                    + "Name the server's public key with '--from-trust'.")
        }
        return sentences
    }
}
