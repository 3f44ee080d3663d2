import FlipFlopLiteSDK
import LectureLive
import LectureModel
import LiveTestSupport
import Testing

/// The values of the interface: names, numbers and defaults of the vendor's documents.
struct ValueTests {
    @Test func `defaults are those of the tutorial`() {
        let config = FFStreamerConfig()
        #expect(config.preset == .hd1280x720 && config.preset.size == (1280, 720))
        #expect(config.videoBitrate == 2_048_000 && config.audioBitrate == 65_536 && config.sampleRate == 48_000)
        #expect(config.keyFrameInterval == 2 && config.fps == 30 && config.cameraPos == .front)
        #expect(!config.adaptiveBitrate && !config.audioOnly)
        #expect(FFLConfig(serverConfig: .dev).serverAddr == "https://api-sandbox.flipflop.cloud")
        #expect(FFLConfig(serverConfig: .prod).serverAddr == "https://api.flipflop.cloud")
        #expect(FFLConfig(serverAddr: "http://127.0.0.1").serverAddr == "http://127.0.0.1")
    }

    @Test func `every number has one name, in both layers`() {
        #expect(FFLErrorCode.allCases.map(\.rawValue) == LiveFailure.Code.allCases.map(\.rawValue))
        let numbers =
            Array(80100...80106) + [80110] + Array(80200...80203) + Array(80300...80302) + Array(80400...80410) + [
                90201, 90203,
            ]
        #expect(FFLErrorCode.allCases.map(\.rawValue) == numbers)
        #expect(
            FFError(.TOO_MANY_RETRIES, "x").code == 80106 && FFError(code: 80106, message: "").kind == .TOO_MANY_RETRIES
        )
        #expect(FFError(code: 1, message: "").kind == nil)
    }

    @Test func `states and levels have the names of the tutorial and of the published interface`() {
        #expect(StreamerState.allCases.map(\.rawValue) == ["prepared", "started", "stopped", "closed", "terminated"])
        #expect(
            PlayerState.allCases.map(\.rawValue) == ["prepared", "started", "paused", "stopped", "completed", "closed"])
        #expect(AlarmState.allCases == [.normal, .alert_level_1, .alert_level_2, .alert_level_3])
        #expect(AlarmState.allCases.map { "\($0)" } == ["normal", "alert_1", "alert_2", "alert_3"])
        // Each state of the rules that an application can see has one of these.
        let hidden: Set<String> = ["idle", "entered"]
        #expect(
            Set(StreamerMachine.Phase.allCases.map(\.rawValue)).subtracting(hidden)
                == Set(StreamerState.allCases.map(\.rawValue)))
        #expect(
            Set(LivePlayerMachine.Phase.allCases.map(\.rawValue)).subtracting(hidden)
                == Set(PlayerState.allCases.map(\.rawValue)))
        #expect(AlarmMachine.Level.allCases.map(\.rawValue) == AlarmState.allCases.map(\.rawValue))
    }
}
