import Foundation
import LectureCrypto
import LectureModel
import LectureTestSupport

/// Bytes from hexadecimal text, spaces allowed.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Hexadecimal text of bytes.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
}

/// Bytes that look random and are the same in every run.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] { SampleBytes.make(count, seed: seed) }

/// Eight bytes, big endian.
func bigEndian(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}

extension RunningDigest {
    /// Takes an array, whole or in pieces that end at the given places.
    func update(_ bytes: [UInt8], cutAt cuts: [Int] = []) {
        var start = 0
        for end in cuts.sorted() + [bytes.count] {
            unsafe Array(bytes[start..<end]).withUnsafeBytes { unsafe update($0) }
            start = end
        }
    }
}

/// A program's output and status.
struct Output {
    var status: Int32
    var text: String
}

/// Runs a program of the machine and waits for it.
func run(_ arguments: [String], input: [UInt8] = []) throws -> Output {
    let ending = try ChildProcess.runBlocking("/usr/bin/env", arguments, input: input)
    return Output(status: ending.status, text: ending.text.trimmingCharacters(in: .whitespacesAndNewlines))
}

/// The bytes of a file.
func contents(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
