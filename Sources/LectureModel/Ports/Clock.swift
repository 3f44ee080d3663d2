/// The source of time. Tests and simulations use their own.
package protocol LectureClock: Sendable {
    /// The wall clock, which may be wrong.
    func now() -> Timestamp
    /// Minutes since Monday 00:00 of local time, for timetables.
    func minuteOfWeek(_ time: Timestamp) -> Int
    /// The clock that only runs forward, suspend included.
    func boot() -> BootInstant
}

/// The source of randomness: jitter and nonces that need no secrecy. Simulations seed it.
package protocol RandomSource: Sendable {
    /// 64 random bits.
    func next() -> UInt64
}
