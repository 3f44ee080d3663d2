import Foundation
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// Another process that locks an owner's byte, written in another language: the lock is the kernel's, not ours.
private struct OtherProcess {
    private let process: ChildProcess

    /// Starts it and returns once it has the lock.
    static func start(_ path: String, byte: Int) async throws -> OtherProcess {
        let script = """
            import fcntl, os, struct, sys
            file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, int(sys.argv[2]), 1, 0)
            fcntl.fcntl(file, 37, lock)  # F_OFD_SETLK
            print("held", flush=True)
            sys.stdin.read()
            """
        let process = try ChildProcess(
            Places.command("python3"), ["-c", script, path, "\(byte)"], keepsInputOpen: true)
        #expect(try await process.firstLine() == "held")
        return OtherProcess(process: process)
    }

    /// Ends it as a crash does.
    func kill() async {
        process.send(SIGKILL)
        _ = await process.ending()
    }
}

@Suite(.timeLimit(.minutes(1))) struct OwnerLocksTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `An owner lives from hold to release`() throws {
        let locks = try OwnerLocks(root: scratch.path)
        #expect(!locks.isAlive(OwnerID(1)))
        try locks.hold(OwnerID(1))
        #expect(locks.isAlive(OwnerID(1)))
        #expect(!locks.isAlive(OwnerID(2)))
        locks.release(OwnerID(1))
        #expect(!locks.isAlive(OwnerID(1)))
        try locks.hold(OwnerID(1))
        #expect(locks.isAlive(OwnerID(1)))
    }

    @Test func `A second instance of the store sees the first one's owners`() throws {
        let first = try OwnerLocks(root: scratch.path)
        let second = try OwnerLocks(root: scratch.path)
        try first.hold(OwnerID(7))
        #expect(second.isAlive(OwnerID(7)))
        #expect(throws: LectureError(.storeBusy)) { try second.hold(OwnerID(7)) }
        second.release(OwnerID(7))
        #expect(second.isAlive(OwnerID(7)), "what is not held here is not released here")
        try second.hold(OwnerID(8))
        #expect(first.isAlive(OwnerID(8)))
        first.release(OwnerID(7))
        #expect(!second.isAlive(OwnerID(7)))
    }

    @Test func `The owners end with their object`() throws {
        let watcher = try OwnerLocks(root: scratch.path)
        var locks: OwnerLocks? = try OwnerLocks(root: scratch.path)
        try locks?.hold(OwnerID(3))
        #expect(watcher.isAlive(OwnerID(3)))
        locks = nil
        #expect(!watcher.isAlive(OwnerID(3)))
    }

    @Test func `A process that is killed is dead at once`() async throws {
        let locks = try OwnerLocks(root: scratch.path)
        let other = try await OtherProcess.start(scratch.path + "/" + OwnerLocks.fileName, byte: 42)
        #expect(locks.isAlive(OwnerID(42)))
        #expect(!locks.isAlive(OwnerID(41)))
        #expect(throws: LectureError(.storeBusy)) { try locks.hold(OwnerID(42)) }
        await other.kill()
        #expect(!locks.isAlive(OwnerID(42)))
        try locks.hold(OwnerID(42))
    }

    @Test func `Closing the file elsewhere in the process frees nothing`() throws {
        // The behaviour of POSIX record locks.
        let locks = try OwnerLocks(root: scratch.path)
        try locks.hold(OwnerID(5))
        try FileHandle(forUpdating: URL(filePath: scratch.path + "/" + OwnerLocks.fileName)).close()
        let watcher = try OwnerLocks(root: scratch.path)
        #expect(watcher.isAlive(OwnerID(5)))
    }

    @Test func `The file is empty and belongs to its owner alone`() throws {
        let locks = try OwnerLocks(root: scratch.path + "/new/store")
        try locks.hold(OwnerID(.max - 1))
        #expect(locks.isAlive(OwnerID(.max - 1)))
        let attributes = try FileManager.default.attributesOfItem(
            atPath: scratch.path + "/new/store/" + OwnerLocks.fileName)
        #expect(attributes[.size] as? Int == 0)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `A place where no file can be created is an error`() throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/" + OwnerLocks.fileName, withIntermediateDirectories: true)
        #expect(throws: LectureError(.createFile)) { try OwnerLocks(root: scratch.path) }
    }
}

@Suite struct MachineTests {
    @Test func `The wall clock is the machine's`() {
        let difference = SystemClock().now().milliseconds - Int64(Date().timeIntervalSince1970 * 1000)
        #expect(abs(difference) < 10_000)
    }

    @Test func `The minute of the week is that of the local calendar and counts from Monday`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        for hours in 0..<200 {
            let seconds = 1_700_000_000 + hours * 3600 + hours * 61
            let date = Date(timeIntervalSince1970: Double(seconds))
            let parts = calendar.dateComponents([.weekday, .hour, .minute], from: date)
            let weekday = (try #require(parts.weekday) + 5) % 7
            let minute = try weekday * 1440 + #require(parts.hour) * 60 + #require(parts.minute)
            #expect(SystemClock().minuteOfWeek(Timestamp(milliseconds: Int64(seconds) * 1000 + 999)) == minute)
        }
    }

    @Test func `The boot clock only runs forward`() throws {
        let clock = SystemClock()
        var last = clock.boot()
        for _ in 0..<1000 {
            let next = clock.boot()
            #expect(next >= last)
            last = next
        }
        let uptime = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let seconds = try #require(uptime.split(separator: " ").first.flatMap { Double($0) })
        #expect(abs(Double(last.nanoseconds) / 1e9 - seconds) < 10)
    }

    @Test func `Random numbers do not repeat`() {
        let source = SystemRandom()
        #expect(Set((0..<1000).map { _ in source.next() }).count == 1000)
    }

    @Test func `The boot has a name`() throws {
        let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(Machine.bootID() == text.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(UUID(uuidString: Machine.bootID()) != nil)
    }
}
