import Foundation
import LectureTestSupport

/// Descriptors of the sandbox's film with subtitles, served by nginx.
struct FilmGateway {
    let server: NginxOrigin
    let directory: TemporaryDirectory
    let film: String

    init(_ sandbox: SandboxOrigin) async throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.file("i"), withIntermediateDirectories: true)
        for (language, word) in [("en", "MMMMMMMM MMMMMMMM"), ("ko", "WWWWWWWW WWWWWWWW")] {
            _ = try directory.write("WEBVTT\n\n00:00.000 --> 01:00.000\n\(word)\n", to: "\(language).vtt")
        }
        var options = NginxOrigin.Options()
        options.directives =
            "types { text/vtt vtt; text/plain srt smi; audio/wav wav; } "
            + "default_type application/vnd.lecturekit.descriptor+json;"
        server = try await NginxOrigin.start(serving: directory.path, options)
        film = "\(sandbox.http)/media/durable-on-the-disk.mp4"
    }

    func link(_ key: String) -> String { "\(server.http)/i/\(key)" }

    static let subtitles = [("en", "en.vtt"), ("ko", "ko.vtt")]

    /// Writes a descriptor.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - media: its media; the film by default.
    ///   - subtitles: its subtitles, by the names of their files.
    ///   - more: further members, after a comma.
    /// - Throws: when it cannot be written.
    func describe(
        _ key: String, media: String? = nil, subtitles: [(language: String, file: String)] = Self.subtitles,
        more: String
    ) throws {
        let subtitles = subtitles.map { language, file in
            #"{"name":"\#(file)","language":"\#(language)","url":"\#(server.http)/\#(file)"}"#
        }
        let list = #""subtitles":[\#(subtitles.joined(separator: ","))]"#
        let text = #"{"version":1,"media_content_key":"\#(key)","media":{"url":"\#(media ?? film)"},\#(list)\#(more)}"#
        _ = try directory.write(text, to: "i/\(key)")
    }
}
