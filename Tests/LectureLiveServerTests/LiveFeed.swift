import Glibc
import LectureFormats
import LectureLive
import LectureTestSupport
import Testing

/// Broadcasters and players of tests: ffmpeg.
enum LiveFeed {
    /// A broadcaster of a test picture and a tone.
    static func publish(_ url: String) throws -> ChildProcess {
        try ChildProcess(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10", "-f", "lavfi",
                "-i", "sine", "-c:v", "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p", "-c:a",
                "aac", "-f", "flv", "\(url)?mode=CMAF",
            ])
    }

    /// A player of an RTMP address, which ends by itself after so many seconds of media.
    static func play(_ url: String, seconds: Int) throws -> ChildProcess {
        try ChildProcess(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "quiet", "-rw_timeout", "10000000", "-i", url, "-t", "\(seconds)", "-c", "copy", "-f",
                "null", "-",
            ])
    }

    /// Where a member broadcasts to.
    static func url(of member: StageMember) async throws -> String {
        let key = try await member.client.call("GET", "/v2/members/me/stream-key").json
        return try #require(StreamKey(key)).ingestURL + "/" + #require(StreamKey(key)).key
    }

    /// Kills a broadcaster or a player.
    static func end(_ process: ChildProcess) async {
        process.send(SIGKILL)
        _ = await process.ending()
    }
}
