import Foundation
import LectureCommand
import LectureDownload
import LectureFormats
import LectureKit
import LectureModel

/// Command lines, configuration files, and the display of foreign text.
extension FuzzTarget {
    static let command = [
        FuzzTarget("timetable", longest: 256, cost: 2, timetable), FuzzTarget("rate", longest: 64, rate),
        FuzzTarget("quantity", longest: 64, quantity), FuzzTarget("arguments", cost: 8, arguments),
        FuzzTarget("configuration", longest: 1024, cost: 8, configuration),
        FuzzTarget("terminal-text", longest: 128, cost: 2, terminalText),
    ]

    @Sendable private static func timetable(_ input: [UInt8]) throws {
        guard let table = try? Timetable(text(input)) else { return }
        for minute in [0, 1439, 5000, Timetable.minutesOfWeek - 1] {
            let rate = table.rate(atMinuteOfWeek: minute)
            try require(table.rate(atMinuteOfWeek: minute + Timetable.minutesOfWeek) == rate, "a week repeats")
            guard let change = table.nextChange(after: minute) else { continue }
            try require((1...Timetable.minutesOfWeek).contains(change), "a change comes within a week")
            try require(table.rate(atMinuteOfWeek: minute + change) != rate, "a change changes")
            try require(table.rate(atMinuteOfWeek: minute + change - 1) == rate, "nothing changes before it")
            try require(table.rate(atMinuteOfWeek: minute + change / 2) == rate, "nothing changes before it")
        }
    }

    @Sendable private static func rate(_ input: [UInt8]) throws {
        let parts = lines(input, most: 2).map { text($0) }
        if let rate = try? Rate(parts[0]) {
            try require((try? Rate(rate.text)) == rate, "a rate reads back: \(rate.text)")
            if case .limited(let bytes) = rate { try require(bytes > 0 && bytes <= Int64.max, "a rate has 63 bits") }
        }
        if let duration = try? DurationText.duration(parts[parts.count - 1]) {
            try require((try? DurationText.duration(DurationText.text(duration))) == duration, "a duration reads back")
            try require(duration >= .zero && duration <= .seconds(3_153_600_000), "a duration is within its bounds")
        }
    }

    @Sendable private static func quantity(_ input: [UInt8]) throws {
        let value = text(input)
        if let duration = Quantity.duration(value) {
            try require(duration >= .seconds(1), "a length of time is a second at least")
            _ = duration.milliseconds
        }
        if let bytes = Quantity.byteCount(value) {
            try require(bytes >= 0, "a number of bytes is not negative")
            try require(value.utf8.allSatisfy { $0 < 0x80 }, "a number of bytes is ASCII")
            try require(Quantity.byteCount("\(bytes)") == bytes, "a number of bytes reads back")
            // An independent check: a fraction of doubles is correct within their precision.
            let number = value.utf8.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            let unit = FieldText.lowercased(text(value.utf8.dropFirst(number.count).prefix(1)))
            let power = ["k": 10, "m": 20, "g": 30, "t": 40][unit] ?? 0
            let due = (Double(text(number)) ?? -1) * Double(1 << power)
            try require(abs(due - Double(bytes)) <= max(1, due * 1e-12), "\(value) is \(bytes), not \(due)")
        }
        if let rate = Quantity.rate(value) { try require(rate > 0, "a rate is a byte at least") }
        guard let range = ByteRangeRequest(value) else { return }
        for length in [0, 1, 1000, Int64.max] {
            guard let resolved = range.resolved(byteCount: length) else { continue }
            try require(resolved.lowerBound >= 0 && resolved.upperBound <= length, "a range lies within the file")
        }
    }

    @Sendable private static func arguments(_ input: [UInt8]) throws {
        let words = lines(input, most: 24).map { text($0) }
        do {
            let command = try ArgumentParser.parse(words)
            try require(command.arguments.allSatisfy { words.contains($0) }, "an argument was given")
            try require(command.path.allSatisfy { words.contains($0) }, "a command word was given")
            try require(CommandTable.spec(at: command.path) != nil, "a command is in the table")
            try require(try ArgumentParser.parse(words) == command, "a command line reads the same again")
        } catch let error as UsageError {
            try require(!FieldText.hasControls(error.message), "a sentence is one line: \(error.message)")
            try require(error.message.utf8.count < 4096, "a sentence is short")
        }
    }

    /// This process's directory for the files that readers open.
    static let scratch: String = {
        // In memory, where possible: a million files need no disk.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let path = "\(parent)/lecture-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        atexit { try? FileManager.default.removeItem(atPath: FuzzTarget.scratch) }
        return path
    }()

    private static let places = Guarded(0)

    /// A path that no other test uses, since tests run in parallel.
    static func place(_ name: String) -> String {
        let number = places.withLock { count in
            count += 1
            return count
        }
        return "\(scratch)/\(number).\(name)"
    }

    /// Writes a file in this process's directory.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw FuzzFinding("\(path) cannot be written: errno \(errno)")
        }
    }

    @Sendable private static func configuration(_ input: [UInt8]) throws {
        let path = place("json")
        try write(input, to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let command = try ArgumentParser.parse(["--config", path, "--store", scratch, "status"])
        do {
            let read = try Configuration.load(command, environment: [:])
            try require((1...86_400).contains(read.timeout.value.components.seconds), "a time is within its bounds")
            try require((1...256).contains(read.jobs.value), "jobs are within their bounds")
            try require((1...256).contains(read.perHost.value), "connections are within their bounds")
            try require((0...1000).contains(read.retries.value), "retries are within their bounds")
            try require(read.quotaBytes.value ?? 0 >= 0 && read.reserveBytes.value >= 0, "bytes are not negative")
            let names = read.rights.value.keys.map { Array($0.id.utf8) }
            try require(Set(names).count == names.count, "no two keys have one name")
            _ = read.descriptions
        } catch let error as LectureError {
            try require([.configuration, .secretReadable].contains(error.code), "a refusal names the configuration")
        }
    }

    @Sendable private static func terminalText(_ input: [UInt8]) throws {
        let shown = TerminalText.neutralised(text(input))
        try require(TerminalText.neutralised(shown).isSame(as: shown), "nothing is left to neutralise")
        try require(!shown.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }, "controls")
        for cells in [0, 1, 2, 7, 20] {
            try require(TerminalText.width(TerminalText.clipped(shown, to: cells)) <= cells, "clipped to \(cells)")
            let padded = TerminalText.padded(shown, to: cells)
            try require(TerminalText.width(padded) == cells, "padded to \(cells): \(TerminalText.width(padded))")
        }
    }
}
