import LectureFormats

/// The elements of one kind that describe the segments of a representation: its own, its adaptation set's and its
/// period's. What an inner one does not have comes from the outer ones (ISO/IEC 23009-1 section 5.3.9.1).
struct DASHSegmentElements {
    /// Innermost first.
    let levels: [XMLElement]
    /// For each of them, at which level it is: 1 for the period, 2 for the adaptation set, 3 for the representation.
    private let depths: [Int]

    /// The kinds, in the order in which they are preferred where an element has several.
    static let kinds = ["SegmentTemplate", "SegmentList", "SegmentBase"]

    /// The kind of the innermost element that has one.
    ///
    /// - Parameter parents: the representation, its adaptation set and its period.
    init?(_ parents: [XMLElement]) {
        for parent in parents {
            guard let kind = Self.kinds.first(where: { parent.first($0) != nil }) else { continue }
            let found = parents.enumerated().compactMap { index, parent in
                parent.first(kind).map { (element: $0, depth: parents.count - index) }
            }
            levels = found.map(\.element)
            depths = found.map(\.depth)
            return
        }
        return nil
    }

    var kind: String { levels[0].name }

    func text(_ name: String) -> String? {
        for level in levels { if let text = level[name] { return text } }
        return nil
    }

    func number(_ name: String) throws(DASHError) -> UInt64? {
        for level in levels { if let number = try DASHText.number(level, name) { return number } }
        return nil
    }

    func range(_ name: String) throws(DASHError) -> ByteRange? {
        for level in levels { if let range = try DASHText.range(level, name) { return range } }
        return nil
    }

    func child(_ name: String) -> XMLElement? {
        for level in levels { if let child = level.first(name) { return child } }
        return nil
    }

    /// The level of the innermost element that has such a child, 0 when none has.
    func depth(of name: String) -> Int { zip(levels, depths).first { $0.0.first(name) != nil }?.1 ?? 0 }

    /// The children of the innermost element that has some.
    func children(_ name: String) -> [XMLElement] { levels.first { $0.first(name) != nil }?.all(name) ?? [] }
}

/// An entry of a `SegmentTimeline`, an `S` element (ISO/IEC 23009-1 section 5.3.9.6).
struct DASHTimelineEntry {
    let time: UInt64?
    let number: UInt64?
    let duration: UInt64
    let repeats: Int64

    init(_ line: XMLElement) throws(DASHError) {
        guard let duration = try DASHText.number(line, "d"), duration > 0 else {
            throw DASHError(.invalid, "an entry of a SegmentTimeline has no duration")
        }
        self.duration = duration
        time = try DASHText.number(line, "t")
        number = try DASHText.number(line, "n")
        repeats = try DASHText.signedNumber(line, "r") ?? 0
    }
}

/// When the segments of a representation are, and how many there are.
struct DASHTiming {
    private(set) var runs: [DASHRun] = []
    let timescale: UInt64
    let offset: UInt64
    /// Whether the number of segments comes from the period's duration alone.
    private(set) var isComputed = false
    /// Whether one duration is named for all segments, so that the last one may be shorter.
    private(set) var isNominal = false

    /// A single segment, the whole period.
    init(period: UInt64?) {
        (timescale, offset) = (1_000_000, 0)
        runs = [DASHRun(first: 0, number: 1, time: 0, duration: period ?? 0, count: 1)]
    }

