import Glibc
import LectureFormats
import LectureKit
import LectureLoopback
import LectureModel
import LectureRecords

/// `lecturectl export`: an adaptive lecture as one file, which the program ffmpeg joins.
enum ExportCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        let path = command.text("output") ?? ""
        guard let format = ExportFormat(command.text("format"), path: path) else {
            throw UsageError("--format is needed: the name of the file has no known suffix.", path: ["export"])
        }
        let place = try ExportPlace(path, mayReplace: command.flag("force"))
        return try await session.withManager { manager in
            guard let content = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            guard content.isPlayable else { throw LectureError(.notComplete, detail: key.text) }
            guard content.type == .adaptiveDownload else {
                let cause = "it is one file already: see 'lecturectl path' and 'lecturectl cat'"
                throw LectureError(.parameter, detail: key.text, cause: cause)
            }
            try await manager.contents.requireUnsealed(key)
            var options = LoopbackOptions()
            options.idleLimit = nil
            let server = try LoopbackServer(manager, options: options)
            let subtitles = format.hasSubtitles ? try await manager.contents.subtitles(of: key) : []
            let run = ExportRun(
                session: session, content: content, format: format, place: place, subtitles: subtitles)
            do {
                let status = try await run.run(server)
                await server.stop()
                return status
            } catch {
                await server.stop()
                throw error
            }
        }
    }
}

/// The container of an exported file.
package enum ExportFormat: String, Sendable, CaseIterable {
    case mp4
    case mkv
    case ts

    /// The container that was asked for, or that a file's suffix names; nil when neither names one.
    ///
    /// - Parameters:
    ///   - word: of the option; nil without it.
    ///   - path: of the file.
    package init?(_ word: String?, path: String) {
        let name = path.split(separator: "/").last ?? ""
        let suffix = name.split(separator: ".").dropFirst().last.map { FieldText.lowercased(String($0)) }
        guard let format = (word ?? suffix).flatMap(Self.init(rawValue:)) else { return nil }
        self = format
    }

    /// Whether it has subtitles as text.
    package var hasSubtitles: Bool { self != .ts }

    /// ffmpeg's arguments behind the inputs: all tracks as they are, subtitles in the container's own form.
    ///
    /// - Parameter languages: of the subtitles, which are the second and the following inputs.
    /// - Returns: the words before the name of the file.
    package func arguments(subtitles languages: [String]) -> [String] {
        var words = ["-map", "0:v?", "-map", "0:a?", "-c", "copy"]
        for (place, language) in languages.enumerated() {
            words += ["-map", "\(place + 1):s"]
            if !language.isEmpty { words += ["-metadata:s:s:\(place)", "language=\(language)"] }
        }
        return switch self {
        case .mp4: words + ["-c:s", "mov_text", "-f", "mp4"]
        case .mkv: words + ["-f", "matroska"]
        case .ts: words + ["-f", "mpegts"]
        }
    }
}

/// Where an exported file will be, and where it is until then.
private struct ExportPlace {
    let path: String
    /// In the same directory, with the name of this process.
    let temporary: String
    private let mayReplace: Bool

    init(_ path: String, mayReplace: Bool) throws(LectureError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last, !name.isEmpty, name != ".", name != "..", name.utf8.count <= 200 else {
            throw LectureError(.outputRefused, detail: path, cause: "it is not the name of a file")
        }
        let directory = parts.dropLast().map { "\($0)/" }.joined()
        self.path = path
        self.mayReplace = mayReplace
        temporary = "\(directory).\(name).\(getpid()).part"
        try check()
    }

    /// Refuses to replace what is there.
    func check() throws(LectureError) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return }
        guard mayReplace, facts.st_mode & S_IFMT == S_IFREG else { throw LectureError(.outputExists, detail: path) }
    }

    /// Gives the finished file its name.
    func finish() throws(LectureError) -> Int64 {
        try check()
        var facts = stat()
        guard unsafe stat(temporary, &facts) == 0, unsafe rename(temporary, path) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw LectureError(.writeFile, detail: path, cause: reason)
        }
        return Int64(facts.st_size)
    }

    func discard() { unsafe unlink(temporary) }

    /// The place of a subtitle file for ffmpeg, whose demuxer of HLS leaves out renditions of subtitles.
    func subtitle(_ place: Int) -> String { "\(temporary).\(place).vtt" }

    /// Writes a file that is only there while ffmpeg runs.
    func write(_ bytes: [UInt8], to path: String) throws(LectureError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw LectureError(.writeFile, detail: path, cause: unsafe String(cString: strerror(errno)))
        }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw LectureError(.writeFile, detail: path, cause: unsafe String(cString: strerror(errno)))
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// One export.
private struct ExportRun {
    let session: CommandSession
    let content: Content
    let format: ExportFormat
    let place: ExportPlace
    let subtitles: [KeptSubtitle]

