import CMpv
import Dispatch
import LectureKit

/// Renders the pictures of a player of libmpv into memory, on a queue of its own.
@safe final class FrameRenderer: Sendable {
    /// What may be used until it is freed.
    ///
    /// `@unchecked Sendable`: only the renderer's queue uses it.
    @safe private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let library: MpvLibrary
    private let frames: PlayerFrames
    private let queue = DispatchQueue(label: "lecture.player.frames")
    /// Nil once it is freed.
    private let context: Monitor<Context?>

    /// Starts to render.
    ///
    /// - Parameters:
    ///   - library: libmpv.
    ///   - player: its player, before media is opened.
    ///   - frames: where the pictures go.
    /// - Throws: `LectureError` with `playerFailed`.
    init(_ library: MpvLibrary, _ player: OpaquePointer, _ frames: PlayerFrames) throws(LectureError) {
        guard let made = unsafe cmpv_create_renderer(library.render.create, player) else {
            throw LectureError(.playerFailed, cause: "libmpv cannot render into memory")
        }
        (self.library, self.frames) = (library, frames)
        context = Monitor(unsafe Context(pointer: made))
        // Until the context is freed this renderer exists: the player has it.
        let itself = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe library.render.setUpdateCallback(made, pictureChanged, itself)
    }

    /// There may be another picture. Called on a thread of libmpv, which must not be kept.
    fileprivate func update() { queue.async { self.render() } }

    private func render() {
        guard let pixels = context.withLock({ $0 }).flatMap(picture) else { return }
        frames.receive(PlayerFrame(width: frames.width, height: frames.height, pixels: pixels))
    }

    private func picture(_ context: Context) -> [UInt8]? {
        guard cmpv_has_picture(unsafe library.render.update(context.pointer)) else { return nil }
        let (width, height) = (frames.width, frames.height)
        var result: Int32 = 0
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: width * height * 4) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            result = unsafe cmpv_render(
                library.render.render, context.pointer, Int32(width), Int32(height), width * 4, start)
            count = result < 0 ? 0 : width * height * 4
        }
        return result < 0 ? nil : pixels
    }

    /// Ends rendering; before the player is destroyed (render.h, "Threading").
    func close() {
        queue.sync {
            let last = context.withLock { context in
                defer { context = nil }
                return context
            }
            if let last { unsafe library.render.free(last.pointer) }
        }
    }
}

private func pictureChanged(_ renderer: UnsafeMutableRawPointer?) {
    guard let renderer = unsafe renderer else { return }
    unsafe Unmanaged<FrameRenderer>.fromOpaque(renderer).takeUnretainedValue().update()
}
