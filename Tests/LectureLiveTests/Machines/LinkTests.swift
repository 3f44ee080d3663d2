import LectureLive
import LectureTestSupport
import Testing

/// Alarms and bitrates, by the samples of a link.
struct LinkTests {
    private typealias Level = AlarmMachine.Level

    private static func sample(_ milliseconds: Int, _ kilobits: Int = 2000) -> FeedSample {
        FeedSample(queue: .milliseconds(milliseconds), sentBits: kilobits * 1000)
    }

    @Test(
        arguments: [
            (0, .normal), (249, .normal), (250, .alert1), (699, .alert1), (700, .alert2), (1999, .alert2),
            (2000, .alert3),
            (60_000, .alert3),
        ] as [(Int, AlarmMachine.Level)])
    func `the level of a queue`(milliseconds: Int, level: AlarmMachine.Level) {
        #expect(AlarmMachine.level(of: .milliseconds(milliseconds)) == level)
        var machine = AlarmMachine()
        #expect(machine.take(Self.sample(milliseconds)) == (level == .normal ? nil : level))
        #expect(machine.level == level)
    }

    @Test(
        arguments: [
            // Up at once, also over several levels; down after three better samples, to the worst of them.
            ([0, 5000, 0, 0, 0], [nil, .alert3, nil, nil, .normal]),
            ([5000, 0, 800, 0, 0, 0, 0], [.alert3, nil, nil, .alert2, nil, nil, .normal]),
            ([800, 300, 0, 900, 0, 0, 0], [.alert2, nil, nil, nil, nil, nil, .normal]),
            ([300, 800, 2500], [.alert1, .alert2, .alert3]),
            // Steady growth: at least the first level, and only from 200 ms on.
            ([50, 100, 150, 200], [nil, nil, nil, .alert1]), ([10, 50, 100, 199], [nil, nil, nil, nil]),
            ([50, 100, 100, 200, 220], [nil, nil, nil, nil, nil]), ([100, 240, 230, 245], [nil, nil, nil, nil]),
        ] as [([Int], [AlarmMachine.Level?])])
    func `a sequence of queues`(queues: [Int], levels: [AlarmMachine.Level?]) {
        var machine = AlarmMachine()
        #expect(queues.map { machine.take(Self.sample($0)) } == levels)
    }

    @Test func `two seconds without anything sent, and a lost link, are the worst`() {
        var machine = AlarmMachine()
        #expect([0, 0, 0].map { machine.take(Self.sample(0, $0)) } == [nil, .alert3, nil])
        #expect([1, 1, 1].map { machine.take(Self.sample(0, $0)) } == [nil, nil, .normal])
        #expect([0, 1, 0, 1].map { machine.take(Self.sample(0, $0)) } == [nil, nil, nil, nil])
        #expect(machine.take(Self.sample(0), isReconnecting: true) == .alert3)
    }

    @Test func `a narrow link lowers the bitrate to what it carries, and a wide one raises it step by step`() {
        var machine = BitrateMachine(highest: 2_048_000, audio: 64_000, isAdaptive: true)
        #expect([50, 150, 180].flatMap { machine.take(Self.sample($0, 800)) } == [])
        // (800,000 − 64,000) · 0.85
        #expect(machine.take(Self.sample(320, 800)) == [.setBitrate(625_600)])
        #expect(machine.take(Self.sample(500, 900)) == [])
        #expect(machine.take(Self.sample(400, 900)) == [])
        for step in 1...7 {
            #expect([0, 0, 0].flatMap { machine.take(Self.sample($0)) } == [])
            let expected = min(625_600 + step * 204_800, 2_048_000)
            #expect(machine.take(Self.sample(99)) == (step <= 7 ? [.setBitrate(expected)] : []))
        }
        #expect(machine.current == 2_048_000)
        #expect((0..<20).flatMap { _ in machine.take(Self.sample(0)) } == [])
        // Calm seconds have to follow each other.
        machine = BitrateMachine(highest: 1_000_000, audio: 0, isAdaptive: true)
        #expect(machine.set(1) == [.setBitrate(100_000)] && machine.set(5_000_000) == [.setBitrate(1_000_000)])
        #expect(machine.set(500_000) == [.setBitrate(500_000)] && machine.set(500_000) == [])
        #expect([0, 0, 0, 100, 0, 0, 0].flatMap { machine.take(Self.sample($0)) } == [])
        #expect(machine.take(Self.sample(0)) == [.setBitrate(600_000)])
    }

    @Test func `nothing sent leads to the floor, a long queue is dropped, and a fixed bitrate stays`() {
        var machine = BitrateMachine(highest: 1_000_000, audio: 64_000, isAdaptive: true)
        #expect(machine.take(Self.sample(1501, 0)) == [.setBitrate(100_000), .dropToKeyFrame])
        #expect(machine.take(Self.sample(1500, 0)) == [])
        #expect(machine.take(Self.sample(5000, 0)) == [.dropToKeyFrame])
        machine = BitrateMachine(highest: 1_000_000, audio: 64_000, isAdaptive: false)
        #expect(machine.take(Self.sample(1501, 0)) == [.dropToKeyFrame])
        #expect([0, 0, 0, 0, 300, 400, 900].flatMap { machine.take(Self.sample($0, 1)) } == [])
        // What is sent is never a reason to go up at once.
        machine.isAdaptive = true
        _ = machine.set(300_000)
        #expect([100, 200, 300, 400].flatMap { machine.take(Self.sample($0, 9000)) } == [])
    }

    @Test func `no sequence of samples leaves the bounds`() {
        var random = SeededGenerator(seed: 27)
        for _ in 0..<50 {
            var bitrate = BitrateMachine(
                highest: .random(in: -1...5_000_000, using: &random), audio: .random(in: -1...200_000, using: &random),
                isAdaptive: true)
            var alarm = AlarmMachine()
            for _ in 0..<200 {
                let sample = Self.sample(.random(in: 0...3000, using: &random), .random(in: 0...9000, using: &random))
                let before = (bitrate.current, alarm.level)
                let effects = bitrate.take(sample)
                #expect((bitrate.floor...bitrate.highest).contains(bitrate.current))
                #expect(effects.contains(.setBitrate(bitrate.current)) == (bitrate.current != before.0))
                #expect((alarm.take(sample) != nil) == (alarm.level != before.1))
                #expect(alarm.level >= AlarmMachine.level(of: sample.queue))
            }
        }
    }
}
