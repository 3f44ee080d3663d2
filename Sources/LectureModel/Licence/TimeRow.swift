/// One look at both clocks.
package struct ClockReading: Hashable, Sendable {
    /// The wall clock, which may be wrong.
    package var wall: Timestamp
    /// The clock that only runs forward, suspend included (`CLOCK_BOOTTIME`).
    package var boot: BootInstant
    /// Which run of the machine ``boot`` belongs to (`/proc/sys/kernel/random/boot_id`).
    package var bootID: String

    /// A look at both clocks.
    ///
    /// - Parameters:
    ///   - wall: the wall clock.
    ///   - boot: the boot clock.
    ///   - bootID: which run of the machine.
    package init(wall: Timestamp, boot: BootInstant, bootID: String) {
        (self.wall, self.boot, self.bootID) = (wall, boot, bootID)
    }
}

/// Why a clock is not believed. Stored, so the raw values are frozen.
package enum ClockDoubt: Int, Sendable, CaseIterable {
    /// The wall clock stands before a time that was already trusted.
    case setBack = 1
    /// The wall clock was ahead and came back.
    case forwardThenBack = 2
    /// The wall clock stands before this program was written: a board without a battery, not yet told the time.
    case neverSet = 3
    /// The store is an older copy than the one this device last wrote.
    case storeRolledBack = 4
    /// The store was written by another device.
    case storeCopied = 5
    /// A row of the time ledger was changed.
    case ledgerForged = 6
}

/// What a row of the time ledger says.
package struct TimeRow: Hashable, Sendable {
    /// Where a row came from. Raw values are stored: frozen, never reused.
    package enum Source: Int, Sendable, CaseIterable {
        /// A look at the clocks.
        case clocks = 0
        /// The time of a server that answered over a verified connection.
        case server = 1
        /// A time that somebody has signed.
        case signed = 2
        /// A finding about the store.
        case finding = 3
    }

    /// The newest time a server has vouched for; `nil` before the first one.
    package var proven: Timestamp?
    /// The best guess; `nil` while no clock has shown a possible time.
    package var estimate: Timestamp?
    /// How far the wall clock is behind the guess.
    package var offset: Duration = .zero
    /// Whether a server has told the time in this run of the machine, so that the boot clock knows better than the
    /// wall clock.
    package var isAnchored = false
    /// Whether the guess followed a leap of the wall clock.
    package var hasLeapt = false
    /// What speaks against the clock or the store.
    package var doubt: ClockDoubt?
    /// The clocks when the row was made.
    package var reading: ClockReading

    /// A row that says nothing.
    ///
    /// - Parameter reading: the clocks when it is made.
    package init(reading: ClockReading) { self.reading = reading }
}
