import Glibc
package import LectureModel

/// The clocks of the machine.
package struct SystemClock: LectureClock {
    /// Creates a clock.
    package init() {}

    /// The kernel's wall time.
    package func now() -> Timestamp {
        let time = Self.read(CLOCK_REALTIME)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The minute since Monday 0:00 in the machine's time zone.
    package func minuteOfWeek(_ time: Timestamp) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        // `tm_wday` counts from Sunday.
        return unsafe Int((local.tm_wday + 6) % 7) * 1440 + Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// How far the machine's time zone is ahead of UTC at a moment, in seconds.
    package static func secondsEastOfUTC(_ time: Timestamp) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        return unsafe local.tm_gmtoff
    }

    /// The time since boot, including sleep.
    package func boot() -> BootInstant {
        let time = Self.read(CLOCK_BOOTTIME)
        return BootInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Both clocks exist on every Linux this builds for, so the call cannot fail.
    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time
    }
}

/// Random numbers from the kernel.
package struct SystemRandom: RandomSource {
    /// Makes a source.
    package init() {}

    /// The next number.
    package func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}

/// What identifies this boot of this machine.
package enum Machine {
    /// The kernel's identifier of this boot. A process number of another boot means nothing.
    ///
    /// - Returns: a UUID as text, or an empty string where `/proc` is not mounted.
    package static func bootID() -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let number = try? systemCall({ unsafe open(path, O_RDONLY | O_CLOEXEC) }) else { return "" }
        let file = Descriptor(takingOwnership: number)
        var text = [UInt8](repeating: 0, count: 64)
        let count = (try? unsafe text.withUnsafeMutableBytes { try unsafe file.read($0, at: 0) }) ?? 0
        return String(decoding: text.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}

extension Machine {
    /// What kind of machine this is, for servers that show a learner their devices: the system and the processor. The
    /// host name is private.
    ///
    /// - Returns: for example `Linux x86_64`.
    package static func model() -> String {
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return "Linux" }
        func text<Field>(_ field: Field) -> String {
            unsafe withUnsafeBytes(of: field) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
        return "\(text(names.sysname)) \(text(names.machine))"
    }
}