    /// Reads the timing of `SegmentTemplate` and `SegmentList` (ISO/IEC 23009-1 sections 5.3.9.4 to 5.3.9.6).
    ///
    /// - Parameters:
    ///   - elements: the elements of the levels.
    ///   - period: the duration of the period in microseconds, nil when it is unknown.
    ///   - listed: the number of entries of a `SegmentList`, nil for a template.
    ///   - timeline: the entries of the timeline, nil when there is none.
    /// - Throws: ``DASHError``.
    init(
        _ elements: DASHSegmentElements, period: UInt64?, listed: Int?, timeline: [DASHTimelineEntry]?
    ) throws(DASHError) {
        timescale = try elements.number("timescale") ?? 1
        offset = try elements.number("presentationTimeOffset") ?? 0
        guard timescale > 0, timescale <= UInt64(UInt32.max) else {
            throw DASHError(.invalid, "\(elements.kind)@timescale is \(timescale)")
        }
        let start = try elements.number("startNumber") ?? 1
        if let timeline {
            try read(timeline, number: start, period: period)
            return
        }
        let duration = try elements.number("duration")
        if duration == 0 { throw DASHError(.invalid, "\(elements.kind)@duration is 0") }
        var count = listed.map { UInt64($0) }
        if let end = try elements.number("endNumber"), listed == nil {
            guard end >= start else {
                throw DASHError(.invalid, "\(elements.kind)@endNumber is before the first number")
            }
            count = end - start + 1
        }
        guard let duration else {
            // Without a duration a template describes one segment (section 5.3.9.5.2).
            let whole = count ?? 1 == 1 ? period.flatMap { DASHTime.ticks($0, timescale: timescale) } : nil
            try append(number: start, time: offset, duration: whole ?? 0, count: count ?? 1)
            return
        }
        if count == nil {
            guard let period, let ticks = DASHTime.ticks(period, timescale: timescale) else {
                throw DASHError(.invalid, "the number of segments is unknown: the period has no duration")
            }
            count = max(1, ticks / duration + (ticks.isMultiple(of: duration) ? 0 : 1))
            isComputed = true
        }
        isNominal = true
        try append(number: start, time: offset, duration: duration, count: count ?? 1)
    }

    private mutating func read(
        _ timeline: [DASHTimelineEntry], number start: UInt64, period: UInt64?
    ) throws(DASHError) {
        runs.reserveCapacity(timeline.count)
        var (number, time) = (start, UInt64(0))
        for (index, entry) in timeline.enumerated() {
            let duration = entry.duration
            time = entry.time ?? time
            if let last = runs.last, time <= last.time + last.duration * (last.count - 1) {
                throw DASHError(.invalid, "a SegmentTimeline goes back in time")
            }
            if let named = entry.number {
                guard named >= number else { throw DASHError(.invalid, "a SegmentTimeline goes back in its numbers") }
                number = named
            }
            var count: UInt64
            if entry.repeats >= 0 {
                count = UInt64(entry.repeats) + 1
            } else {
                let isLast = index + 1 == timeline.count
                let end = isLast ? try periodEnd(period) : timeline[index + 1].time
                guard let end, end > time else {
                    throw DASHError(.invalid, "an entry of a SegmentTimeline repeats until a time that is unknown")
                }
                count = (end - time) / duration + ((end - time).isMultiple(of: duration) ? 0 : 1)
                isComputed = isLast
            }
            try append(number: number, time: time, duration: duration, count: count)
            (number, time) = (number + count, time + duration * count)
        }
    }

    /// The end of the period on the media timeline.
    private func periodEnd(_ period: UInt64?) throws(DASHError) -> UInt64? {
        guard let period else { return nil }
        guard let ticks = DASHTime.ticks(period, timescale: timescale) else {
            throw DASHError(.limit, "a period is too long for its timescale")
        }
        return offset + ticks
    }

    /// Adds a run; all numbers and times, up to and including its end, are below 2^62.
    private mutating func append(number: UInt64, time: UInt64, duration: UInt64, count: UInt64) throws(DASHError) {
        let first = runs.last.map { $0.first + $0.count } ?? 0
        guard count <= DASHBounds.segments, first + count <= DASHBounds.segments else {
            throw DASHError(.limit, "a representation has more than \(DASHBounds.segments) segments")
        }
        let (length, overflow) = duration.multipliedReportingOverflow(by: count)
        let bound: UInt64 = 1 << 62
        guard !overflow, length < bound, time < bound, time + length < bound, number < bound,
            DASHTime.microseconds(length, timescale: timescale).map({ $0 <= DASHBounds.seconds * 1_000_000 }) == true
        else { throw DASHError(.limit, "the segments of a representation are beyond a hundred years") }
        runs.append(DASHRun(first: first, number: number, time: time, duration: duration, count: count))
    }
}
