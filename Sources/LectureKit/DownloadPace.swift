package import LectureDownload
public import LectureModel
import LectureStore

/// How fast downloads from one server were.
public struct MeasuredSpeed: Sendable, Hashable {
    /// Scheme, host and port.
    public let origin: String
    /// Bytes that were received.
    public let bytes: Int64
    /// How long at least one transfer from it was running.
    public let busy: Duration
    /// The largest limit of this program, in bytes a second of all downloads, that applied meanwhile, so that the
    /// server may be faster; nil when none did.
    public let bound: Int64?

    /// Creates a measurement.
    public init(origin: String, bytes: Int64, busy: Duration, bound: Int64? = nil) {
        (self.origin, self.bytes, self.busy, self.bound) = (origin, bytes, busy, bound)
    }

    /// Bytes a second, of all its transfers together.
    public var bytesPerSecond: Double {
        busy > .zero ? Double(bytes) / (Double(busy.milliseconds) / 1000) : 0
    }
}

/// A part of time in which one bound of the speed applies.
public struct PaceWindow: Sendable, Hashable {
    /// When it begins.
    public let start: Timestamp
    /// When it ends; the next one begins then.
    public let end: Timestamp
    /// Bytes a second of all downloads together; nil for no bound, 0 for no downloads.
    public let bytesPerSecond: Int64?

    /// Creates a window.
    public init(start: Timestamp, end: Timestamp, bytesPerSecond: Int64?) {
        (self.start, self.end, self.bytesPerSecond) = (start, end, bytesPerSecond)
    }
}

extension LectureManager {
    /// How fast each server was, as the attempts of the last thirty days show it that are kept for `why`: at most 100
    /// of a lecture, and none of removed ones. Of a server that was busy for long the last half hour counts in which
    /// something ran. Servers of which less than 256 KiB are known are left out.
    ///
    /// What was received while a limit applied, by the timetable or the rate limit of this manager, counts only for
    /// servers of which nothing else is known.
    ///
    /// - Returns: by server, in the order of their names.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func downloadSpeeds() throws(LectureError) -> [MeasuredSpeed] {
        try LectureError.only {
            let settings = try core.state.configuration.downloadSettings()
            let limit = settings.rateLimit.map(Int64.init)
            let bound: (Timestamp) -> Int64? = { [clock] time in
                // What still ran when a window closed was not bound by it.
                let rate = settings.timetable?.rate(atMinuteOfWeek: clock.minuteOfWeek(time))
                return PaceWindow.bound(rate == .off ? nil : rate, limit: limit)
            }
            let since = clock.now() + .seconds(-30 * 86_400)
            return try writer.servers.throughputs(since: since, bound: bound).compactMap { past in
                guard past.bytes >= 256 << 10, past.busy > .milliseconds(50) else { return nil }
                return MeasuredSpeed(origin: past.origin, bytes: past.bytes, busy: past.busy, bound: past.bound)
            }
        }
    }

    /// What the timetable and the rate limit of this manager allow, in local time; a change to or from summer time
    /// moves the windows with the clock on the wall.
    ///
    /// - Parameters:
    ///   - start: where the first window begins.
    ///   - end: where the last one ends; at most 400 days later.
    /// - Returns: windows that follow one another; neighbours differ. Empty when `end` is not later.
    /// - Throws: ``LectureError`` with `parameter` for a timetable that cannot be read.
    public func paceWindows(from start: Timestamp, to end: Timestamp) throws(LectureError) -> [PaceWindow] {
        try LectureError.only {
            let settings = try core.state.configuration.downloadSettings()
            let last = min(end, start + .seconds(400 * 86_400))
            return PaceWindow.windows(
                from: start, to: last, timetable: settings.timetable, limit: settings.rateLimit.map(Int64.init),
                minuteOfWeek: clock.minuteOfWeek)
        }
    }
}

extension PaceWindow {
    /// Bytes a second of all downloads together; nil for no bound, 0 for none.
    fileprivate static func bound(_ rate: Rate?, limit: Int64?) -> Int64? {
        switch rate {
        case nil, .full: limit
        case .off: 0
        case .limited(let bytes): min(Int64(clamping: bytes), limit ?? .max)
        }
    }

    /// The windows of a timetable. Zones change their distance to UTC at quarters of an hour, so that each quarter is
    /// looked up.
    ///
    /// - Parameters:
    ///   - start: where the first window begins.
    ///   - end: where the last one ends.
    ///   - timetable: nil for always.
    ///   - limit: bytes a second at any time; nil for no limit.
    ///   - minuteOfWeek: the local minute since Monday 0:00 at a time.
    /// - Returns: windows that follow one another; neighbours differ.
    package static func windows(
        from start: Timestamp, to end: Timestamp, timetable: Timetable?, limit: Int64?,
        minuteOfWeek: (Timestamp) -> Int
    ) -> [PaceWindow] {
        guard let timetable else {
            return start < end ? [PaceWindow(start: start, end: end, bytesPerSecond: limit)] : []
        }
        var windows: [PaceWindow] = []
        var time = start
        let quarter: Int64 = 900_000
        while time < end {
            let minute = minuteOfWeek(time)
            let rate = bound(timetable.rate(atMinuteOfWeek: minute), limit: limit)
            let toChange = Int64(timetable.nextChange(after: minute) ?? Timetable.minutesOfWeek) * 60_000
            let change = time.milliseconds - time.milliseconds % 60_000 + toChange
            let stop = Timestamp(
                milliseconds: min(change, time.milliseconds - time.milliseconds % quarter + quarter, end.milliseconds))
            if let before = windows.last, before.bytesPerSecond == rate {
                windows[windows.count - 1] = PaceWindow(start: before.start, end: stop, bytesPerSecond: rate)
            } else {
                windows.append(PaceWindow(start: time, end: stop, bytesPerSecond: rate))
            }
            time = stop
        }
        return windows
    }
}
