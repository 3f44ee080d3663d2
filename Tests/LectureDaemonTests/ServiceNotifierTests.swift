import Foundation
import LectureDaemon
import LectureModel
import LectureTestSupport
import Testing

struct ServiceNotifierTests {
    private static let messages: [(ServiceNotifier.Message, String)] = [
        (.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
        (.reloading(monotonicMicroseconds: 12), "RELOADING=1\nMONOTONIC_USEC=12"),
        (.status("two\nlines"), "STATUS=two lines"),
    ]

    @Test(arguments: ["path", "abstract"])
    func `each state is one datagram`(kind: String) throws {
        let directory = try TemporaryDirectory()
        let name = kind == "path" ? directory.file("notify") : "@lecturekit-test-\(UUID().uuidString)"
        let manager = try NotifySocket(name)
        let notifier = ServiceNotifier(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "3000000"], process: 7)
        #expect(notifier.watchdogInterval == .milliseconds(1500))
        for (message, text) in Self.messages {
            notifier.send(message)
            #expect(manager.message() == text)
        }
    }

    @Test
    func `without a manager, or with a watchdog of another process, nothing is sent`() {
        #expect(ServiceNotifier.address("relative").isEmpty && ServiceNotifier.address("/").isEmpty)
        #expect(ServiceNotifier.address("/" + String(repeating: "x", count: 107)).isEmpty)
        #expect(ServiceNotifier.address("").isEmpty && ServiceNotifier.address("vsock:2:1").isEmpty)
        let none = ServiceNotifier(["WATCHDOG_USEC": "3000000"])
        #expect(none.watchdogInterval == nil)
        none.send(.ready)
        let others = ["NOTIFY_SOCKET": "/nowhere/notify", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"]
        #expect(ServiceNotifier(others, process: 7).watchdogInterval == nil)
        #expect(ServiceNotifier(others, process: 8).watchdogInterval == .milliseconds(1500))
        ServiceNotifier(others, process: 8).send(.watchdog)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct CourseFoldersNetTests {
    /// Waits until the folders show these lists.
    private func settle(_ folders: CourseFolders, _ changes: AsyncStream<Void>, _ names: [String]) async {
        func shown() -> [String] { folders.scan().map { String($0.path.split(separator: "/").last ?? "") } }
        if shown() == names { return }
        for await _ in changes where shown() == names { return }
        Issue.record("\(shown())")
    }

    @Test
    func `lists that come, change, move and go are reported, and other files are none`() async throws {
        let directory = try TemporaryDirectory()
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let folders = CourseFolders([directory.path, directory.file("single.csv")]) { continuation.yield() }
        #expect(folders.faults.isEmpty && folders.scan().isEmpty)
        for name in ["b.jsonl", "a.txt", "notes.md", ".hidden.txt", "c.csv~"] { try directory.write("x", to: name) }
        await settle(folders, changes, ["a.txt", "b.jsonl"])
        let before = folders.scan()
        try directory.write("xy", to: "a.txt")
        #expect(folders.scan()[0].identity != before[0].identity && folders.scan()[1] == before[1])
        try FileManager.default.moveItem(atPath: directory.file("a.txt"), toPath: directory.file("z.txt"))
        await settle(folders, changes, ["b.jsonl", "z.txt"])
        try directory.write("x", to: "single.csv")
        await settle(folders, changes, ["b.jsonl", "single.csv", "z.txt"])
        try FileManager.default.removeItem(atPath: directory.file("b.jsonl"))
        await settle(folders, changes, ["single.csv", "z.txt"])
        let missing = CourseFolders([directory.file("nothing/here.txt")]) {}
        #expect(missing.faults.map(\.code) == [.courseList] && missing.scan().isEmpty)
    }
}
