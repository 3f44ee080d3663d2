import Foundation

/// Media without gaps, at which mpv would jump.
enum Tone {
    /// A sine wave as a WAV file: 16 bits, two channels, 44,100 samples a second.
    static func file(seconds: Int) -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        let length = seconds * 44_100 * 4
        var file = Array("RIFF".utf8) + number(36 + length, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + number(1, 2)
        file += number(2, 2) + number(44_100, 4) + number(176_400, 4) + number(4, 2) + number(16, 2)
        file += Array("data".utf8) + number(length, 4)
        let wave = (0..<44_100).flatMap { sample -> [UInt8] in
            let height = Int(8000 * sin(Double(sample) * 440 * 2 * .pi / 44_100)) & 0xFFFF
            return number(height, 2) + number(height, 2)
        }
        var all = Data(file)
        all.reserveCapacity(file.count + wave.count * seconds)
        for _ in 0..<seconds { all.append(contentsOf: wave) }
        return all
    }
}
