/// A reading of both clocks.
package struct ClockReading: Hashable, Sendable {
    /// The wall clock, which may be wrong.
    package var wall: Timestamp
    /// The clock that only runs forward, suspend included (`CLOCK_BOOTTIME`).
    package var boot: BootInstant
    /// The boot that ``boot`` belongs to (`/proc/sys/kernel/random/boot_id`).
    package var bootID: String

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - wall: the wall clock.
    ///   - boot: the boot clock.
    ///   - bootID: the boot of the machine.
    package init(wall: Timestamp, boot: BootInstant, bootID: String) {
        (self.wall, self.boot, self.bootID) = (wall, boot, bootID)
    }
}

/// Why a clock is not trusted. Stored, so the raw values are frozen.
package enum ClockDoubt: Int, Sendable, CaseIterable {
    /// The wall clock is before a time that was already trusted.
    case setBack = 1
    /// The wall clock was ahead and came back.
    case forwardThenBack = 2
    /// The wall clock is before this program was written: a board without a battery whose clock is not set yet.
    case neverSet = 3
    /// The store is an older copy than the one this device last wrote.
    case storeRolledBack = 4
    /// The store was written by another device.
    case storeCopied = 5
    /// A row of the time ledger was changed.
    case ledgerForged = 6
}

/// A row of the time ledger.
package struct TimeRow: Hashable, Sendable {
    /// Where a row came from. Raw values are stored: frozen, never reused.
    package enum Source: Int, Sendable, CaseIterable {
        /// A reading of the clocks.
        case clocks = 0
        /// The time of a server that answered over a verified connection.
        case server = 1
        /// A signed time.
        case signed = 2
        /// A finding about the store.
        case finding = 3
    }

    /// The newest time confirmed by a server; `nil` before the first one.
    package var proven: Timestamp?
    /// The best guess; `nil` while no clock has shown a possible time.
    package var estimate: Timestamp?
    /// How far the wall clock is behind the guess.
    package var offset: Duration = .zero
    /// Whether a server has sent the time since boot, so that the boot clock is more reliable than the wall clock.
    package var isAnchored = false
    /// Whether the guess followed a leap of the wall clock.
    package var hasLeapt = false
    /// The objection to the clock or the store.
    package var doubt: ClockDoubt?
    /// The clocks when the row was created.
    package var reading: ClockReading

    /// Creates an empty row.
    ///
    /// - Parameter reading: the clocks at its creation.
    package init(reading: ClockReading) { self.reading = reading }
}
