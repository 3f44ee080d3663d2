import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// Makes the last reports of plays whose programs were killed. On the core queue.
struct AbandonedPlays: CorePart {
    let core: StoreCore

    /// Stores a report for each of them, and ends their rows with it. One that cannot be stored stays for the next
    /// time, and its error is an event.
    func report() {
        do {
            for play in try writer.plays.abandoned() {
                do { try report(play) } catch let error as LectureError { hub.send(.trouble(error)) }
            }
        } catch let error as LectureError { hub.send(.trouble(error)) } catch {}
    }

    private func report(_ play: PlaySessionRows.Abandoned) throws {
        let record = play.record
        var sums = PlaySession(
            clientUserID: record.user, startAt: record.startAt, duration: record.duration, blockCount: record.blocks)
        for interval in try writer.plays.intervals(of: play.id) { sums.add(try PlayInterval(interval)) }
        sums.stop()
        var report = LearningReport(
            values: PlayRecorder.values(sums.report, try ReportSource(stored: record.source, record.content)),
            user: record.user, session: record.session, content: record.content)
        report.time = play.updated
        let storing = ReportStoring(core)
        let plan = try storing.plan(report, to: record.targets)
        try index.transaction { transaction in
            _ = try storing.store(plan, transaction.outbox)
            try transaction.index.plays.end(record.session)
        }
    }
}

extension PlayIntervalRecord {
    /// An interval as it is stored.
    init(_ interval: PlayInterval) {
        self.init(
            activity: interval.activity.rawValue, from: interval.from, to: interval.to,
            speedPermille: interval.speedPermille, nanoseconds: interval.nanoseconds)
    }
}

extension PlayInterval {
    /// A stored interval.
    ///
    /// - Throws: ``LectureError`` with `storeDamaged`: the schema permits no other activity.
    init(_ record: PlayIntervalRecord) throws(LectureError) {
        guard let activity = Activity(rawValue: record.activity) else {
            throw LectureError(.storeDamaged, cause: "\(record.activity) is not an activity")
        }
        self.init(
            activity, from: record.from, to: record.to, speedPermille: record.speedPermille,
            lasting: record.nanoseconds)
    }
}

extension ReportSource {
    /// What is stored of the source of a play's reports.
    var stored: String {
        JSONWriter.object { writer in
            writer.member("player_id", playerID)
            writer.member("host_name", hostName)
            writer.member("device", device)
            if !channelKey.isEmpty { writer.member("channel_key", channelKey) }
            writer.object("uservalues") { writer in
                for (name, value) in userValues.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
            }
        }
    }

    /// Reads ``stored`` back.
    ///
    /// - Parameters:
    ///   - text: as stored.
    ///   - content: the lecture.
    /// - Throws: ``LectureError`` with `json`.
    init(stored text: String, _ content: String) throws(LectureError) {
        self.init()
        let limits = JSONScanner.Limits(depth: 4, items: 10_000)
        let reader = try MemberReader(try JSONScanner.value(of: Array(text.utf8), limits: limits))
        playerID = try reader.string("player_id") ?? ""
        hostName = try reader.string("host_name") ?? ""
        device = try reader.string("device") ?? ""
        channelKey = try reader.string("channel_key") ?? ""
        for member in try reader.object("uservalues") ?? [] { userValues[member.name] = member.value.string }
        mediaContentKey = content
    }
}
