import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Errors of the catalogue that no other test triggers.
@Suite(.timeLimit(.minutes(2))) struct ErrorNetTests {
    @Test(arguments: [
        (#""downloadable": false, "media": {"url": "http://127.0.0.1:1/a.mp4"}"#, "not_downloadable"),
        (#""media": {"file": "http://127.0.0.1:1/a.mp4"}"#, "descriptor_unreadable"),
    ])
    func `a gateway whose descriptor cannot be stored gets an error that says so`(
        members: String, name: String
    ) async throws {
        let me = try BadDay()
        try me.home.write(#"{"version": 1, "media_content_key": "k", \#(members)}"#, to: "gateway/si")
        var options = NginxOrigin.Options()
        options.directives = "default_type application/vnd.lecturekit.descriptor+json;"
        let gateway = try await NginxOrigin.start(serving: me.home.file("gateway"), options)
        let ending = try await me("precache", "--json", "\(gateway.http)/si")
        #expect(ending.status == 1, "\(ending.errorText)")
        let failed = try #require(try Line.all(ending.text).first { $0.event == "failed" })
        #expect(failed.name == name)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: "\(me.store)/media").isEmpty)
        try await me.expectSound()
    }

    @Test func `a file whose length differs from its description is refused`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let line = #"{"url": "\#(sandbox.http)/media/bytes-64K-1.mp4", "key": "k", "size": 65537}"#
        let ending = try await me("precache", "--json", try me.home.write(line, to: "course.jsonl"))
        #expect(ending.status == 1, "\(ending.errorText)")
        let failed = try #require(try Line.all(ending.text).first { $0.event == "failed" })
        #expect(failed.name == "length_changed")
    }
}
