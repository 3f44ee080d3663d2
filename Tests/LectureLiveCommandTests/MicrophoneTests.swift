import Foundation
import Glibc
import LectureLive
import LectureLiveClient
import LectureLiveServer
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// A sound server of a user, PulseAudio, whose source is a tone: what a microphone is for the ALSA library, without a
/// sound device of the kernel.
private final class SoundServer: Sendable {
    /// Cycles per second of the tone.
    static let frequency = 440

    /// How the sound comes.
    enum Pieces: CaseIterable {
        /// A third of a second each, as the reader asks for.
        case short
        /// Two seconds each, whatever the reader asks for.
        case long

        var modules: [String] {
            switch self {
            case .short: ["module-null-sink", "module-sine frequency=\(SoundServer.frequency)"]
            case .long: ["module-sine-source frequency=\(SoundServer.frequency)"]
            }
        }
    }

    private let program: ChildProcess
    private let directory: TemporaryDirectory

    init(_ pieces: Pieces) async throws {
        directory = try TemporaryDirectory.inMemory()
        let socket = directory.file("socket")
        program = try ChildProcess(
            try Places.command("pulseaudio"),
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
                "--log-target=stderr", "--log-level=info",
                "--load=module-native-protocol-unix socket=\(socket) auth-anonymous=1",
            ] + pieces.modules.map { "--load=\($0)" },
            environment: [
                "HOME": directory.path, "PULSE_RUNTIME_PATH": directory.path, "PULSE_STATE_PATH": directory.path,
                "DBUS_SESSION_BUS_ADDRESS": "",
            ])
        try await program.wait(for: .errors) { text in
            String(decoding: text, as: UTF8.self).contains("Daemon startup complete")
        }
    }

    /// What a program needs to hear the tone.
    var environment: [String: String] {
        ["PULSE_SERVER": "unix:\(directory.file("socket"))", "HOME": directory.path]
    }

    func stop() async { await program.terminate() }
}

/// A teacher's machine with a screen and a microphone, on the air by the built program.
private final class Studio: Sendable {
    let stage: CommandStage
    let sound: SoundServer
    let program: ChildProcess
    private let display: ChildProcess

    init(_ pieces: SoundServer.Pieces = .short) async throws {
        stage = try await CommandStage(hasMedia: true)
        for user in ["kim", "lee"] { try await stage.login(user) }
        sound = try await SoundServer(pieces)
        display = try ChildProcess.display("320x240")
        program = try ChildProcess(
            Places.builtProduct("lecture-live"),
            [
                "broadcast", "--source", "screen::\(try await display.firstLine())", "--microphone", "pulse", "--json",
                "--size", "640x360", "--fps", "10", "--bitrate", "300K",
            ], environment: stage.environment("kim").merging(sound.environment) { own, _ in own })
        try await program.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(#""state":"active""#) }
    }

    /// Listens for three seconds as a viewer.
    ///
    /// - Parameter rate: samples a second.
    /// - Returns: a number for each sample.
    /// - Throws: a failure of the server or of ffmpeg.
    func heard(rate: Int) async throws -> [Int16] {
        let id = try #require(try await stage.client("kim") { try await $0.streamKey() }.room?.id)
        let url = try await stage.client("lee") { client in
            try await client.join(id)
            return try await client.room(id).playURL
        }
        let heard = try await ChildProcess.run(
            try Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-i", try #require(url), "-vn", "-t", "3", "-ac", "1", "-ar", "\(rate)",
                "-f", "s16le", "-",
            ])
        #expect(heard.status == 0 && heard.output.count >= 5 * rate, "\(heard.output.count): \(heard.errorText)")
        let bytes = Array(heard.output)
        return stride(from: 0, to: bytes.count - 1, by: 2).map { place in
            Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
        }
    }

    /// Ends the broadcast, which ends its room.
    func end() async -> ChildProcess.Ending {
        program.send(SIGINT)
        let end = await program.ending()
        await sound.stop()
        await display.terminate()
        await stage.server.stop()
        return end
    }
}

/// Microphones, by the ALSA library and its plug-in for PulseAudio.
@Suite(.timeLimit(.minutes(2)))
struct MicrophoneTests {
    @Test(arguments: SoundServer.Pieces.allCases)
    fileprivate func `the microphone is in the sound of a viewer`(_ pieces: SoundServer.Pieces) async throws {
        let studio = try await Studio(pieces)
        let rate = 16_000
        // The encoder's start is left out.
        let samples = try await studio.heard(rate: rate).dropFirst(rate / 4)
        let rises = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
        let tone = Double(rises) * Double(rate) / Double(samples.count)
        // On a busy machine the sound server is late at times, and then there is a short silence.
        #expect(abs(tone - Double(SoundServer.frequency)) < 60, "\(tone)")
        let end = await studio.end()
        #expect(end.status == 0 && end.text.contains(#""state":"ENDED""#), "\(end.errorText)")
        #expect(!end.errorText.contains("The microphone"), "\(end.errorText)")
    }

    @Test func `a microphone that goes away is reported, and the broadcast goes on`() async throws {
        let studio = try await Studio()
        await studio.sound.stop()
        let sentence = "The microphone can no longer be read. The broadcast goes on without sound."
        try await studio.program.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(sentence) }
        _ = try await studio.heard(rate: 16_000)
        let end = await studio.end()
        #expect(end.status == 0 && end.text.contains(#""state":"ENDED""#), "\(end.errorText)")
        #expect(end.errorText.split(separator: "\n").count { $0.hasSuffix(sentence) } == 1, "\(end.errorText)")
        for line in end.text.split(separator: "\n") { #expect(try faults(String(line)) == [], "\(line)") }
    }
}
