import LectureFormats
package import LectureModel

/// Measures whether one more connection makes a download faster.
///
/// ```
///   window full, the disk was waited for
///     ┌───┐
///     │   ▼  window full            opened                window full, grew ≥ 15 %
/// measuring ───────────▶ opening ───────────▶ proving ─────────────────────────────▶ measuring
///     │                     │ openFailed         │ window full, grew less
///     └ at the limit,       ▼                    ▼
///       or fast enough ─▶ done  ◀────────────────┘
/// ```
///
/// A second connection helps against servers and networks that limit each connection, and is only a cost elsewhere;
/// which it is can only be measured. One that is as fast as disks and processors are gains nothing by a second one,
/// whose bytes come out of order: a digest has to read them again. How fast they are is seen by who waits: while the
/// bytes that have arrived wait for the disk, the disk decides how many arrive, and its speed changes by more than
/// ``gain`` from one second to the next. What a window shows then says nothing about the server.
package struct RangeTrial: Hashable, Sendable {
    /// How long a window lasts at least.
    package static let windowDuration = Duration.seconds(1)
    /// How many bytes a window holds at least: 4 MiB.
    package static let windowBytes: UInt64 = 4 << 20
    /// By how much the throughput must grow for a connection to be kept.
    package static let gain = 1.15
    /// A throughput that is fast enough, bytes a second: 256 MiB.
    package static let ample = Double(256 << 20)
    /// The share of a window from which waiting for the disk makes the disk the limit.
    package static let diskShare = 0.25

    /// What the caller has to do.
    package enum Action: Hashable, Sendable {
        /// Nothing.
        case none
        /// Open one more connection, then call ``opened(totalBytes:at:)`` or ``openFailed()``.
        case openAnother
        /// Close the connection that was opened last.
        case closeNewest
    }

    /// The result of the last trial.
    package struct Outcome: Hashable, Sendable {
        /// Whether the connection was kept.
        package let helped: Bool
        /// Throughput after opening it, divided by that before.
        package let ratio: Double
    }

    /// What is measured, as sums since any moment.
    package struct Reading: Hashable, Sendable {
        /// How many bytes of the file were received, over all connections.
        package var bytes: UInt64
        /// How long received bytes waited for the disk.
        package var diskTime: Duration

        /// Makes a reading.
        ///
        /// - Parameters:
        ///   - bytes: how many bytes of the file were received, over all connections.
        ///   - diskTime: how long received bytes waited for the disk.
        package init(bytes: UInt64 = 0, diskTime: Duration = .zero) {
            self.bytes = bytes
            self.diskTime = diskTime
        }
    }

    /// What a full window shows.
    private struct Window {
        /// Bytes a second.
        var throughput: Double
        /// Whether the disk was the limit.
        var waitedForDisk: Bool
    }

    private enum Phase: Hashable {
        case measuring
        case opening(baseline: Double)
        case proving(baseline: Double)
        case done
    }

    /// How many connections there are, this trial's included.
    package private(set) var connections: Int
    /// The result of the last trial, nil before the first one ended.
    package private(set) var outcome: Outcome?
    private let limit: Int
    private var phase: Phase
    private var windowStart: BootInstant
    private var windowFirst: Reading

    /// Starts to measure.
    ///
    /// - Parameters:
    ///   - connections: how many connections the file has.
    ///   - limit: how many it may have.
    ///   - reading: what has been received.
    ///   - now: the boot clock.
    package init(connections: Int = 1, limit: Int, _ reading: Reading = Reading(), at now: BootInstant) {
        self.connections = connections
        self.limit = limit
        phase = connections < limit ? .measuring : .done
        windowStart = now
        windowFirst = reading
    }

    /// How many bytes should be missing for one more connection to pay off: those of ten windows at the present
    /// throughput. A trial that does not help costs the bytes that are on their way on the connection that is closed,
    /// and the time in which the other one takes its share again.
    package var worthwhileBytes: Double {
        guard case .opening(let baseline) = phase else { return 0 }
        return baseline * Self.windowDuration.secondsDouble * 10
    }

    /// Whether the trial is over.
    package var isDone: Bool { phase == .done }

    /// Bytes were received.
    ///
    /// - Parameters:
    ///   - reading: what has been received so far.
    ///   - now: the boot clock.
    /// - Returns: what to do.
    package mutating func progressed(_ reading: Reading, at now: BootInstant) -> Action {
        guard let window = window(reading, now) else { return .none }
        switch phase {
        case .opening, .done: return .none
        case .measuring where window.throughput >= Self.ample:
            phase = .done
            return .none
        case .measuring where window.waitedForDisk:
            startWindow(reading, now)
            return .none
        case .measuring:
            phase = .opening(baseline: window.throughput)
            return .openAnother
        case .proving(let baseline):
            let ratio = window.throughput / baseline
            let helped = ratio >= Self.gain
            // A disk that became the limit meanwhile hides whether the connection helped.
            if helped || !window.waitedForDisk { outcome = Outcome(helped: helped, ratio: ratio) }
            phase = helped && connections < limit ? .measuring : .done
            startWindow(reading, now)
            if helped { return .none }
            connections -= 1
            return .closeNewest
        }
    }

    /// The new connection delivers bytes.
    ///
    /// Call it with its first bytes rather than when it is requested, so that its handshake is not measured.
    ///
    /// - Parameters:
    ///   - reading: what has been received so far.
    ///   - now: the boot clock.
    package mutating func opened(_ reading: Reading, at now: BootInstant) {
        guard case .opening(let baseline) = phase else { return }
        connections += 1
        phase = .proving(baseline: baseline)
        startWindow(reading, now)
    }

    /// The new connection could not be opened.
    package mutating func openFailed() {
        if case .opening = phase { phase = .done }
    }

    private mutating func startWindow(_ reading: Reading, _ now: BootInstant) {
        windowStart = now
        windowFirst = reading
    }

    /// What the window shows, nil until it is long and large enough.
    private func window(_ reading: Reading, _ now: BootInstant) -> Window? {
        let elapsed = now - windowStart
        guard elapsed >= Self.windowDuration, reading.bytes >= windowFirst.bytes,
            reading.bytes - windowFirst.bytes >= Self.windowBytes
        else { return nil }
        let waited = reading.diskTime - windowFirst.diskTime
        return Window(
            throughput: Double(reading.bytes - windowFirst.bytes) / elapsed.secondsDouble,
            waitedForDisk: waited >= elapsed * Self.diskShare)
    }
}
