import Foundation
import LectureKit
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// DASH as ffmpeg and Shaka Packager make it, served by nginx, kept by a real manager, and decoded from what was kept.
@Suite(.timeLimit(.minutes(5)))
struct DASHNetTests {
    @Test(arguments: ["number", "timeline", "list", "index"])
    func `what ffmpeg makes is kept whole`(kind: String) async throws {
        let scene = try await Scene()
        let common = ["-i", scene.source, "-c", "copy", "-f", "dash", "-seg_duration", "2"]
        switch kind {
        case "number": try await scene.ffmpeg(common + ["-use_timeline", "0", "m.mpd"])
        case "timeline":
            // ffmpeg names the first segment of sound by its negative time, and the manifest says 0.
            let times = ["-avoid_negative_ts", "make_zero", "-media_seg_name", "$RepresentationID$-$Time$.m4s"]
            try await scene.ffmpeg(common + times + ["-use_timeline", "1", "m.mpd"])
        case "list": try await scene.ffmpeg(common + ["-single_file", "1", "m.mpd"])
        default: try await scene.makeIndexedFiles()
        }
        try await scene.keepAndCompare(isOneFileEach: kind == "list" || kind == "index")
    }

    @Test(.enabled(if: Packager.path != nil, "Tools/packager installs Shaka Packager"), arguments: [true, false])
    func `what Shaka Packager makes is kept whole`(isOneFileEach: Bool) async throws {
        let scene = try await Scene()
        let streams = ["video", "audio"].map { stream in
            "in=\(scene.source),stream=\(stream),"
                + (isOneFileEach
                    ? "output=\(stream).mp4" : "init_segment=\(stream).mp4,segment_template=\(stream)-$Number$.m4s")
        }
        let program = try #require(Packager.path)
        let ending = try await ChildProcess.run(
            program,
            streams + ["--mpd_output", "m.mpd", "--segment_duration", "2"]
                + (isOneFileEach ? [] : ["--generate_static_live_mpd"]), directory: scene.site.root)
        try #require(ending.status == 0, "\(ending.errorText)")
        try await scene.keepAndCompare(isOneFileEach: isOneFileEach)
    }

    /// What `Tools/packager` has installed; without access to PyPI it is missing.
    private enum Packager {
        static let path: String? = {
            let place = Places.repository() + "/.build/packager"
            return (try? FileManager.default.contentsOfDirectory(atPath: place))?.sorted()
                .map { "\(place)/\($0)/packager" }.last { FileManager.default.isExecutableFile(atPath: $0) }
        }()
    }

    /// A film of 9.4 seconds with sound, and a site for what is made of it.
    private struct Scene {
        let site: Site
        let source: String
        let program: String

        init() async throws {
            (site, program) = (try Site(), try Places.command("ffmpeg"))
            source = site.directory.file("source.mp4")
            try await ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=9.4", "-f", "lavfi", "-i", "sine=440:d=9.4", "-c:v",
                "libx264", "-preset", "ultrafast", "-g", "50", "-c:a", "aac", source,
            ])
        }

        func ffmpeg(_ arguments: [String]) async throws {
            let ending = try await ChildProcess.run(
                program, ["-nostdin", "-v", "error", "-y"] + arguments, directory: site.root)
            try #require(ending.status == 0, "\(ending.errorText)")
        }

        /// Two files with a segment index each, and a manifest of them.
        func makeIndexedFiles() async throws {
            var sets = ""
            for (stream, type, codecs) in [("v", "video/mp4", "avc1.42c00b"), ("a", "audio/mp4", "mp4a.40.2")] {
                let name = "\(stream).mp4"
                try await ffmpeg([
                    "-i", source, "-map", "0:\(stream)", "-c", "copy", "-frag_duration", "2000000", "-movflags",
                    "+dash+global_sidx+frag_keyframe+default_base_moof", name,
                ])
                let bytes = try [UInt8](Data(contentsOf: URL(filePath: "\(site.root)/\(name)")))
                let type4 = try #require(bytes.indices.first { bytes[$0...].starts(with: "sidx".utf8) })
                let size = bytes[(type4 - 4)..<type4].reduce(0) { $0 << 8 | Int($1) }
                sets += """
                    <AdaptationSet mimeType="\(type)" codecs="\(codecs)"><Representation bandwidth="90000">
                    <BaseURL>\(name)</BaseURL><SegmentBase indexRange="\(type4 - 4)-\(type4 - 5 + size)"/>
                    </Representation></AdaptationSet>
                    """
            }
            let text = """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT9.5S"><Period>
                \(sets)</Period></MPD>
                """
            try Data(text.utf8).write(to: URL(filePath: "\(site.root)/m.mpd"))
        }

        /// The digests of all decoded frames.
        func frames(_ input: [String], _ stream: String) async throws -> [String] {
            let ending = try await ChildProcess.run(
                program,
                ["-nostdin", "-v", "error"] + input + ["-map", "0:\(stream):0", "-f", "framemd5", "-"])
            try #require(ending.status == 0, "\(ending.errorText)")
            return ending.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { $0.split(separator: ",").last.map { String($0.filter { $0 != " " }) } }
        }

        /// Keeps the lecture, and decodes its local playlists: every frame of the source is due, in its order.
        func keepAndCompare(isOneFileEach: Bool) async throws {
            let nginx = try await NginxOrigin.start(serving: site.root)
            let manager = try site.manager()
            let content = try await manager.fetch("\(nginx.http)/m.mpd")
            #expect(content.state == .completed, "\(content.error?.message ?? "")")
            #expect(content.type == .adaptiveDownload)
            await manager.close()
            await nginx.stop()
            let place = try layOut()
            for stream in ["v", "a"] {
                // Fragments have no edit list, which would hide the first frame of the sound.
                let due = try await frames(["-ignore_editlist", "1", "-i", source], stream)
                let kept = try await frames(["-allowed_extensions", "ALL", "-i", "\(place)/0.m3u8"], stream)
                #expect(due.count > 200 && kept == due, "\(kept.count) of \(due.count) frames of \(stream)")
            }
            for name in ["1.m3u8", "2.m3u8"] {
                let text = try String(contentsOfFile: "\(place)/\(name)", encoding: .utf8)
                #expect((4...6).contains(text.split(separator: "\n").count { $0.hasPrefix("#EXTINF:") }), "\(text)")
                #expect(text.contains("#EXT-X-BYTERANGE:") == isOneFileEach)
            }
        }

        /// The playlists and the files as a player gets them: under the names in the playlists.
        private func layOut() throws -> String {
            let place = site.directory.file("player")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let database = try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite)
            let texts = try database.query("SELECT text FROM playlist ORDER BY position") { $0.text(0) }
            for (index, text) in texts.enumerated() {
                try Data(text.utf8).write(to: URL(filePath: "\(place)/\(index).m3u8"))
            }
            let files = try database.query(
                "SELECT name, file_path FROM resource WHERE name <> '' AND file_path <> ''"
            ) { ($0.text(0), $0.text(1)) }
            for (name, path) in files where !name.hasSuffix(".m3u8") {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(place)/\(name)", withDestinationPath: "\(site.store)/\(path)")
            }
            return place
        }
    }
}
