/// Finds the playing time of media in its container: MP4 (ISO/IEC 14496-12: `mvhd`, or `mehd` of a fragmented file) and
/// Matroska with WebM (RFC 9559: `Info`). It names the bytes that it needs next, and has no file.
package struct MediaDurationSearch: Sendable {
    /// What it needs or has found.
    package enum Demand: Hashable, Sendable {
        /// These bytes, all of which exist.
        case bytes(Range<UInt64>)
        /// The playing time.
        case found(Duration)
        /// It is not in the container, or the container is not known.
        case unknown
    }

    /// The most bytes that are needed at once.
    package static let window: UInt64 = 64
    /// How many headers are read at most; a file of one's own making must not be read from end to end.
    private static let mostHeaders = 400

    /// What it needs or has found.
    package private(set) var demand: Demand
    private let total: UInt64
    /// The end of the box or element that is being searched.
    private var end: UInt64
    private var headers = 0
    private var form = Form.undecided
    /// Seconds of a unit of time: its denominator for MP4; nanoseconds for Matroska.
    private var scale: UInt64 = 1_000_000

    private enum Form { case undecided, boxes, elements }

    /// Starts a search.
    ///
    /// - Parameter byteCount: the length of the media in bytes.
    package init(byteCount: UInt64) {
        (total, end) = (byteCount, byteCount)
        demand = .unknown
        inspect(at: 0)
    }

    /// Continues with the bytes that were demanded.
    ///
    /// - Parameter bytes: exactly those.
    package mutating func take(_ bytes: [UInt8]) {
        guard case .bytes(let range) = demand, UInt64(bytes.count) == UInt64(range.count) else { return }
        headers += 1
        demand = .unknown
        guard headers <= Self.mostHeaders else { return }
        if form == .undecided {
            form = bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) ? .elements : .boxes
        }
        switch form {
        case .undecided: break
        case .boxes: takeBox(bytes, at: range.lowerBound)
        case .elements: takeElement(bytes, at: range.lowerBound)
        }
    }

    /// Demands the header at an offset; nothing behind the end of what is searched.
    private mutating func inspect(at offset: UInt64) {
        demand = offset < end ? .bytes(offset..<(offset + min(total - offset, Self.window))) : .unknown
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Converts a number of units, each a part of a second.
    private static func time(_ units: UInt64, per second: UInt64) -> Duration? {
        guard units > 0, second > 0 else { return nil }
        let milliseconds = UInt128(units) * 1000 / UInt128(second)
        return milliseconds > 0 ? .milliseconds(Int64(clamping: milliseconds)) : nil
    }
}

// MARK: MP4

extension MediaDurationSearch {
    private mutating func takeBox(_ bytes: [UInt8], at offset: UInt64) {
        guard bytes.count >= 8 else { return }
        let type = String(decoding: bytes[4..<8], as: UTF8.self)
        var (header, size) = (8, Self.number(bytes[0..<4]))
        if size == 1, bytes.count >= 16 { (header, size) = (16, Self.number(bytes[8..<16])) }
        if size == 0 { size = end - offset }
        let (next, overflow) = offset.addingReportingOverflow(size)
        // Types are four printable characters; anything else is no box.
        guard size >= header, !overflow, bytes[4..<8].allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 })
        else { return }
        switch type {
        case "moov", "mvex":
            end = min(next, end)
            inspect(at: offset + UInt64(header))
        case "mvhd", "mehd":
            if let time = time(ofBox: type, Array(bytes.dropFirst(header))) {
                demand = .found(time)
            } else {
                inspect(at: next)
            }
        default: inspect(at: next)
        }
    }

    /// The duration in a box; nil in the header of a fragmented file, which has it in `mehd`.
    private mutating func time(ofBox type: String, _ body: [UInt8]) -> Duration? {
        let isLong = body.first == 1
        let width = isLong ? 8 : 4
        // After the version come flags; `mvhd` has two dates and the scale before the duration.
        let start = type == "mvhd" ? 4 + 2 * width + 4 : 4
        guard body.count >= start + width else { return nil }
        if type == "mvhd" { scale = Self.number(body[(start - 4)..<start]) }
        let units = Self.number(body[start..<(start + width)])
        let unknown = isLong ? UInt64.max : UInt64(UInt32.max)
        return units == unknown ? nil : Self.time(units, per: scale)
    }
}

