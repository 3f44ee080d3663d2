import Foundation
import LectureFuzzing

/// The target this process drives, chosen by `LECTUREKIT_FUZZ_TARGET`: one build serves all of them, and libFuzzer
/// counts the coverage of each run by itself.
private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["LECTUREKIT_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.named(name) else {
        print("LECTUREKIT_FUZZ_TARGET is one of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
        exit(64)
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer keeps the bytes during the call; an empty input may come with a null pointer.
    let input = unsafe [UInt8](UnsafeBufferPointer(start: pointer, count: count))
    do {
        try chosen.run(input)
    } catch {
        FileHandle.standardError.write(Data("finding in \(chosen.name): \(error)\n".utf8))
        // The only way to report a finding to libFuzzer, which then keeps the input.
        abort()
    }
    return 0
}
