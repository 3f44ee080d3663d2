import Foundation
import LectureFiles
import LectureModel
import Testing

@Suite(.timeLimit(.minutes(1))) struct PublishTests {
    let store: TestStore
    let outputs: Scratch
    let bytes = sample(3 << 20 + 17)
    let path = "media/a7/lecture"

    init() async throws {
        store = try TestStore()
        outputs = try Scratch()
        try await store.writeWhole(bytes, plan(bytes.count, chunk: 1 << 20))
    }

    private func inode(_ path: String) throws -> Int {
        let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
        return try #require(number as? Int)
    }

    @Test func `A finished file is also published where the user wants it`() throws {
        try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4")
        #expect(try outputs.read("talk.mp4") == bytes)
        #expect(try outputs.names() == ["talk.mp4"])
        #expect(try store.root.read(path) == bytes)
    }

    @Test func `Publishing twice is publishing once`() throws {
        for _ in 0..<3 { try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4") }
        #expect(try outputs.names() == ["talk.mp4"])
        #expect(try outputs.read("talk.mp4") == bytes)
    }

    @Test func `An existing file is replaced with the right to, and an open reader keeps the old one`() throws {
        try outputs.write("talk.mp4", [1, 2, 3])
        let reader = try FileHandle(forReadingFrom: URL(filePath: outputs.path + "/talk.mp4"))
        try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4", replacing: .any)
        #expect(try outputs.read("talk.mp4") == bytes)
        #expect(try reader.readToEnd() == Data([1, 2, 3]))
        #expect(try outputs.names() == ["talk.mp4"])
    }

    @Test func `A symbolic link is replaced, not followed`() throws {
        try outputs.write("victim", [1])
        try FileManager.default.createSymbolicLink(
            atPath: outputs.path + "/talk.mp4", withDestinationPath: outputs.path + "/victim")
        #expect(throws: LectureError(.outputExists)) {
            try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4")
        }
        #expect(try outputs.names() == ["talk.mp4", "victim"])
        try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4", replacing: .any)
        #expect(try outputs.read("victim") == [1])
        #expect(try outputs.read("talk.mp4") == bytes)
    }

    @Test func `On another file system the file is copied`() throws {
        let other = try Scratch(in: "/dev/shm")
        try store.files.publish(path: path, isSealed: false, to: other.path + "/talk.mp4")
        #expect(try other.read("talk.mp4") == bytes)
        try other.write("talk.mp4", [1, 2, 3])
        #expect(throws: LectureError(.outputExists)) {
            try store.files.publish(path: path, isSealed: false, to: other.path + "/talk.mp4")
        }
        #expect(try other.read("talk.mp4") == [1, 2, 3])
        try store.files.publish(path: path, isSealed: false, to: other.path + "/talk.mp4", replacing: .any)
        #expect(try other.read("talk.mp4") == bytes)
        #expect(try other.names() == ["talk.mp4"])
        #expect(try inode(other.path + "/talk.mp4") != inode(store.root.path + "/" + path))
    }

    @Test(arguments: ["/tmp", "/dev/shm"])
    func `Only the file that was written before is replaced, and only as it was written`(place: String) async throws {
        let other = try Scratch(in: place)
        let output = other.path + "/talk.mp4"
        let first = try store.files.publish(path: path, isSealed: false, to: output)
        let later = sample(1 << 20)
        try await store.writeWhole(later, plan(later.count, chunk: 1 << 20, name: "later"))
        #expect(throws: LectureError(.outputExists)) {
            try store.files.publish(path: "media/a7/later", isSealed: false, to: output)
        }
        let second = try store.files.publish(
            path: "media/a7/later", isSealed: false, to: output, replacing: .own([first]))
        #expect(try other.read("talk.mp4") == later)
        #expect(second != first)
        try other.write("talk.mp4", [1, 2, 3])
        #expect(throws: LectureError(.outputExists)) {
            try store.files.publish(path: path, isSealed: false, to: output, replacing: .own([first, second]))
        }
        #expect(try other.read("talk.mp4") == [1, 2, 3])
        #expect(try other.names() == ["talk.mp4"])
    }

    @Test func `A file with the same bytes stays, also one of another program`() throws {
        try outputs.write("talk.mp4", bytes)
        let before = try inode(outputs.path + "/talk.mp4")
        try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4")
        #expect(try inode(outputs.path + "/talk.mp4") == before)
    }

    @Test func `Nothing is placed below the store, whichever links lead there`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: outputs.path + "/link", withDestinationPath: store.root.path + "/media")
        for place in [store.root.path, store.root.path + "/media/a7", outputs.path + "/link/a7/.."] {
            let output = place + "/lecturekit.db"
            for right in [OutputRight.nothing, .any] {
                #expect(throws: LectureError(.outputRefused), "\(output)") {
                    try store.files.publish(path: path, isSealed: false, to: output, replacing: right)
                }
            }
            #expect(throws: LectureError(.outputRefused), "\(output)") { try store.files.status(output: output) }
        }
        #expect(try store.root.names() == ["media"])
    }

    @Test func `A FIFO is never replaced`() throws {
        let fifo = outputs.path + "/fifo"
        let status = unsafe mkfifo(fifo, 0o600)
        #expect(status == 0)
        #expect(throws: LectureError(.outputRefused)) {
            try store.files.publish(path: path, isSealed: false, to: fifo, replacing: .any)
        }
        #expect(throws: LectureError(.outputRefused)) {
            try store.files.publish(path: path, isSealed: false, to: "/dev/null", replacing: .any)
        }
        #expect(try outputs.names() == ["fifo"])
    }

    @Test func `An empty file can be copied`() async throws {
        try await store.writeWhole([], plan(0, name: "empty"))
        let other = try Scratch(in: "/dev/shm")
        try store.files.publish(path: "media/a7/empty", isSealed: false, to: other.path + "/empty")
        #expect(try other.read("empty").isEmpty)
    }

    @Test func `An invalid output is refused and nothing is created`() throws {
        try FileManager.default.createDirectory(
            atPath: outputs.path + "/folder", withIntermediateDirectories: true)
        try outputs.write("file", [1])
        for output in [
            "/folder", "/folder/", "/folder/.", "/folder/..", "/missing/talk.mp4", "/file/talk.mp4", "/a\0b",
            "/" + String(repeating: "x", count: 256),
        ] {
            #expect(throws: LectureError(.outputRefused), "\(output)") {
                try store.files.publish(path: path, isSealed: false, to: outputs.path + output)
            }
        }
        #expect(throws: LectureError(.outputRefused)) { try store.files.publish(path: path, isSealed: false, to: "") }
        #expect(try outputs.names() == ["file", "folder"])
        #expect(try outputs.names("folder").isEmpty)
    }

    @Test func `Only a finished file is published`() async throws {
        let part = store.make()
        part.file.open(plan(100, name: "half"))
        try await part.expectOpened()
        for path in ["media/a7/half", "media/a7/none", "media/b8/none"] {
            #expect(throws: LectureError(.readFile)) {
                try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4")
            }
        }
        #expect(try outputs.names().isEmpty)
    }

    @Test func `A published file outlives the store's`() throws {
        try store.files.publish(path: path, isSealed: false, to: outputs.path + "/talk.mp4")
        try store.files.delete(path: path)
        #expect(try outputs.read("talk.mp4") == bytes)
    }
}
