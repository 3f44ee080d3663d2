import CArchive
import LectureModel

/// The context of libarchive's write callback: where the bytes go that it makes.
final class ArchiveOutlet {
    /// Receives bytes in order.
    typealias Sink = ([UInt8]) throws(LectureError) -> Void

    private let sink: Sink
    /// What the sink threw; it gets nothing more after that.
    private(set) var failure: LectureError?

    init(_ sink: @escaping Sink) { self.sink = sink }

    /// Opens an archive that writes here. The archive does not retain the outlet.
    ///
    /// - Returns: libarchive's code.
    @safe func open(_ archive: OpaquePointer, _ library: ArchiveLibrary) -> Int32 {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe library.writing.open(archive, context, nil, bytesMade, nil)
    }

    /// Hands bytes to the sink.
    ///
    /// - Returns: how many bytes were taken, or −1.
    fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        if failure != nil { return -1 }
        do throws(LectureError) {
            try sink(unsafe Array(bytes))
            return bytes.count
        } catch {
            failure = error
            return -1
        }
    }
}

/// libarchive's write callback; on the thread that writes.
private func bytesMade(
    _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
    guard let context = unsafe context else { return -1 }
    let outlet = unsafe Unmanaged<ArchiveOutlet>.fromOpaque(context).takeUnretainedValue()
    return unsafe outlet.take(UnsafeRawBufferPointer(start: bytes, count: count))
}
