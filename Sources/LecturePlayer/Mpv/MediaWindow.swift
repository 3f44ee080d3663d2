import CMpv
import LectureKit

/// The bytes of a lecture for a thread of libmpv, which asks for them one call after the other and waits.
///
/// A source is read in windows, mostly of 1 MiB: it verifies whole chunks, and a player asks for a few KiB at a time.
/// The window behind the one in use is read meanwhile. At most three are in memory.
final class MediaWindow: Sendable {
    private struct State {
        var position: Int64 = 0
        /// By number, the one used last at the end.
        var windows: [(number: Int64, bytes: [UInt8])] = []
        /// The windows that are being read.
        var reads: [Int64: Task<Void, Never>] = [:]
        var failure: LectureError?
        var isCancelled = false
    }

    /// The length of a window, where nothing else is said.
    static let longest: Int64 = 1 << 20
    private static let mostWindows = 3

    private let source: any MediaSource
    private let length: Int64
    private let failed: @Sendable (LectureError) -> Void
    private let state = Monitor(State())

    /// Creates a window over a source.
    ///
    /// - Parameters:
    ///   - source: the media.
    ///   - length: how much is read at once.
    ///   - failed: is called when the source cannot be read.
    init(
        _ source: any MediaSource, length: Int64 = MediaWindow.longest,
        failed: @escaping @Sendable (LectureError) -> Void = { _ in }
    ) {
        (self.source, self.length, self.failed) = (source, length, failed)
    }

    /// The length of the media in bytes.
    var byteCount: Int64 { source.byteCount }

    /// Why the source cannot be read; nil while it can.
    var error: LectureError? { state.withLock(\.failure) }

    /// Reads the next bytes; waits for them.
    ///
    /// - Parameter buffer: where they go.
    /// - Returns: how many; 0 at the end, -1 when the source cannot be read or ``cancel()`` was called.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let space = buffer.count
        return state.wait { state in
            guard !state.isCancelled else { return -1 }
            guard state.position < byteCount, space > 0 else { return 0 }
            let number = state.position / length
            guard let place = state.windows.firstIndex(where: { $0.number == number }) else {
                if state.failure != nil { return -1 }
                request(number, &state)
                return nil
            }
            let window = state.windows.remove(at: place)
            state.windows.append(window)
            let next = number + 1
            if next * length < byteCount, !state.windows.contains(where: { $0.number == next }) {
                request(next, &state)
            }
            let start = Int(state.position - number * length)
            let count = min(space, window.bytes.count - start)
            unsafe window.bytes[start..<start + count].withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            state.position += Int64(count)
            return count
        }
    }

    /// Moves to a position.
    ///
    /// - Parameter place: from the first byte.
    /// - Returns: whether it is in the media.
    func seek(to place: Int64) -> Bool {
        state.withLock { state in
            guard (0...byteCount).contains(place) else { return false }
            state.position = place
            return true
        }
    }

    /// Ends each call of ``read(into:)``, now and from now on.
    func cancel() {
        let running = state.change { state in
            state.isCancelled = true
            return Array(state.reads.values)
        }
        for task in running { task.cancel() }
    }

    /// Starts to read a window.
    private func request(_ number: Int64, _ state: inout State) {
        guard state.reads[number] == nil else { return }
        let range = number * length..<min(byteCount, (number + 1) * length)
        state.reads[number] = Task { [weak self, source] in
            let window = Monitor<[UInt8]>([])
            do {
                try await source.read(range: range) { piece in
                    window.withLock { bytes in if bytes.isEmpty { bytes = piece } else { bytes += piece } }
                }
                self?.received(number, window.withLock(\.self), range.count)
            } catch { self?.failed(number, error as? LectureError ?? LectureError(.cancelled)) }
        }
    }

    private func received(_ number: Int64, _ bytes: [UInt8], _ count: Int) {
        guard bytes.count == count else { return failed(number, LectureError(.damaged)) }
        state.change { state in
            state.reads[number] = nil
            // Before the one in use, which is the last.
            state.windows.insert((number, bytes), at: max(0, state.windows.count - 1))
            if state.windows.count > Self.mostWindows { state.windows.removeFirst() }
        }
    }

    private func failed(_ number: Int64, _ error: LectureError) {
        let isCancelled = state.change { state in
            state.reads[number] = nil
            return state.isCancelled
        }
        guard !isCancelled else { return }
        fail(error)
        failed(error)
    }

    /// Ends the reading: what is in memory is still returned.
    ///
    /// - Parameter error: why.
    func fail(_ error: LectureError) {
        state.change { state in
            if !state.isCancelled, state.failure == nil { state.failure = error }
        }
    }

    /// Gives it to libmpv, which owns it until it closes it.
    func open(_ info: UnsafeMutablePointer<mpv_stream_cb_info>) {
        unsafe info.pointee.cookie = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe info.pointee.read_fn = readStream
        unsafe info.pointee.seek_fn = seekStream
        unsafe info.pointee.size_fn = sizeOfStream
        unsafe info.pointee.close_fn = closeStream
        unsafe info.pointee.cancel_fn = cancelStream
    }
}

// What libmpv calls on its threads (stream_cb.h).

private func window(_ cookie: UnsafeMutableRawPointer?) -> MediaWindow? {
    unsafe cookie.map { unsafe Unmanaged<MediaWindow>.fromOpaque($0).takeUnretainedValue() }
}

private func readStream(
    _ cookie: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ count: UInt64
) -> Int64 {
    guard let buffer = unsafe buffer else { return -1 }
    let space = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(clamping: count))
    return unsafe Int64(window(cookie)?.read(into: space) ?? -1)
}

private func seekStream(_ cookie: UnsafeMutableRawPointer?, _ place: Int64) -> Int64 {
    unsafe window(cookie)?.seek(to: place) == true ? place : Int64(MPV_ERROR_GENERIC.rawValue)
}

private func sizeOfStream(_ cookie: UnsafeMutableRawPointer?) -> Int64 {
    unsafe window(cookie)?.byteCount ?? Int64(MPV_ERROR_UNSUPPORTED.rawValue)
}

private func closeStream(_ cookie: UnsafeMutableRawPointer?) {
    guard let cookie = unsafe cookie else { return }
    unsafe Unmanaged<MediaWindow>.fromOpaque(cookie).release()
}

private func cancelStream(_ cookie: UnsafeMutableRawPointer?) { unsafe window(cookie)?.cancel() }
