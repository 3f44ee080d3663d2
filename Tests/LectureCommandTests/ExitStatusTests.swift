import LectureCommand
import LectureModel
import Testing

@Suite struct ExitStatusTests {
    @Test func `the numbers are those of the documented contract`() {
        let all: [LectureCommand.ExitStatus] = [
            .done, .someFailed, .usage, .data, .unavailable, .software, .cannotCreate, .inputOutput, .tryAgain,
            .noPermission, .configuration, .signal(2), .signal(15),
        ]
        #expect(all.map(\.code) == [0, 1, 64, 65, 69, 70, 73, 74, 75, 77, 78, 130, 143])
    }

    @Test func `only a bug ends with the status of a bug`() {
        let bugs = LectureError.Code.all.filter { LectureCommand.ExitStatus.status(for: $0) == .software }
        #expect(Set(bugs) == [.bug, .storeFailed, .cryptography])
    }

    @Test func `transfer and status codes have the exit status of an unreachable server`() {
        for number in 1...99 { #expect(LectureCommand.ExitStatus.status(for: .transfer(number)) == .unavailable) }
        #expect(LectureCommand.ExitStatus.status(for: .status(404)) == .unavailable)
        #expect(LectureCommand.ExitStatus.status(for: .status(503)) == .unavailable)
        #expect(LectureCommand.ExitStatus.status(for: .status(403)) == .noPermission)
    }

    @Test func `the cases that scripts check for`() {
        #expect(LectureCommand.ExitStatus.status(for: .urlInvalid) == .usage)
        #expect(LectureCommand.ExitStatus.status(for: .courseLine) == .data)
        #expect(LectureCommand.ExitStatus.status(for: .storeDamaged) == .data)
        #expect(LectureCommand.ExitStatus.status(for: .createDirectory) == .cannotCreate)
        #expect(LectureCommand.ExitStatus.status(for: .storeReadOnly) == .inputOutput)
        #expect(LectureCommand.ExitStatus.status(for: .storageFull) == .fullDisk())
        #expect(LectureCommand.ExitStatus.status(for: .deadline) == .tryAgain)
        #expect(LectureCommand.ExitStatus.status(for: .notDownloadable) == .noPermission)
        #expect(LectureCommand.ExitStatus.status(for: .secretReadable) == .configuration)
        #expect(LectureCommand.ExitStatus.status(for: .unknownContent) == .someFailed)
    }

    @Test(
        arguments: [
            (nil, 75), ("", 75), ("1", 1), ("74", 74), ("125", 125), ("0", 64), ("126", 64), ("-1", 64), ("full", 64),
            ("74 ", 64),
        ] as [(String?, Int32)])
    func `a full disk has the status that the variable names, and no other failure has it`(
        value: String?, expected: Int32
    ) async {
        let environment = value.map { ["LECTURE_FULL_STATUS": $0] } ?? [:]
        for (code, usual) in [(LectureError.Code.storageFull, Int32(75)), (.quota, 75), (.storeDamaged, 65)] {
            let actions: [String: CommandRunner.Action] = ["status": { _, _ in throw LectureError(code) }]
            let outcome = await run("status", environment: environment, actions: actions)
            let isFull = code == .storageFull || expected == 64
            #expect(outcome.status.code == (isFull ? expected : usual), "\(code)")
            #expect(outcome.diagnostics.contains("LECTURE_FULL_STATUS") == (expected == 64))
        }
    }

    @Test func `the manual explains every status`() {
        #expect(
            LectureCommand.ExitStatus.meanings.map(\.code)
                == ["0", "1", "64", "65", "69", "70", "73", "74", "75", "77", "78", "128+n"])
    }
}
