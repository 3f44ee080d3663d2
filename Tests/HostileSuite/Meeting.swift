import Foundation
import Glibc
import LectureModel
import LectureTestSupport

/// One run of a client against a case.
package struct Meeting: Sendable {
    /// The case.
    package let hostileCase: HostileCase
    /// The client.
    package let client: Client
    /// Whether the client gets the digest.
    package let knowsDigest: Bool

    /// The time limit of a client.
    static let limit: Duration = .seconds(40)
    /// What a client may write beyond twice the lecture before it is stopped.
    static let diskLimit = 256 << 20

    /// Plans a meeting.
    ///
    /// - Parameters:
    ///   - hostileCase: the case.
    ///   - client: the client.
    ///   - knowsDigest: whether it gets the digest.
    package init(_ hostileCase: HostileCase, _ client: Client, knowsDigest: Bool) {
        (self.hostileCase, self.client, self.knowsDigest) = (hostileCase, client, knowsDigest)
    }

    /// What is due in this meeting.
    package var due: Due {
        if hostileCase.needsMirrors, !client.takesMirrors { return .rightOrRefusal }
        return knowsDigest ? hostileCase.due : hostileCase.dueBlind
    }

    /// Runs it.
    ///
    /// - Returns: what was seen.
    /// - Throws: when the origin or the program cannot be started.
    package func hold() async throws -> Evidence {
        let origin = try HostileOrigin(hostileCase)
        let place = try TemporaryDirectory()
        let task = try task(origin, place)
        let began = ContinuousClock.now
        let process = try ChildProcess(
            client.program, client.words(task), environment: client.environment(task), directory: place.path)
        let watch = Watch(
            process, directory: place.path, limit: Self.limit, most: 2 * hostileCase.size + Self.diskLimit)
        let ending = await process.ending()
        let (stop, peak) = watch.end()
        let passed = ContinuousClock.now - began
        // A shell's status for a program that it cannot start must not count as a refusal.
        guard ![126, 127].contains(ending.status) else { throw NotStarted(words: ending.errorText) }
        return Evidence(
            journal: origin.journal.all, verdict: stop ?? verdict(ending, task.output, origin.media),
            status: ending.status, words: ending.errorText, output: ending.text, peakDiskBytes: peak,
            milliseconds: Int(passed / .milliseconds(1)), size: hostileCase.size,
            handshakes: origin.journal.allHandshakes)
    }

    /// The promises that were broken, as sentences.
    ///
    /// - Parameter evidence: what was seen.
    /// - Returns: nothing when all were kept.
    package func brokenPromises(_ evidence: Evidence) -> [String] {
        (always + hostileCase.promises).compactMap { $0.breach(evidence) }
    }

    /// All violations: a verdict other than due, and the promises that were broken.
    ///
    /// - Parameter evidence: what was seen.
    /// - Returns: empty when there are none.
    package func breaches(_ evidence: Evidence) -> [String] {
        let isDue = due.accepts(evidence.verdict)
        return (isDue ? [] : ["\(evidence.verdict.rawValue); due is \(due.rawValue)"]) + brokenPromises(evidence)
    }

    /// The promises of every case.
    private var always: [Promise] { [.requests(atMost: 60), .disk(beyondTwice: hostileCase.diskBeyondTwice)] }

    private func task(_ origin: HostileOrigin, _ place: TemporaryDirectory) throws -> Client.Task {
        let home = place.file("home")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let authority = origin.authorityPEM.isEmpty ? nil : try place.write(origin.authorityPEM, to: "authority.pem")
        return Client.Task(
            url: origin.bases[0] + hostileCase.path,
            mirrors: hostileCase.mirrors.map { origin.bases[$0] + hostileCase.path },
            output: place.file("lecture.mp4"), home: home, sha256: knowsDigest ? origin.media.sha256 : nil,
            authorityFile: authority, connections: hostileCase.connections,
            sendsCredentials: hostileCase.sendsCredentials)
    }

    private func verdict(_ ending: ChildProcess.Ending, _ output: String, _ media: Media) -> Verdict {
        if ending.status > 128 { return .crashed }
        let bytes = FileManager.default.contents(atPath: output)
        if ending.status == 0 {
            let versions = [media] + (knowsDigest ? [] : hostileCase.versions(media))
            return versions.contains { bytes == Data($0.bytes) } ? .right : .corrupt
        }
        return bytes == nil ? .refused : .half
    }
}

/// The client could not be started.
struct NotStarted: Error {
    let words: String
}

/// Watches a program from outside, on its own thread: how much is on the disk, and whether it ends in time.
private final class Watch: Sendable {
    private struct Findings {
        var stop: Verdict?
        var peak = 0
    }

    private let findings = Guarded(Findings())
    private let ended = DispatchSemaphore(value: 0)
    private let directory: String

    init(_ process: ChildProcess, directory: String, limit: Duration, most: Int) {
        self.directory = directory
        let last = ContinuousClock.now + limit
        Thread.detachNewThread { [self] in
            while ended.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
                let isFlooded = look() > most
                guard isFlooded || ContinuousClock.now >= last else { continue }
                findings.withLock { $0.stop = isFlooded ? .flooded : .hung }
                process.send(SIGKILL)
            }
        }
    }

    /// Why it was stopped from outside, if it was, and the peak disk usage.
    func end() -> (stop: Verdict?, peak: Int) {
        ended.signal()
        look()
        return findings.withLock { ($0.stop, $0.peak) }
    }

    @discardableResult
    private func look() -> Int {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        // A file with two names is on the disk once: what is published is linked.
        var files: [ino_t: Int] = [:]
        for name in names {
            var status = stat()
            guard unsafe lstat("\(directory)/\(name)", &status) == 0 else { continue }
            // The allocated blocks, not the length of a sparse file.
            files[status.st_ino] = Int(status.st_blocks) * 512
        }
        let sum = files.values.reduce(0, +)
        findings.withLock { $0.peak = max($0.peak, sum) }
        return sum
    }
}
