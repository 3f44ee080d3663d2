package import LectureFormats

/// Where bytes are: a whole object, or a range of it.
package struct DASHResource: Hashable, Sendable {
    /// An absolute http or https URL.
    package let url: String
    /// The bytes; nil for the whole object.
    package let range: ByteRange?
}

/// A media segment of a representation.
package struct DASHSegment: Hashable, Sendable {
    /// Where its bytes are.
    package let resource: DASHResource
    /// Its number, as `$Number$` counts.
    package let number: UInt64
    /// Its start on the representation's media timeline, in units of the timescale.
    package let time: UInt64
    /// Its duration in units of the timescale. The last one of a representation without a timeline may be shorter. Nil
    /// when the manifest does not say.
    package let duration: UInt64?
}

/// Consecutive segments of the same duration.
struct DASHRun: Hashable, Sendable {
    /// How many segments are before it.
    let first: UInt64
    let number: UInt64
    let time: UInt64
    /// Zero when it is unknown.
    let duration: UInt64
    let count: UInt64
}

/// The media segments of a representation, computed one at a time: a million of them take no memory.
package struct DASHSegments: Hashable, Sendable {
    /// How the address of a segment is found.
    enum Addressing: Hashable, Sendable {
        case template(DASHTemplate)
        case list([Item])
        case file
    }

    /// An entry of a `SegmentList`.
    struct Item: Hashable, Sendable {
        let reference: String
        let range: ByteRange?
    }

    /// How many segments there are, 1 to 1,000,000.
    package let count: Int
    /// Whether the number of segments was computed from the period's duration, which manifests round up: then the last
    /// one may not exist.
    package let isCountComputed: Bool
    /// Whether one duration is named for all segments, so that the last one may be shorter.
    package let isDurationNominal: Bool
    /// Units of a second in which times and durations are.
    package let timescale: UInt64
    /// The media time at which the period starts, in units of the timescale.
    package let presentationTimeOffset: UInt64
    /// What comes before the first segment, nil when each segment can be decoded by itself.
    package let initialization: DASHResource?
    private let addressing: Addressing
    private let bases: [URLParts]
    private let runs: [DASHRun]

    init(
        _ addressing: Addressing, _ timing: DASHTiming, bases: [URLParts], initialization: DASHResource?
    ) throws(DASHError) {
        self.addressing = addressing
        self.bases = bases
        self.initialization = initialization
        runs = timing.runs
        timescale = timing.timescale
        presentationTimeOffset = timing.offset
        isCountComputed = timing.isComputed
        isDurationNominal = timing.isNominal
        let total = timing.runs.last.map { $0.first + $0.count } ?? 0
        guard total > 0, total <= DASHBounds.segments else {
            throw DASHError(.invalid, "a representation has no segments")
        }
        count = Int(total)
        if case .list(let items) = addressing, items.count < count {
            throw DASHError(.invalid, "a SegmentList has fewer addresses than segments")
        }
        // The addresses between the first and the last differ in digits only.
        for base in bases.indices { for index in [0, count - 1] { _ = try segment(at: index, base: base) } }
    }

    /// How many base addresses the manifest offers for the same segments.
    package var baseCount: Int { bases.count }

    /// A segment.
    ///
    /// - Parameters:
    ///   - index: its position, from 0 to ``count`` − 1.
    ///   - base: which base address, below ``baseCount``; 0 is the first that the manifest names.
    /// - Returns: the segment.
    /// - Throws: ``DASHError`` with ``DASHError/Kind/url`` when an entry of a list is no usable address.
    package func segment(at index: Int, base: Int = 0) throws(DASHError) -> DASHSegment {
        let run = runs[position(of: UInt64(index))]
        let offset = UInt64(index) - run.first
        let number = run.number + offset
        let time = run.time + offset * run.duration
        let resource: DASHResource
        switch addressing {
        case .template(let template):
            let reference = template.reference(number: number, time: time)
            resource = DASHResource(url: try DASHAddress.resolve(reference, bases[base]).text, range: nil)
        case .list(let items):
            let item = items[index]
            resource = DASHResource(url: try DASHAddress.resolve(item.reference, bases[base]).text, range: item.range)
        case .file: resource = DASHResource(url: bases[base].text, range: nil)
        }
        return DASHSegment(
            resource: resource, number: number, time: time, duration: run.duration > 0 ? run.duration : nil)
    }

    /// All segments in their order.
    ///
    /// - Parameter base: which base address.
    /// - Returns: ``count`` segments.
    /// - Throws: as ``segment(at:base:)``.
    package func all(base: Int = 0) throws(DASHError) -> [DASHSegment] {
        var found: [DASHSegment] = []
        found.reserveCapacity(count)
        for index in 0..<count { found.append(try segment(at: index, base: base)) }
        return found
    }

    /// The sum of the durations.
    ///
    /// - Returns: microseconds, rounded down; nil when the manifest does not say.
    package var microseconds: UInt64? {
        var sum: UInt64 = 0
        for run in runs {
            // Segments may overlap, so the sum may be beyond the end of the last one.
            let (next, overflow) = sum.addingReportingOverflow(run.duration * run.count)
            guard run.duration > 0, !overflow else { return nil }
            sum = next
        }
        return DASHTime.microseconds(sum, timescale: timescale)
    }

    /// The run that has a segment.
    private func position(of index: UInt64) -> Int {
        var (low, high) = (0, runs.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if runs[middle].first <= index { low = middle } else { high = middle - 1 }
        }
        return low
    }
}

/// A representation in one file, whose segments are in its segment index.
package struct DASHIndexedFile: Hashable, Sendable {
    /// The whole file. To keep a representation it is enough to fetch this.
    package let url: String
    /// The bytes with the `sidx` box; the whole object when the index has an address of its own.
    package let index: DASHResource
    /// What comes before the first segment, nil when the manifest does not say.
    package let initialization: DASHResource?
    /// The media time at which the period starts, in units of ``timescale``.
    package let presentationTimeOffset: UInt64
    /// Units of a second of ``presentationTimeOffset``.
    package let timescale: UInt64

    /// The segments that an index describes.
    ///
    /// - Parameter index: the index, read from the bytes of ``index``.
    /// - Returns: the segments in their order, numbered from 1, in units of the index's timescale.
    /// - Throws: ``DASHError`` with ``DASHError/Kind/index`` when it refers to further indices.
    package func segments(of index: SegmentIndex) throws(DASHError) -> [DASHSegment] {
        var time = index.earliestPresentationTime
        var found: [DASHSegment] = []
        for entry in index.entries {
            guard entry.kind == .media else { throw DASHError(.index, "the index refers to a further index") }
            found.append(
                DASHSegment(
                    resource: DASHResource(url: url, range: entry.range), number: UInt64(found.count) + 1, time: time,
                    duration: entry.duration > 0 ? entry.duration : nil))
            time += entry.duration
        }
        return found
    }
}

/// Addresses of a manifest.
enum DASHAddress {
    /// Resolves a reference (ISO/IEC 23009-1 section 5.6.4, RFC 3986 section 5).
    static func resolve(_ reference: String, _ base: URLParts) throws(DASHError) -> URLParts {
        do throws(FormatError) { return try base.resolving(reference) } catch {
            throw DASHError(.url, "an address cannot be used: \(error.detail)")
        }
    }

    /// An http or https URL.
    static func parse(_ url: String) throws(DASHError) -> URLParts {
        do throws(FormatError) {
            let parts = try URLParts(parsing: url)
            _ = try Origin(of: parts)
            return parts
        } catch { throw DASHError(.url, "an address cannot be used: \(error.detail)") }
    }
}
