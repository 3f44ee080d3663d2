import Glibc

/// Answers lines on all cores and writes the answers in the order of the lines.
///
/// Lines that were read together are one job and get one write, so that a fast input needs few calls, and an input that
/// pauses has all its answers. How far the reading is ahead of the writing is limited, so that neither a slow reader of
/// the answers nor a difficult line costs memory.
struct LineWorkers: Sendable {
    /// Answers the lines of a job, without their ends; nil for one that was too long.
    typealias Answer = @Sendable ([[UInt8]?]) async -> [UInt8]

    /// What a job counts at least, in bytes: it has memory of its own, however short its lines are.
    static let leastBytes = 4096

    private let longestLine: Int
    private let bytesAhead: Int
    private let answer: Answer

    /// Makes workers.
    ///
    /// - Parameters:
    ///   - longestLine: in bytes; a longer line is not read into memory.
    ///   - bytesAhead: how many bytes of lines may be read and not answered yet. A longer line is answered alone.
    ///   - answer: answers a job, on any thread.
    init(longestLine: Int, bytesAhead: Int = Self.processors * (256 << 10), answer: @escaping Answer) {
        self.longestLine = longestLine
        self.bytesAhead = bytesAhead
        self.answer = answer
    }

    /// How many processors this machine has.
    static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Answers lines until the input ends.
    ///
    /// - Parameters:
    ///   - next: reads the next bytes of the input; nil at its end.
    ///   - write: gets the answers of a job.
    /// - Throws: what `next` throws, after the lines before it are answered; what `write` throws, at once: a read that
    ///   is waiting for input is not waited for.
    func run(
        reading next: @escaping @Sendable () async throws -> [UInt8]?, writing write: ([UInt8]) throws -> Void
    ) async throws {
        let queue = JobQueue(bytesAhead: bytesAhead)
        let reading = Task { await read(next, into: queue) }
        do {
            while let job = try await queue.first() {
                try write(await job.task.value)
                await queue.removeFirst()
            }
        } catch {
            reading.cancel()
            await queue.close()
            throw error
        }
    }

    private func read(_ next: @Sendable () async throws -> [UInt8]?, into queue: JobQueue) async {
        var assembler = LineAssembler(limit: longestLine)
        do {
            while let piece = try await next() {
                var lines: [[UInt8]?] = []
                assembler.take(piece) { lines.append($0) }
                guard await add(lines, to: queue) else { return }
            }
            if let line = assembler.finish(), await !add([line], to: queue) { return }
            await queue.end(nil)
        } catch {
            await queue.end(error)
        }
    }

    /// Starts a job once there is space for it; false when no caller takes the answers any more.
    private func add(_ lines: [[UInt8]?], to queue: JobQueue) async -> Bool {
        if lines.isEmpty { return true }
        let bytes = max(Self.leastBytes, lines.reduce(0) { $0 + ($1?.count ?? 0) })
        guard await queue.waitForSpace(bytes) else { return false }
        let answer = answer
        await queue.append(Job(bytes: bytes, task: Task.detached { await answer(lines) }))
        return true
    }
}

/// Lines that are being answered.
private struct Job: Sendable {
    /// What they count.
    let bytes: Int
    let task: Task<[UInt8], Never>
}

/// How many bytes are read and not answered yet.
struct LookAhead {
    let limit: Int
    private(set) var held = 0

    init(limit: Int) { self.limit = limit }

    /// Takes the bytes of a job, unless they are too many; where nothing is held, any number is taken.
    mutating func take(_ bytes: Int) -> Bool {
        guard held == 0 || held + bytes <= limit else { return false }
        held += bytes
        return true
    }

    /// Gives back the bytes of a job whose answers are written.
    mutating func give(_ bytes: Int) { held -= bytes }
}

/// The jobs between one task that reads and one that writes, in order.
private actor JobQueue {
    private var ahead: LookAhead
    private var jobs: [Job] = []
    /// The input has ended, with the error that ended it if there was one.
    private var ending: (any Error)??
    private var isClosed = false
    /// The task that reads, waiting for space.
    private var reader: CheckedContinuation<Void, Never>?
    /// The task that writes, waiting for a job or the end.
    private var writer: CheckedContinuation<Void, Never>?

    init(bytesAhead: Int) { ahead = LookAhead(limit: bytesAhead) }

    /// Waits until a job fits; false when the answers are not wanted any more.
    func waitForSpace(_ bytes: Int) async -> Bool {
        while !isClosed {
            if ahead.take(bytes) { return true }
            await withCheckedContinuation { reader = $0 }
        }
        return false
    }

    /// Appends a job that has space.
    func append(_ job: Job) {
        jobs.append(job)
        wakeWriter()
    }

    /// Ends the queue after its last job.
    func end(_ error: (any Error)?) {
        ending = .some(error)
        wakeWriter()
    }

    /// Waits for the first job; nil at the end.
    func first() async throws -> Job? {
        while true {
            if let job = jobs.first { return job }
            if let ending {
                if let error = ending { throw error }
                return nil
            }
            await withCheckedContinuation { writer = $0 }
        }
    }

    /// Removes the first job, whose answers are written.
    func removeFirst() {
        ahead.give(jobs.removeFirst().bytes)
        wakeReader()
    }

    /// Ends the waiting of the task that reads.
    func close() {
        isClosed = true
        wakeReader()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    private func wakeWriter() {
        writer?.resume()
        writer = nil
    }
}
