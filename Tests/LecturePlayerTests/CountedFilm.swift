import Foundation

/// An uncompressed film (YUV4MPEG2) whose pictures show their own number: a stripe for each bit, white for 1.
enum CountedFilm {
    static let (width, height, rate, bits) = (96, 32, 25, 12)

    /// The file of a film.
    ///
    /// - Parameter seconds: its length.
    /// - Returns: the bytes; 115 kB a second.
    static func file(seconds: Int) -> Data {
        var file = Data("YUV4MPEG2 W\(width) H\(height) F\(rate):1 Ip A1:1 C420jpeg\n".utf8)
        let chroma = Data(repeating: 128, count: width * height / 2)
        for number in 0..<seconds * rate {
            let row = (0..<width).map { UInt8(number >> ($0 / (width / bits)) & 1) * 255 }
            file += Data("FRAME\n".utf8)
            for _ in 0..<height { file += row }
            file += chroma
        }
        return file
    }

    /// The number that a picture shows.
    ///
    /// - Parameter pixels: four bytes a pixel, of the film's own size.
    /// - Returns: the number.
    static func number(in pixels: [UInt8]) -> Int {
        (0..<bits).reduce(0) { number, bit in
            let x = bit * (width / bits) + width / bits / 2
            return number | (pixels[(height / 2 * width + x) * 4 + 1] > 127 ? 1 : 0) << bit
        }
    }
}
