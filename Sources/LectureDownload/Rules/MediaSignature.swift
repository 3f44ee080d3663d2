/// How audio and video files start: the containers and elementary streams that players know, by the bytes that their
/// specifications fix. Pictures are included, since players show them as videos of one frame.
///
/// What has no fixed bytes (bare samples) is not here. A test reads the starts of more than a hundred files that FFmpeg
/// wrote, one for each of its formats.
package enum MediaSignature {
    /// Whether a body starts like one of them.
    ///
    /// - Parameter bytes: the first ``FirstBytes/length`` bytes, or all of a shorter body.
    /// - Returns: true for a known signature.
    package static func isKnown(_ bytes: [UInt8]) -> Bool {
        fixed.contains { $0.matches(bytes) } || isBoxed(bytes) || isTransportStream(bytes) || isAudioFrame(bytes)
            || isStartCode(bytes) || isMotionJPEG(bytes)
    }

    // MARK: Fixed bytes

    private struct Fixed: Sendable {
        let offset: Int
        let bytes: [UInt8]

        init(_ text: String, at offset: Int = 0) { (self.offset, bytes) = (offset, Array(text.utf8)) }
        init(_ bytes: [UInt8], at offset: Int = 0) { (self.offset, self.bytes) = (offset, bytes) }

        func matches(_ body: [UInt8]) -> Bool {
            body.count >= offset + bytes.count && body[offset..<offset + bytes.count].elementsEqual(bytes)
        }
    }

    private static let fixed: [Fixed] = containers + audio + video + pictures

    private static let containers: [Fixed] = [
        Fixed([0x1A, 0x45, 0xDF, 0xA3]),  // Matroska, WebM: EBML (RFC 8794)
        Fixed("OggS"),  // Ogg (RFC 3533)
        Fixed("RIFF"), Fixed("RIFX"), Fixed("RF64"), Fixed("BW64"),  // AVI, WAVE, WebP
        Fixed([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]),  // ASF, WMV, WMA
        Fixed([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], at: 12),  // the same with MMS headers
        Fixed("FLV"), Fixed("FWS"), Fixed("CWS"), Fixed("ZWS"),
        Fixed(".RMF"), Fixed(".RMP"), Fixed([0x2E, 0x72, 0x61, 0xFD]),  // RealMedia
        Fixed([0x06, 0x0E, 0x2B, 0x34]),  // MXF (SMPTE ST 377-1)
        Fixed([0x00, 0x00, 0x00, 0x00, 0x01, 0xBC]),  // GXF (SMPTE ST 360)
        Fixed("nut/multimedia container"), Fixed("DKIF"), Fixed("YUV4MPEG2 "), Fixed("NSVf"), Fixed("NSVs"),
        Fixed([0xB7, 0xD8, 0x00, 0x20]),  // WTV
        Fixed([0xF5, 0x46, 0x7A, 0xBD]),  // TiVo
        Fixed("FORM"), Fixed("FILM"), Fixed("MLVI"), Fixed("LEITCH"), Fixed([0x00, 0x0A] + Array("SMJPEG".utf8)),
        Fixed("caff"), Fixed(Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11]),  // CAF, Wave64
        Fixed("ARMovie"), Fixed("Interplay MVE File"), Fixed("BIK"), Fixed("KB2"), Fixed("SMK2"), Fixed("SMK4"),
        Fixed([0x84, 0x10, 0xFF, 0xFF]), Fixed([0x11, 0xAF], at: 4), Fixed([0x12, 0xAF], at: 4),  // RoQ, FLI, FLC
    ]

    private static let audio: [Fixed] = [
        Fixed("fLaC"), Fixed("ID3"), Fixed("ea3"), Fixed(".snd"), Fixed("dns."), Fixed("#!AMR"), Fixed("#!SILK"),
        Fixed("wvpk"), Fixed("TTA1"), Fixed("TTA2"), Fixed("MAC "), Fixed("MPCK"), Fixed("MP+"), Fixed("tBaK"),
        Fixed("OFR "), Fixed("ajkg"), Fixed("TWIN97"), Fixed("DSD "), Fixed("FRM8"), Fixed("MThd"), Fixed("MMMD"),
        Fixed("Creative Voice File"), Fixed("2BIT"), Fixed("STRM"), Fixed("KVAG"), Fixed(".SoX"), Fixed("XoS."),
        Fixed("ASF\0"), Fixed([0x0B, 0x77]), Fixed([0x77, 0x0B]),  // Argonaut, AC-3 (ETSI TS 102 366)
        Fixed([0xAC, 0x40]), Fixed([0xAC, 0x41]),  // AC-4
        Fixed([0x7F, 0xFE, 0x80, 0x01]), Fixed([0xFE, 0x7F, 0x01, 0x80]), Fixed([0x1F, 0xFF, 0xE8, 0x00]),  // DTS
        Fixed([0xFF, 0x1F, 0x00, 0xE8]), Fixed([0x64, 0x58, 0x20, 0x25]), Fixed("DTSHDHDR"),
        Fixed([0xF8, 0x72, 0x6F, 0xBA], at: 4), Fixed([0xF8, 0x72, 0x6F, 0xBB], at: 4),  // TrueHD, MLP
        Fixed([0x72, 0xF8, 0x1F, 0x4E]), Fixed([0xF8, 0x72, 0x4E, 0x1F]),  // IEC 61937
        Fixed([0xC0, 0xDE, 0xC2]), Fixed([0x64, 0xA3]), Fixed([0xA3, 0x64]),  // Codec 2, IRCAM
        Fixed([0x57, 0x90, 0x75, 0x36], at: 4),  // Audible
        Fixed([0x80, 0x00]),  // ADX
    ]

    private static let video: [Fixed] = [
        Fixed("BBCD"), Fixed([0x12, 0x00, 0x0A]), Fixed([0x0A, 0x0B, 0x00]),  // Dirac, AV1 low-overhead (OBU)
        Fixed([0x1F, 0x07, 0x00]), Fixed([0x00, 0x00, 0x02, 0x80, 0x01]),  // DV, DNxHD
        Fixed([0xC5, 0x04, 0x00, 0x00, 0x00], at: 3),  // VC-1 test bitstream
        Fixed([0x00, 0x01, 0x00]), Fixed([0x00, 0x00, 0x80]),  // H.261, H.263 picture start codes
    ]

    private static let pictures: [Fixed] = [
        Fixed([0x89, 0x50, 0x4E, 0x47]), Fixed("GIF8"), Fixed([0xFF, 0xD8, 0xFF]), Fixed("BM"), Fixed([0xFF, 0x0A]),
        Fixed([0x49, 0x49, 0x2A, 0x00]), Fixed([0x4D, 0x4D, 0x00, 0x2A]),
    ]

    // MARK: Structures

    /// Types of boxes that a file of the ISO base media format or QuickTime may start with (ISO/IEC 14496-12).
    private static let boxes: Set<[UInt8]> = Set(
        [
            "ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp", "moof", "sidx", "ssix", "emsg", "prft",
            "uuid", "udta", "jP  ", "PICT", "imda", "pdin", "meta",
        ].map { Array($0.utf8) })

    private static func isBoxed(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && boxes.contains(Array(bytes[4..<8]))
    }

    /// Packets of 188 bytes (ISO/IEC 13818-1), with a time stamp of 4 before each (192), or with 16 or 20 of error
    /// correction (204, 208). A recording may start in the middle of a packet.
    private static func isTransportStream(_ bytes: [UInt8]) -> Bool {
        [188, 192, 204, 208].contains { length in
            let packets = bytes.count >= 5 * length ? 5 : bytes.count / length
            guard packets >= 1 else { return false }
            // With fewer than three packets only the very first byte may be the sync byte, or the one after a time
            // stamp.
            let starts = packets < 3 ? [length == 192 ? 4 : 0] : Array(0..<length)
            return starts.contains { start in
                (0..<packets).allSatisfy { packet in
                    let place = start + packet * length
                    return place >= bytes.count || bytes[place] == 0x47
                } && (start..<bytes.count).contains(start)
            }
        }
    }

    /// A frame of MPEG audio (ISO/IEC 11172-3, 13818-3), of AAC in ADTS or LOAS (14496-3). Zeros may precede the first
    /// frame.
    private static func isAudioFrame(_ bytes: [UInt8]) -> Bool {
        if bytes.count >= 3, bytes[0] == 0x56, bytes[1] & 0xE0 == 0xE0 { return true }
        let start = bytes.firstIndex { $0 != 0 } ?? bytes.count
        guard start + 4 <= bytes.count, bytes[start] == 0xFF, bytes[start + 1] & 0xE0 == 0xE0 else { return false }
        let second = bytes[start + 1]
        // Layer 0 is AAC in ADTS, where the version bit may be either.
        if second & 0xF6 == 0xF0 { return true }
        let isReserved = second & 0x18 == 0x08 || second & 0x06 == 0
        let (rate, sampling) = (bytes[start + 2] >> 4, bytes[start + 2] >> 2 & 3)
        return !isReserved && rate != 15 && sampling != 3
    }

    /// A start code of MPEG video or of a program stream, or one of H.264, HEVC and VVC in the byte stream format.
    private static func isStartCode(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0, 0, 1]) || bytes.starts(with: [0, 0, 0, 1])
    }

    /// Pictures in a multipart body, as cameras send them.
    private static func isMotionJPEG(_ bytes: [UInt8]) -> Bool {
        let start = bytes.prefix(256)
        guard start.starts(with: "--".utf8) else { return false }
        let text = String(decoding: start.map { $0 | 0x20 }, as: UTF8.self)
        return text.contains("content-type: image/jpeg") && bytes.contains(0xFF)
    }
}
