import CMpv
import LectureKit

/// Pictures that are made while they are shown, such as those of a broadcast in this process.
public protocol RawPictures: AnyObject, Sendable {
    /// In pixels: even.
    var width: Int { get }
    /// In pixels: even.
    var height: Int { get }

    /// Reads pictures one after the other, as the planes of YUV 4:2:0 without gaps. Blocks until there is one.
    ///
    /// - Parameter buffer: where the bytes go.
    /// - Returns: how many; 0 at the end, and after ``cancel()``.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int

    /// Ends reading, now and from now on.
    func cancel()
}

/// Raw pictures as a stream of libmpv.
final class PictureStream: Sendable {
    /// How libmpv names it.
    static let location = "lecture://pictures"
    private let pictures: any RawPictures

    init(_ pictures: any RawPictures) { self.pictures = pictures }

    /// Options for this stream only. A picture is shown when it is there: there is no clock to follow, and none is kept
    /// for later (mpv's manual, "Low latency playback" and `--untimed`).
    var options: String {
        [
            ("demuxer", "rawvideo"), ("demuxer-rawvideo-w", "\(pictures.width)"),
            ("demuxer-rawvideo-h", "\(pictures.height)"), ("cache", "no"), ("demuxer-readahead-secs", "0"),
            ("untimed", "yes"), ("video-latency-hacks", "yes"), ("framedrop", "no"),
        ]
        .map { "\($0)=\($1)" }.joined(separator: ",")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int { unsafe pictures.read(into: buffer) }

    func cancel() { pictures.cancel() }

    /// Gives it to libmpv, which owns it until it closes it.
    func open(_ info: UnsafeMutablePointer<mpv_stream_cb_info>) {
        unsafe info.pointee.cookie = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe info.pointee.read_fn = readPictures
        unsafe info.pointee.close_fn = closePictures
        unsafe info.pointee.cancel_fn = cancelPictures
    }
}

// What libmpv calls on its threads (stream_cb.h).

private func stream(_ cookie: UnsafeMutableRawPointer?) -> PictureStream? {
    unsafe cookie.map { unsafe Unmanaged<PictureStream>.fromOpaque($0).takeUnretainedValue() }
}

private func readPictures(
    _ cookie: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ count: UInt64
) -> Int64 {
    guard let buffer = unsafe buffer else { return -1 }
    let space = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(clamping: count))
    return unsafe Int64(stream(cookie)?.read(into: space) ?? -1)
}

private func closePictures(_ cookie: UnsafeMutableRawPointer?) {
    guard let cookie = unsafe cookie else { return }
    unsafe Unmanaged<PictureStream>.fromOpaque(cookie).release()
}

private func cancelPictures(_ cookie: UnsafeMutableRawPointer?) { unsafe stream(cookie)?.cancel() }