    private var context: CommandContext { session.context }
    private var key: ContentKey { content.key }

    func run(_ server: LoopbackServer) async throws -> ExitStatus {
        let play = try await server.open(.lecture(key))
        let texts = subtitles.indices.map(place.subtitle)
        defer {
            place.discard()
            for path in texts { unsafe unlink(path) }
        }
        for (path, subtitle) in zip(texts, subtitles) { try place.write(subtitle.bytes, to: path) }
        let signal = Signal()
        let (program, output, errors) = try start(play.url, texts)
        let watching = context.signals().map { watcher in
            Task {
                for await case .stop(let number) in watcher.events {
                    await signal.set(number)
                    program.stop()
                }
            }
        }
        defer { watching?.cancel() }
        async let last = lastLine(errors, play)
        await showProgress(output)
        let cause = await last
        let ending = await program.ending()
        await play.close()
        if let number = await signal.number { return .signal(number) }
        // ffmpeg leaves out what it cannot read, and goes on.
        if case .failed(let error) = await play.ending() { throw error }
        guard ending == .exited(0) else { throw LectureError(.exportFailed, detail: key.text, cause: cause) }
        let bytes = try place.finish()
        if session.wantsJSON {
            try context.output.write(machine: JSONLine.joined(key, path: place.path, bytes: bytes, format: format))
        } else {
            session.report("Wrote \(place.path) (\(HumanText.byteCount(bytes))).")
        }
        return .done
    }

    private func start(
        _ url: String, _ texts: [String]
    ) throws(LectureError) -> (ForegroundProgram, output: LinePipe, errors: LinePipe) {
        guard let output = LinePipe(), let errors = LinePipe() else {
            throw LectureError(.exportFailed, detail: key.text, cause: "no pipe could be made")
        }
        defer {
            output.started()
            errors.started()
        }
        let words = ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", "-progress", "pipe:1"]
        do {
            let program = try ForegroundProgram(
                words + ["-i", url] + texts.flatMap { ["-i", "file:\($0)"] }
                    + format.arguments(subtitles: subtitles.map(\.language)) + ["-y", "file:\(place.temporary)"],
                pipes: (output.writer, errors.writer))
            return (program, output, errors)
        } catch {
            throw LectureError(.exporterMissing, cause: error.cause)
        }
    }

    /// The last line that ffmpeg writes, without the URL, which permits reading the lecture.
    private func lastLine(_ errors: LinePipe, _ play: LoopbackPlay) async -> String {
        var last = ""
        for await line in errors.lines where !line.isEmpty { last = line }
        let secrets = play.url.split(separator: "/").dropFirst(2).prefix(1).map(String.init)
        for secret in secrets { last = Self.text(last, without: secret) }
        return last
    }

    private static func text(_ text: String, without secret: String) -> String {
        guard !secret.isEmpty else { return text }
        let (bytes, mark) = (Array(text.utf8), Array(secret.utf8))
        var (found, place) = ([UInt8](), 0)
        while place < bytes.count {
            if bytes[place...].starts(with: mark) {
                found += Array("…".utf8)
                place += mark.count
            } else {
                found.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: found, as: UTF8.self)
    }

    /// Shows how much of the lecture is joined, until ffmpeg closes its output.
    private func showProgress(_ output: LinePipe) async {
        let isShown =
            session.mayDraw && !session.isQuiet && session.command.text("progress") != "none"
        var last: Int64?
        for await line in output.lines {
            guard isShown, line.hasPrefix("out_time_us="), let time = Int64(line.dropFirst(12)) else { continue }
            let whole = content.duration.map { max(1, $0.milliseconds) }
            let share = whole.map { min(100, max(0, time / 10 / $0)) } ?? time / 1_000_000
            guard share != last else { continue }
            last = share
            try? context.diagnostics.write(machine: "\rJoining  \(share)\(whole == nil ? " s" : "%")\u{1B}[K")
        }
        if last != nil { try? context.diagnostics.write(machine: "\r\u{1B}[K") }
    }
}