// MARK: Matroska

extension MediaDurationSearch {
    private mutating func takeElement(_ bytes: [UInt8], at offset: UInt64) {
        guard let (identity, first) = Self.number(bytes[...], keepsMarker: true, longest: 4),
            let (size, second) = Self.number(bytes[first...], keepsMarker: false, longest: 8)
        else { return }
        let body = offset + UInt64(second)
        // An element without a size, as live recordings have: to the end of the one around it.
        let isOpen = size == (UInt64(1) << (7 * UInt64(second - first))) - 1
        let (sum, overflow) = body.addingReportingOverflow(size)
        let next = isOpen || overflow ? end : sum
        let content = bytes.dropFirst(second).prefix(Int(clamping: size))
        switch identity {
        // Segment, Info.
        case 0x1853_8067, 0x1549_A966:
            end = min(next, end)
            inspect(at: body)
        // TimestampScale: nanoseconds of a unit.
        case 0x2AD7B1:
            scale = Self.number(content.prefix(8))
            inspect(at: next)
        case 0x4489: demand = time(of: content).map { .found($0) } ?? .unknown
        default: inspect(at: next)
        }
    }

    /// Duration: a float in units of the scale. `TimestampScale` comes before it in every known writer's file.
    private func time(of content: ArraySlice<UInt8>) -> Duration? {
        let units: Double
        switch content.count {
        case 4: units = Double(Float(bitPattern: UInt32(truncatingIfNeeded: Self.number(content))))
        case 8: units = Double(bitPattern: Self.number(content))
        default: return nil
        }
        let milliseconds = units * Double(scale) / 1_000_000
        // Also refuses what is no number.
        guard milliseconds >= 1, milliseconds < 1e15 else { return nil }
        return .milliseconds(Int64(milliseconds))
    }

    /// A number of variable length (RFC 8794 section 4): how long it is, is in its leading zeros.
    private static func number(
        _ bytes: ArraySlice<UInt8>, keepsMarker: Bool, longest: Int
    ) -> (number: UInt64, end: Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let count = first.leadingZeroBitCount + 1
        guard count <= longest, bytes.count >= count else { return nil }
        let digits = bytes.prefix(count)
        let marker = UInt64(1) << (7 * UInt64(count))
        let all = number(digits)
        return (keepsMarker ? all : all & (marker - 1), bytes.startIndex + count)
    }
}

/// How long a lecture plays, as far as it can be known, for the charge of its bytes.
package enum PlayingTime {
    /// Bytes a second where nothing is known: 1 Mbit/s.
    package static let nominalRate: UInt64 = 125_000
    /// A record can be edited, so it is not believed below this rate: 8 Mbit/s.
    package static let mostRecordedRate: UInt64 = 1_000_000
    /// What a container may say.
    package static let possibleRates: ClosedRange<UInt64> = 1000...12_500_000

    /// Decides.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the media.
    ///   - contained: what its container says; nil when it says nothing.
    ///   - recorded: what the store has recorded; nil for nothing.
    /// - Returns: more than zero.
    package static func of(byteCount: UInt64, contained: Duration?, recorded: Duration?) -> Duration {
        func time(at rate: UInt64) -> Duration {
            .milliseconds(Int64(clamping: max(1, UInt128(byteCount) * 1000 / UInt128(rate))))
        }
        if let contained {
            let isPossible =
                contained >= time(at: possibleRates.upperBound) && contained <= time(at: possibleRates.lowerBound)
            if isPossible { return contained }
        }
        if let recorded, recorded > .zero { return max(recorded, time(at: mostRecordedRate)) }
        return time(at: nominalRate)
    }
}
