import Glibc
import LectureFormats

/// Texts in the character sets that files of other programs have. The tables are those of the machine's C library.
package enum CharacterSets {
    /// A text as UTF-8, without a byte order mark.
    ///
    /// What is UTF-8 stays as it is. UTF-16 is known by its mark. Everything else is read as CP949 (Windows-949, with
    /// EUC-KR in it), since files of this kind come from Korea; most texts in other sets have bytes that are not in it.
    ///
    /// - Parameter bytes: the whole text.
    /// - Returns: nil for a text in none of these.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes.dropFirst(2), lowFirst: true) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes.dropFirst(2), lowFirst: false) }
        if String(validating: bytes, as: UTF8.self) != nil {
            return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        }
        return korean(bytes)
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, lowFirst: Bool) -> [UInt8]? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = UTF16Units.read(bytes, lowFirst: lowFirst)
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
    }

    /// Reads CP949; nil also on a machine that has no table for it.
    private static func korean(_ bytes: [UInt8]) -> [UInt8]? {
        let conversion = unsafe iconv_open("UTF-8", "CP949")
        guard Int(bitPattern: conversion) != -1 else { return nil }
        defer { _ = unsafe iconv_close(conversion) }
        var source = bytes.map { CChar(bitPattern: $0) }
        // Two bytes become three at most, and one stays one.
        let most = bytes.count + bytes.count / 2 + 1
        let text = unsafe [UInt8](unsafeUninitializedCapacity: most) { target, count in
            count = unsafe source.withUnsafeMutableBufferPointer { input in
                var (from, left) = (input.baseAddress, input.count)
                return unsafe target.withMemoryRebound(to: CChar.self) { output in
                    var (to, free) = (output.baseAddress, output.count)
                    let result = unsafe iconv(conversion, &from, &left, &to, &free)
                    // All of it, or nothing: what is left is no CP949.
                    return result == -1 || left > 0 ? 0 : output.count - free
                }
            }
        }
        return text.isEmpty ? nil : text
    }
}
