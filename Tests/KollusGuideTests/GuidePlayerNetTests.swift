import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The chapters on playing and on bookmarks, as a program with libmpv and, for the window, a display.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct GuidePlayerNetTests {
    /// A scene with a downloaded film.
    private static func scene(_ options: String = "extras") async throws -> (GuideScene, key: String) {
        let scene = try await GuideScene.make()
        let key = "durable-on-the-disk"
        let link = try await scene.sandbox.link(key: key, query: options)
        let ending = try await scene("download", link)
        #expect(ending.status == 0, "\(ending.all)")
        return (scene, key)
    }

    /// No display, whatever the machine has.
    private static let blind = ["DISPLAY": "", "WAYLAND_DISPLAY": ""]

    @Test func `A part is played to its end, and a jump is reported twice`() async throws {
        let (scene, key) = try await Self.scene()
        let words = ["play", key, "--silent", "--section", "2-9", "--jump", "5", "--speed", "4"]
        let ending = try await scene.run(words, Self.blind)
        #expect(ending.status == 0, "\(ending.all)")
        let lines = ending.lines.filter { !$0.hasPrefix("picture ") }
        #expect(ending.lines.count == lines.count + 1)
        #expect(lines.first?.hasPrefix("prepared: ") == true)
        #expect(lines.last == "over")
        #expect(lines.filter { $0 == "jumps to 5 s" }.count == 1 && lines.filter { $0 == "is at 5 s" }.count == 1)
        #expect(lines.filter { $0.hasPrefix("plays at ") }.count == 1, "\(ending.all)")
        await scene.sandbox.stop()
    }

    @Test func `What cannot be played is said with its number`() async throws {
        let (scene, key) = try await Self.scene()
        let unknown = try await scene.run(["play", "unknown", "--silent"], Self.blind)
        #expect(unknown.status == 1 && unknown.text.hasPrefix("error -8621: "), "\(unknown.all)")
        // A display that does not answer.
        let dark = try await scene.run(["play", key, "--silent"], ["DISPLAY": ":4711", "WAYLAND_DISPLAY": ""])
        #expect(dark.status == 1 && dark.text.hasPrefix("error -20241: "), "\(dark.all)")
        await scene.sandbox.stop()
    }

    @Test func `A window shows the film, and its keys are reported`() async throws {
        let (scene, key) = try await Self.scene()
        let screen = try ChildProcess.display("640x480")
        let display = ["DISPLAY": ":" + (try await screen.firstLine()), "WAYLAND_DISPLAY": ""]
        let playing = try scene.start(["play", key, "--silent"], display)
        func says(_ line: String) -> @Sendable (Data) -> Bool {
            { String(decoding: $0, as: UTF8.self).split(separator: "\n").contains { $0.hasPrefix(line) } }
        }
        func press(_ key: String) async throws {
            let pressed = try await ChildProcess.run("/usr/bin/xdotool", ["key", key], environment: display)
            #expect(pressed.status == 0, "\(pressed.errorText)")
        }
        _ = try await playing.wait(for: .output, until: says("plays at "))
        try await press("space")
        _ = try await playing.wait(for: .output, until: says("paused"))
        let picture = try await ChildProcess.run(
            "/usr/bin/xwd", ["-root", "-silent", "-display", display["DISPLAY"] ?? ""])
        // Slides with text: light and dark, not one colour as the screen was.
        #expect(picture.status == 0 && Set(picture.output.dropFirst(4000)).count > 40)
        try await press("q")
        let ending = await playing.ending()
        #expect(ending.status == 0 && ending.lines.last == "over", "\(ending.all)")
        _ = await screen.terminate()
        await scene.sandbox.stop()
    }

    @Test func `The bookmarks of the description are listed by position`() async throws {
        let (scene, key) = try await Self.scene()
        let ending = try await scene("bookmarks", key)
        #expect(ending.status == 0, "\(ending.all)")
        let list = ending.lines.dropFirst()
        #expect(ending.lines.first?.hasPrefix("bookmarks can") == true)
        #expect(list == ["30 s, index: Definition", "95 s, learner: Ask about this"], "\(ending.all)")
        let added = try await scene("bookmarks", key, "--add", "12", "the proof")
        #expect(added.status == 0 && added.lines.contains("12 s, learner: the proof"), "\(added.all)")
        let removed = try await scene("bookmarks", key, "--remove", "12")
        #expect(removed.status == 0 && removed.lines.suffix(2) == list.suffix(2), "\(removed.all)")
        await scene.sandbox.stop()
    }
}
