import LectureFormats
internal import LectureModel

extension PlayReport {
    /// The whole report as the LMS reads it, for `{JSON_DATA}`. A field without a value is empty, never missing.
    ///
    /// - Parameter source: who reports, and about which lecture.
    /// - Returns: one JSON object on one line.
    package func json(from source: ReportSource) -> String {
        JSONWriter.object { writer in
            writer.object("user_info") { writer in
                writer.member("content_provider_key", source.contentProviderKey)
                writer.member("client_user_id", clientUserID)
                writer.member("player_id", source.playerID)
                writer.member("hardware_id", source.hardwareID)
                writer.member("host_name", source.hostName)
                writer.member("device", source.device)
            }
            writer.object("content_info") { writer in
                writer.member("duration", duration)
                writer.member("encoding_profile", source.encodingProfile)
                writer.member("media_content_key", source.mediaContentKey)
                writer.member("channel_key", source.channelKey)
                writer.member("playtime", playtime)
                writer.member("real_playtime", realPlaytime)
                writer.member("playtime_percent", playtimePercent)
                writer.member("start_at", startAt)
                writer.member("last_play_at", lastPlayAt)
                writer.member("runtime", runtime)
                writer.member("showtime", showtime)
            }
            writer.object("block_info") { writeBlockInfo(to: &$0) }
            writer.object("uservalues") { source.writeUserValues(to: &$0) }
        }
    }

    /// The object `block_info` alone, for `{PLAY_BLOCK_JSON}`.
    package var blockInfoJSON: String { JSONWriter.object { writeBlockInfo(to: &$0) } }

    /// Which seconds of the lecture were seen, for `{TIMEMAP_DATA}`: an array of `[from, to]`, the second one excluded.
    /// The vendor has published no format.
    package var timeMapJSON: String {
        var writer = JSONWriter()
        writer.array { writer in
            for range in seen {
                writer.array { writer in
                    writer.element(range.lowerBound)
                    writer.element(range.upperBound)
                }
            }
        }
        return writer.text
    }

    private func writeBlockInfo(to writer: inout JSONWriter) {
        writer.member("block_count", blocks.count)
        writer.object("blocks") { writer in
            for (index, block) in blocks.enumerated() { writer.member("b\(index)", block.isPlayed ? 1 : 0) }
            for (index, block) in blocks.enumerated() { writer.member("t\(index)", block.seconds) }
            for (index, block) in blocks.enumerated() { writer.member("p\(index)", block.percent) }
        }
        writer.array("sessions") { writer in
            for stretch in sessions {
                writer.object { writer in
                    writer.member("block", stretch.block)
                    writer.member("start_time", stretch.startTime)
                    writer.member("play_time", stretch.playTime)
                }
            }
        }
    }
}
