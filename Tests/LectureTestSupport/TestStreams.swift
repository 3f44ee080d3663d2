package import Foundation

/// Adaptive lectures (HLS) of ten seconds, as ffmpeg makes them: once in a test process.
package struct TestStreams: Sendable {
    /// Where they are: `<kind>/main.m3u8`.
    package let directory: TemporaryDirectory

    /// What they have.
    package enum Kind: String, Sendable, CaseIterable {
        /// Segments of MPEG-TS.
        case ts
        /// An initialisation section and fragments of MP4.
        case fmp4
        /// MPEG-TS, encrypted with AES-128 under an explicit vector.
        case aes
        /// Fragments of MP4, encrypted under the numbers of the segments.
        case fmp4aes
        /// Sound of its own.
        case audio
        /// Byte ranges of one file.
        case range
        /// Two films, one after the other.
        case discontinuity
        /// Subtitles in two segments.
        case subtitles
    }

    /// Those of this process.
    package static let shared = Task { try await TestStreams() }

    /// The key of all that are encrypted.
    package static let key = Array("0123456789abcdef".utf8)

    private init() async throws {
        directory = try TemporaryDirectory()
        for kind in Kind.allCases {
            try FileManager.default.createDirectory(
                atPath: directory.file(kind.rawValue), withIntermediateDirectories: true)
        }
        try await ffmpeg(Self.film("testsrc2", 10) + ["-t", "10", "film.mp4"])
        let cut = ["-i", "film.mp4", "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod"]
        try await ffmpeg(cut + ["ts/main.m3u8"])
        try await ffmpeg(cut + ["-hls_segment_type", "fmp4", "fmp4/main.m3u8"])
        try await ffmpeg(cut + ["-hls_flags", "single_file", "range/main.m3u8"])
        let streams = "v:0,agroup:a a:0,agroup:a,default:yes,language:en"
        try await ffmpeg(
            cut + ["-map", "0:v", "-map", "0:a", "-var_stream_map", streams, "-master_pl_name", "main.m3u8"]
                + ["audio/s%v.m3u8"])
        try write("k.bin\naes/k.bin\n", "aes.info")
        for kind in ["aes", "fmp4aes"] {
            try Data(Self.key).write(to: URL(filePath: directory.file("\(kind)/k.bin")))
        }
        try await ffmpeg(cut + ["-hls_key_info_file", "aes.info", "aes/main.m3u8"])
        try await encrypt()
        try await ffmpeg(
            Self.film("testsrc", 4) + ["-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod"]
                + ["discontinuity/b.m3u8"])
        let parts =
            (0..<2).map { "#EXTINF:2.0,\n../ts/main\($0).ts\n" } + ["#EXT-X-DISCONTINUITY\n"]
            + (0..<2).map { "#EXTINF:2.0,\nb\($0).ts\n" }
        try write(Self.head + parts.joined() + "#EXT-X-ENDLIST\n", "discontinuity/main.m3u8")
        try addSubtitles()
    }

    private static let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"

    private static func film(_ pattern: String, _ seconds: Int) -> [String] {
        [
            "-f", "lavfi", "-i", "\(pattern)=size=320x180:rate=25:duration=\(seconds)", "-f", "lavfi", "-i",
            "sine=frequency=440:duration=\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "50",
            "-keyint_min", "50", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k",
        ]
    }

    /// Each file by itself, as a packager would do it, with OpenSSL's own program.
    private func encrypt() async throws {
        let vector = "000102030405060708090a0b0c0d0e0f"
        let key = Self.key.map { String($0, radix: 16) }.joined()
        func encrypt(_ file: String, _ vector: String) async throws {
            try await run(
                "openssl",
                ["enc", "-aes-128-cbc", "-K", key, "-iv", vector, "-in", "fmp4/\(file)", "-out", "fmp4aes/\(file)"])
        }
        try await encrypt("init.mp4", vector)
        var text = Self.head + "#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\",IV=0x\(vector)\n"
        text += "#EXT-X-MAP:URI=\"init.mp4\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\"\n"
        for number in 0..<5 {
            let digits = String(number + 5, radix: 16)
            try await encrypt("main\(number).m4s", String(repeating: "0", count: 32 - digits.count) + digits)
            text += "#EXTINF:2.0,\nmain\(number).m4s\n"
        }
        try write(text + "#EXT-X-ENDLIST\n", "fmp4aes/main.m3u8")
    }

    private func addSubtitles() throws {
        let media = #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="subs.m3u8""#
        let variant = #"#EXT-X-STREAM-INF:BANDWIDTH=783956,RESOLUTION=320x180,SUBTITLES="s""#
        try write("#EXTM3U\n\(media)\n\(variant)\n../ts/main.m3u8\n", "subtitles/main.m3u8")
        let head = Self.head.replacingOccurrences(of: "DURATION:2", with: "DURATION:5")
        try write("\(head)#EXTINF:5,\na.vtt\n#EXTINF:5,\nb.vtt\n#EXT-X-ENDLIST\n", "subtitles/subs.m3u8")
        let map = "X-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000"
        try write("WEBVTT\n\(map)\n\n00:01.000 --> 00:03.000\nHello\n", "subtitles/a.vtt")
        try write("WEBVTT\n\(map)\n\n00:06.000 --> 00:09.000\nWorld\n", "subtitles/b.vtt")
    }

    /// Puts another film, of any form, beside the others.
    ///
    /// - Parameters:
    ///   - film: the file.
    ///   - name: of its directory.
    ///   - options: of ffmpeg, behind its codec.
    /// - Throws: ``ChildProcess/Failure``.
    package func add(_ film: Data, as name: String, _ options: [String] = []) async throws {
        try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
        try film.write(to: URL(filePath: directory.file("\(name)/film")))
        try await ffmpeg(
            ["-i", "\(name)/film", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", "-pix_fmt", "yuv420p"]
                + ["-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod"] + options + ["\(name)/main.m3u8"])
    }

    /// Puts one film beside the others, cut in two whose clocks both begin at zero.
    ///
    /// - Parameters:
    ///   - film: the file.
    ///   - name: of its directory.
    ///   - place: where the second part begins, in seconds: even.
    ///   - end: how long the film is, in seconds: even.
    /// - Throws: ``ChildProcess/Failure``.
    package func add(_ film: Data, as name: String, cutAt place: Int, end: Int) async throws {
        let options = ["-g", "50", "-sc_threshold", "0"]
        try await add(film, as: "\(name)-a", options + ["-t", "\(place)"])
        try await add(film, as: "\(name)-b", options + ["-ss", "\(place)"])
        try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
        func list(_ part: String, _ count: Int) -> String {
            (0..<count).map { "#EXTINF:2.0,\n../\(name)-\(part)/main\($0).ts\n" }.joined()
        }
        let body = "\(list("a", place / 2))#EXT-X-DISCONTINUITY\n\(list("b", (end - place) / 2))"
        try write("\(Self.head)\(body)#EXT-X-ENDLIST\n", "\(name)/main.m3u8")
    }

    /// How a film is cut into fragments of MP4.
    package enum Fragments: String, Sendable, CaseIterable {
        /// HLS: sound and pictures in the same segments.
        case muxed
        /// HLS: sound of its own.
        case separate
        /// HLS: two films with clocks that both begin at zero, and a discontinuity between them.
        case cut
        /// DASH: a file for each segment.
        case template
        /// DASH: several fragments in each segment.
        case chunks
        /// DASH: a file for each track.
        case single

        /// The manifest or the playlist to begin with.
        package var list: String {
            switch self {
            case .muxed, .separate, .cut: "main.m3u8"
            case .template, .chunks, .single: "main.mpd"
            }
        }

        /// How ffmpeg makes it.
        fileprivate var options: [String] {
            let hls = ["-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"]
            let dash = ["-f", "dash", "-seg_duration", "2"]
            return switch self {
            case .muxed, .cut: hls
            // Without pictures that refer to later ones: ffmpeg would move the pictures against the sound.
            case .separate:
                hls + ["-bf", "0", "-map", "0:v", "-map", "1:a"]
                    + ["-var_stream_map", "v:0,agroup:a a:0,agroup:a,default:yes"]
                    + ["-master_pl_name", "main.m3u8", "-hls_fmp4_init_filename", "init%v.mp4"]
            case .template: dash
            case .chunks: dash + ["-frag_type", "duration", "-frag_duration", "0.5"]
            case .single: dash + ["-single_file", "1"]
            }
        }
    }

    /// Puts a film with sound beside the others, in fragments of MP4; pictures refer to later ones where the form
    /// permits it.
    ///
    /// - Parameters:
    ///   - film: the file.
    ///   - name: of its directory.
    ///   - form: how it is cut.
    ///   - seconds: how long the film is: a multiple of four.
    /// - Throws: ``ChildProcess/Failure``.
    package func add(_ film: Data, as name: String, _ form: Fragments, seconds: Int) async throws {
        try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
        try film.write(to: URL(filePath: directory.file("\(name)/film")))
        func make(_ part: [String], _ target: [String]) async throws {
            let sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=\(seconds)"]
            try await ffmpeg(
                part + ["-i", "\(name)/film"] + part + sound + ["-c:v", "libx264", "-preset", "ultrafast"]
                    + ["-qp", "4", "-pix_fmt", "yuv420p", "-g", "50", "-sc_threshold", "0", "-c:a", "aac"]
                    + ["-bf", "2"] + form.options + target)
        }
        guard form == .cut else {
            return try await make([], ["\(name)/\(form == .separate ? "s%v.m3u8" : form.list)"])
        }
        var lists: [String] = []
        for (part, start) in [("a", 0), ("b", seconds / 2)] {
            try await make(
                ["-ss", "\(start)", "-t", "\(seconds / 2)"],
                ["-hls_fmp4_init_filename", "\(part).mp4", "\(name)/\(part).m3u8"])
            lists.append(
                "#EXT-X-MAP:URI=\"\(part).mp4\"\n"
                    + (0..<seconds / 4).map { "#EXTINF:2.0,\n\(part)\($0).m4s\n" }.joined())
        }
        let body = lists.joined(separator: "#EXT-X-DISCONTINUITY\n")
        try write("\(Self.head)\(body)#EXT-X-ENDLIST\n", "\(name)/main.m3u8")
    }

    /// Serves them.
    ///
    /// - Returns: nginx; its directory `i` has descriptors.
    /// - Throws: ``ChildProcess/Failure``.
    package func serve(_ path: String? = nil) async throws -> NginxOrigin {
        var options = NginxOrigin.Options()
        options.directives =
            "types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; video/mp4 mp4 m4s; text/vtt vtt; "
            + "application/x-sami smi; application/x-subrip srt; application/dash+xml mpd; "
            + "application/octet-stream bin ass; } "
            + "default_type application/vnd.lecturekit.descriptor+json;"
        return try await NginxOrigin.start(serving: path ?? directory.path, options)
    }

    private func write(_ text: String, _ name: String) throws { _ = try directory.write(text, to: name) }

    private func ffmpeg(_ words: [String]) async throws {
        try await run("ffmpeg", ["-nostdin", "-v", "error", "-y"] + words)
    }

    private func run(_ program: String, _ words: [String]) async throws {
        let made = try ChildProcess(try Places.command(program), words, directory: directory.path)
        let ending = await made.ending()
        guard ending.status == 0 else { throw ChildProcess.Failure(description: "\(words): \(ending.errorText)") }
    }

    /// What a program decodes of a URL: a line for each frame, with its time and its digest.
    ///
    /// - Parameter url: of a playlist, or a file.
    /// - Returns: the lines.
    /// - Throws: ``ChildProcess/Failure``.
    package static func frames(_ url: String) async throws -> String {
        let words = ["-nostdin", "-v", "error", "-i", url, "-map", "0:v", "-map", "0:a?", "-f", "framemd5", "-"]
        let ending = try await ChildProcess.run(try Places.command("ffmpeg"), words)
        guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText) }
        return ending.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
    }
}
