/// Encodes bodies so that they cannot be mistaken for the plain form: every bit is flipped.
enum TurnedBits {
    static func turn(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }
}
